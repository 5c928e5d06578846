/* This file compiles as C11 with -pedantic and includes every header of the contract, in alphabetical order, so that none relies on
 * another being there. */
#include "layout.h"

#include "outrider/abi.h"
#include "outrider/clock.h"
#include "outrider/config.h"
#include "outrider/corpora.h"
#include "outrider/drafter.h"
#include "outrider/entry.h"
#include "outrider/host.h"
#include "outrider/log.h"
#include "outrider/memory.h"
#include "outrider/model.h"
#include "outrider/note.h"
#include "outrider/plugin.h"
#include "outrider/reconfigure.h"
#include "outrider/state.h"
#include "outrider/status.h"

#define SIZE(type) {#type, sizeof(type)}
#define OFFSET(type, field) {#type "." #field, offsetof(type, field)}

const struct layout_line layout_of_the_contract[] = {
    SIZE(outrider_error),
    OFFSET(outrider_error, struct_size), OFFSET(outrider_error, code), OFFSET(outrider_error, message),
    SIZE(outrider_host),
    OFFSET(outrider_host, struct_size), OFFSET(outrider_host, abi_major), OFFSET(outrider_host, abi_minor),
    OFFSET(outrider_host, min_plugin_minor), OFFSET(outrider_host, name), OFFSET(outrider_host, version),
    OFFSET(outrider_host, context), OFFSET(outrider_host, query),
    SIZE(outrider_host_log_1),
    OFFSET(outrider_host_log_1, struct_size), OFFSET(outrider_host_log_1, write),
    SIZE(outrider_host_memory_1),
    OFFSET(outrider_host_memory_1, struct_size), OFFSET(outrider_host_memory_1, allocate), OFFSET(outrider_host_memory_1, release),
    SIZE(outrider_host_clock_1),
    OFFSET(outrider_host_clock_1, struct_size), OFFSET(outrider_host_clock_1, now_ns),
    SIZE(outrider_host_config_1),
    OFFSET(outrider_host_config_1, struct_size), OFFSET(outrider_host_config_1, get_bool), OFFSET(outrider_host_config_1, get_int),
    OFFSET(outrider_host_config_1, get_float), OFFSET(outrider_host_config_1, get_string),
    SIZE(outrider_option),
    OFFSET(outrider_option, struct_size), OFFSET(outrider_option, type), OFFSET(outrider_option, flags),
    OFFSET(outrider_option, reserved), OFFSET(outrider_option, key), OFFSET(outrider_option, help),
    OFFSET(outrider_option, default_text), OFFSET(outrider_option, unit), OFFSET(outrider_option, minimum),
    OFFSET(outrider_option, maximum), OFFSET(outrider_option, choices),
    SIZE(outrider_diagnostics),
    OFFSET(outrider_diagnostics, struct_size), OFFSET(outrider_diagnostics, reserved), OFFSET(outrider_diagnostics, context),
    OFFSET(outrider_diagnostics, report),
    SIZE(outrider_model_info),
    OFFSET(outrider_model_info, struct_size), OFFSET(outrider_model_info, vocab_size), OFFSET(outrider_model_info, hidden_size),
    OFFSET(outrider_model_info, layers), OFFSET(outrider_model_info, context_length), OFFSET(outrider_model_info, max_requests),
    OFFSET(outrider_model_info, bos), OFFSET(outrider_model_info, eos), OFFSET(outrider_model_info, architecture),
    OFFSET(outrider_model_info, tokenizer_fingerprint),
    SIZE(outrider_requirements),
    OFFSET(outrider_requirements, struct_size), OFFSET(outrider_requirements, reserved), OFFSET(outrider_requirements, needs),
    OFFSET(outrider_requirements, bytes_per_request), OFFSET(outrider_requirements, bytes_fixed),
    OFFSET(outrider_requirements, typical_ns),
    SIZE(outrider_request_info),
    OFFSET(outrider_request_info, struct_size), OFFSET(outrider_request_info, prompt_count), OFFSET(outrider_request_info, id),
    OFFSET(outrider_request_info, prompt), OFFSET(outrider_request_info, max_new_tokens), OFFSET(outrider_request_info, temperature),
    OFFSET(outrider_request_info, seed),
    SIZE(outrider_propose_item),
    OFFSET(outrider_propose_item, request), OFFSET(outrider_propose_item, tokens), OFFSET(outrider_propose_item, token_count),
    OFFSET(outrider_propose_item, new_count), OFFSET(outrider_propose_item, max_nodes), OFFSET(outrider_propose_item, max_depth),
    OFFSET(outrider_propose_item, flags), OFFSET(outrider_propose_item, out_tokens), OFFSET(outrider_propose_item, out_parents),
    OFFSET(outrider_propose_item, out_log_q), OFFSET(outrider_propose_item, out_count), OFFSET(outrider_propose_item, status),
    SIZE(outrider_propose_batch),
    OFFSET(outrider_propose_batch, struct_size), OFFSET(outrider_propose_batch, item_count), OFFSET(outrider_propose_batch, item_size),
    OFFSET(outrider_propose_batch, reserved), OFFSET(outrider_propose_batch, step), OFFSET(outrider_propose_batch, deadline_ns),
    OFFSET(outrider_propose_batch, items),
    SIZE(outrider_verified_item),
    OFFSET(outrider_verified_item, request), OFFSET(outrider_verified_item, accepted), OFFSET(outrider_verified_item, accepted_count),
    OFFSET(outrider_verified_item, bonus_token),
    SIZE(outrider_drafter_1),
    OFFSET(outrider_drafter_1, struct_size), OFFSET(outrider_drafter_1, reserved), OFFSET(outrider_drafter_1, options),
    OFFSET(outrider_drafter_1, validate), OFFSET(outrider_drafter_1, require), OFFSET(outrider_drafter_1, create),
    OFFSET(outrider_drafter_1, destroy), OFFSET(outrider_drafter_1, worker_create), OFFSET(outrider_drafter_1, worker_destroy),
    OFFSET(outrider_drafter_1, request_begin), OFFSET(outrider_drafter_1, propose), OFFSET(outrider_drafter_1, on_verified),
    OFFSET(outrider_drafter_1, truncate), OFFSET(outrider_drafter_1, request_end),
    SIZE(outrider_state_1),
    OFFSET(outrider_state_1, struct_size), OFFSET(outrider_state_1, reserved), OFFSET(outrider_state_1, save),
    OFFSET(outrider_state_1, can_load), OFFSET(outrider_state_1, load),
    SIZE(outrider_reconfigure_1),
    OFFSET(outrider_reconfigure_1, struct_size), OFFSET(outrider_reconfigure_1, reserved), OFFSET(outrider_reconfigure_1, reconfigure),
    SIZE(outrider_corpora_1),
    OFFSET(outrider_corpora_1, struct_size), OFFSET(outrider_corpora_1, reserved), OFFSET(outrider_corpora_1, add),
    OFFSET(outrider_corpora_1, remove),
    SIZE(outrider_descriptor),
    OFFSET(outrider_descriptor, struct_size), OFFSET(outrider_descriptor, state_version), OFFSET(outrider_descriptor, capabilities),
    OFFSET(outrider_descriptor, id), OFFSET(outrider_descriptor, name), OFFSET(outrider_descriptor, vendor),
    OFFSET(outrider_descriptor, version), OFFSET(outrider_descriptor, license), OFFSET(outrider_descriptor, url),
    OFFSET(outrider_descriptor, state_format),
    SIZE(outrider_entry_v1),
    OFFSET(outrider_entry_v1, struct_size), OFFSET(outrider_entry_v1, abi_major), OFFSET(outrider_entry_v1, abi_minor),
    OFFSET(outrider_entry_v1, min_host_minor), OFFSET(outrider_entry_v1, sdk_version), OFFSET(outrider_entry_v1, descriptor),
    OFFSET(outrider_entry_v1, init), OFFSET(outrider_entry_v1, deinit), OFFSET(outrider_entry_v1, query),
    SIZE(outrider_note_descriptor),
    OFFSET(outrider_note_descriptor, abi_major), OFFSET(outrider_note_descriptor, abi_minor),
    OFFSET(outrider_note_descriptor, min_host_minor), OFFSET(outrider_note_descriptor, capabilities_low),
    OFFSET(outrider_note_descriptor, capabilities_high), OFFSET(outrider_note_descriptor, id),
    OFFSET(outrider_note_descriptor, version), OFFSET(outrider_note_descriptor, sdk_version),
    SIZE(outrider_note),
    OFFSET(outrider_note, name_size), OFFSET(outrider_note, descriptor_size), OFFSET(outrider_note, type), OFFSET(outrider_note, name),
    OFFSET(outrider_note, descriptor),
    {NULL, 0}};
