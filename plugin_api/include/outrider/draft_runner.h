/* A model runner inside a worker: its configuration, current while it is built.
 *
 * A worker that builds a model runner of its own (a second transformer, say) builds it under a second copy of the configuration: the
 * worker's copy, without a tokenizer, with one attention back end for every phase, the target's context length, the target's present
 * schedule.disable_chunked_prefix_cache and, where configured, the draft's load format. open() makes that copy and makes it current in
 * this thread; close() makes the worker's copy current again. What a worker leaves open the host closes when worker_create returns,
 * also when it fails. */
#ifndef OUTRIDER_DRAFT_RUNNER_H
#define OUTRIDER_DRAFT_RUNNER_H

#include "config.h"
#include "host.h"
#include "status.h"

#define OUTRIDER_HOST_DRAFT_RUNNER_1 "outrider.host.draft_runner/1"

/* Which attention back end the runner gets: `attention_backend`, else spec.draft_attention_backend, else the target's for prefill. One
 * that is not among `supported` gives way to `fallback`, with a warning in the log. Lent for the call. */
typedef struct outrider_draft_runner_options {
  uint32_t struct_size;
  uint32_t supported_count;
  const char* attention_backend; /* NULL: no choice of its own */
  const char* const* supported;  /* (supported_count); count 0: any */
  const char* fallback;          /* NULL: "auto" */
} outrider_draft_runner_options;

typedef struct outrider_host_draft_runner_1 {
  uint32_t struct_size;
  /* `options` may be NULL. *config is valid as long as the worker's own. OUTRIDER_E_STATE outside worker_create, in another thread than
   * its own, or while a runner is open; OUTRIDER_E_CONFIG for a back end that does not exist. [control, in worker_create] */
  outrider_status (*open)(const outrider_host* host, const outrider_draft_runner_options* options, const outrider_config** config);
  /* OUTRIDER_E_STATE when none is open in this thread. [control, in worker_create] */
  outrider_status (*close)(const outrider_host* host);
} outrider_host_draft_runner_1;

#endif /* OUTRIDER_DRAFT_RUNNER_H */
