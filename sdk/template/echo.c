/* The smallest useful drafter, in C, on the contract alone: it proposes that the last token comes again. Copy it and change propose().
 * In C++, outrider/plugin.hpp writes everything below propose() for you. */
#include <outrider/plugin.h>
#include <stdlib.h>
#include <string.h>

#define ID "org.example.echo"
#define VERSION "1.0.0"
#define CAPABILITIES (OUTRIDER_CAP_DETERMINISTIC | OUTRIDER_CAP_TOKENS_ONLY)

OUTRIDER_NOTE(ID, VERSION, CAPABILITIES, "");

/* The handles of the contract are ours to define. */
struct outrider_drafter {
  uint32_t vocab_size;
};
struct outrider_worker {
  outrider_drafter* drafter;
};
struct outrider_request {
  uint64_t id;
};

static outrider_status propose(outrider_worker* worker, outrider_propose_batch* batch, outrider_error* error) {
  (void)worker, (void)error;
  for (uint32_t i = 0; i < batch->item_count; ++i) {
    outrider_propose_item* item = OUTRIDER_ITEM(outrider_propose_item, batch->items, batch->item_size, i);
    if (item->max_nodes == 0 || item->max_depth == 0) {
      item->status = OUTRIDER_NO_DRAFT;
      continue;
    }
    item->out_tokens[0] = item->tokens[item->token_count - 1]; /* out_parents[0] is -1 already: a child of the root */
    item->out_count = 1;
  }
  return OUTRIDER_OK;
}

static outrider_status create(const outrider_host* host, const outrider_config* config, const outrider_model_info* model,
                              outrider_drafter** out, outrider_error* error) {
  (void)host, (void)config, (void)error;
  *out = malloc(sizeof **out);
  if (!*out) return OUTRIDER_E_NO_MEMORY;
  (*out)->vocab_size = model->vocab_size;
  return OUTRIDER_OK;
}

static void destroy(outrider_drafter* drafter) { free(drafter); }

static outrider_status worker_create(outrider_drafter* drafter, const outrider_config* config, uint32_t lane, outrider_worker** out,
                                     outrider_error* error) {
  (void)config, (void)lane, (void)error;
  *out = malloc(sizeof **out);
  if (!*out) return OUTRIDER_E_NO_MEMORY;
  (*out)->drafter = drafter;
  return OUTRIDER_OK;
}

static void worker_destroy(outrider_worker* worker) { free(worker); }

static outrider_status request_begin(outrider_worker* worker, const outrider_request_info* info, outrider_request** out,
                                     outrider_error* error) {
  (void)worker, (void)error;
  *out = malloc(sizeof **out);
  if (!*out) return OUTRIDER_E_NO_MEMORY;
  (*out)->id = info->id;
  return OUTRIDER_OK;
}

static void request_end(outrider_worker* worker, outrider_request* request, int32_t reason) {
  (void)worker, (void)reason;
  free(request);
}

static const outrider_drafter_1 drafter_table = {.struct_size = sizeof(outrider_drafter_1),
                                                 .create = create,
                                                 .destroy = destroy,
                                                 .worker_create = worker_create,
                                                 .worker_destroy = worker_destroy,
                                                 .request_begin = request_begin,
                                                 .propose = propose,
                                                 .request_end = request_end};

static const outrider_descriptor descriptor_table = {.struct_size = sizeof(outrider_descriptor),
                                                     .capabilities = CAPABILITIES,
                                                     .id = ID,
                                                     .name = "echo",
                                                     .vendor = "Example",
                                                     .version = VERSION,
                                                     .license = "Apache-2.0",
                                                     .url = "https://example.org",
                                                     .state_format = ""};

static const outrider_descriptor* descriptor(void) { return &descriptor_table; }

static const void* query(const char* id) { return strcmp(id, OUTRIDER_DRAFTER_1) == 0 ? &drafter_table : NULL; }

const outrider_entry_v1* outrider_entry_get_v1(void) {
  static const outrider_entry_v1 entry = {.struct_size = sizeof(outrider_entry_v1),
                                          .abi_major = OUTRIDER_ABI_MAJOR,
                                          .abi_minor = OUTRIDER_ABI_MINOR,
                                          .sdk_version = "",
                                          .descriptor = descriptor,
                                          .query = query};
  return &entry;
}
