/* The drafter: what a plugin is loaded for. Interface id "outrider.drafter/1".
 *
 * Life: options, require and validate are answers about a configuration. create() is the factory: it makes a drafter from the copy of
 * the configuration made for it. worker_create() then builds one worker for each lane, with the same copy, which is current meanwhile.
 * A worker serves many requests at once. For each: request_begin, then rounds of propose and on_verified, then request_end.
 *
 *     create -> worker_create -> ( request_begin -> ( propose -> on_verified )* -> request_end )* -> worker_destroy -> destroy
 *
 * What the host guarantees: it calls in this order, never two calls for one worker at once; every pointer it lends is valid for the
 * call only; it verifies every draft, so a drafter decides the speed of a request and never its text. A drafter must not count on
 * being asked each step: after faults, or when drafting does not pay, rounds pass without it, and propose then shows more than one
 * round's tokens as new. on_verified follows only those proposals that were taken.
 *
 * What a drafter guarantees: it starts no thread that outlives a call, writes nothing beyond max_nodes, and keeps no lent pointer. */
#ifndef OUTRIDER_DRAFTER_H
#define OUTRIDER_DRAFTER_H

#include "config.h"
#include "host.h"
#include "model.h"
#include "status.h"

#define OUTRIDER_DRAFTER_1 "outrider.drafter/1"

typedef struct outrider_drafter outrider_drafter; /* the plugin's */
typedef struct outrider_worker outrider_worker;   /* the plugin's: one lane's part of a drafter */
typedef struct outrider_request outrider_request; /* the plugin's: its state for one request */

/* What the host must know before it loads the library; declared in the ELF note and, equal, in the descriptor. */
enum {
  OUTRIDER_CAP_TREE = 1,          /* drafts may branch; without it every draft is a chain */
  OUTRIDER_CAP_CONFIDENCE = 2,    /* out_log_q holds estimates of the chance that a node is accepted, given its parent was */
  OUTRIDER_CAP_PROBABILITIES = 4, /* out_log_q holds the law the node was drawn from (fit for rejection sampling) */
  OUTRIDER_CAP_DETERMINISTIC = 8, /* same request, same history: same drafts */
  OUTRIDER_CAP_TOKENS_ONLY = 16   /* needs nothing of the target but token ids */
};

/* What of the target a drafter needs, for a given configuration. A host that does not offer a need refuses the drafter and names it. */
enum {
  OUTRIDER_NEED_HIDDEN_STATES = 1,
  OUTRIDER_NEED_EMBEDDING = 2,
  OUTRIDER_NEED_HEAD = 4,
  OUTRIDER_NEED_KV_CACHE = 8,
  OUTRIDER_NEED_LOGITS = 16
};

typedef struct outrider_requirements {
  uint32_t struct_size; /* set by the host */
  uint32_t reserved;
  uint64_t needs;             /* OUTRIDER_NEED_… */
  uint64_t bytes_per_request; /* host memory the drafter will hold for one request at the full context length */
  uint64_t bytes_fixed;       /* … and whatever the number of requests */
  uint64_t typical_ns;        /* what one propose call takes for one request; 0: not known */
} outrider_requirements;

typedef struct outrider_request_info {
  uint32_t struct_size;
  uint32_t prompt_count;   /* tokens; at least 1 */
  uint64_t id;             /* the host's, unique while the request lives */
  const int32_t* prompt;   /* (prompt_count). A request taken over in mid-flight begins with all its tokens so far */
  uint32_t max_new_tokens; /* at most so many will follow */
  float temperature;       /* 0: greedy */
  /* For coupled drafting: at temperature > 0 the target's token at absolute position t is argmax log p(v) + G(seed, t, v). A drafter
   * that draws its own tokens with the same noise agrees with the target more often; one that ignores it loses nothing else. */
  uint64_t seed;
} outrider_request_info;

enum { OUTRIDER_ITEM_CHAIN = 1 }; /* outrider_propose_item.flags: this draft must not branch */

/* One request's part of a propose call. The items of a batch lie item_size bytes apart, so the struct can grow at its end.
 *
 * A draft of n nodes: out_tokens[i] is node i's token, out_parents[i] its parent: -1 for the root (the last token of `tokens`), else a
 * node before it. Siblings stand in order of preference and have distinct tokens. Depth of a node: 1 for a child of the root.
 * The arrays come filled with a chain (out_parents[i] = i - 1), so a drafter of chains writes tokens alone. */
typedef struct outrider_propose_item {
  outrider_request* request;
  const int32_t* tokens; /* (token_count): prompt and output so far */
  uint32_t token_count;
  uint32_t new_count; /* how many at the end were not there at this request's last propose, begin or load */
  uint32_t max_nodes; /* capacity of the arrays; 0 is legal, then only take note of the tokens */
  uint32_t max_depth;
  uint32_t flags;         /* OUTRIDER_ITEM_CHAIN … */
  int32_t* out_tokens;    /* (max_nodes), the host's */
  int32_t* out_parents;   /* (max_nodes), the host's */
  float* out_log_q;       /* (max_nodes), the host's; natural logarithms <= 0. Read only with CAP_CONFIDENCE or CAP_PROBABILITIES */
  uint32_t out_count;     /* nodes written; 0 on entry */
  outrider_status status; /* OUTRIDER_OK on entry; OUTRIDER_NO_DRAFT, or an error of this request alone */
} outrider_propose_item;

typedef struct outrider_propose_batch {
  uint32_t struct_size;
  uint32_t item_count;
  uint32_t item_size; /* bytes from one item to the next: use OUTRIDER_ITEM, never items[i] */
  uint32_t reserved;
  uint64_t step;        /* grows by one a call */
  uint64_t deadline_ns; /* on the clock of outrider.host.clock/1; return what there is by then */
  void* items;
} outrider_propose_batch;

#define OUTRIDER_ITEM(type, first, item_size, i) ((type*)(void*)((char*)(first) + (size_t)(item_size) * (size_t)(i)))

typedef struct outrider_verified_item {
  outrider_request* request;
  const uint32_t* accepted; /* (accepted_count): nodes of the last draft, from the root downwards */
  uint32_t accepted_count;
  int32_t bonus_token; /* the target's token after the last accepted node; -1: the request ended before it */
} outrider_verified_item;

enum { OUTRIDER_END_FINISHED = 0, OUTRIDER_END_CANCELLED = 1, OUTRIDER_END_REPLACED = 2 };

typedef struct outrider_drafter_1 {
  uint32_t struct_size;
  uint32_t reserved;

  /* The options of [drafter.NAME], static data. May be NULL: no options. [control & pure] */
  const outrider_option* const* (*options)(uint32_t* count);

  /* Cross-checks values that each are in range; reports what is wrong and returns OUTRIDER_E_CONFIG. May be NULL. [control & pure] */
  outrider_status (*validate)(const outrider_host* host, const outrider_config* config, const outrider_model_info* model,
                              const outrider_diagnostics* diagnostics);

  /* What the drafter would need under this configuration. May be NULL: nothing. [control & pure] */
  outrider_status (*require)(const outrider_host* host, const outrider_config* config, const outrider_model_info* model,
                             outrider_requirements* out, outrider_error* error);

  /* The factory. On failure *out stays NULL and nothing is left behind. [control], may be slow */
  outrider_status (*create)(const outrider_host* host, const outrider_config* config, const outrider_model_info* model,
                            outrider_drafter** out, outrider_error* error);
  /* After all workers. No thread, callback or thread-local of the drafter is alive when it returns. [control] */
  void (*destroy)(outrider_drafter* drafter);

  /* Builds the worker of one lane. `config` is the object create() got. [control], may be slow */
  outrider_status (*worker_create)(outrider_drafter* drafter, const outrider_config* config, uint32_t lane, outrider_worker** out,
                                   outrider_error* error);
  /* After all its requests. [control] */
  void (*worker_destroy)(outrider_worker* worker);

  /* OUTRIDER_NO_DRAFT: this request will not be served, *out stays NULL; not a fault. [lane] */
  outrider_status (*request_begin)(outrider_worker* worker, const outrider_request_info* info, outrider_request** out,
                                   outrider_error* error);

  /* One call a step for all requests of the worker that want a draft. An error status drops the whole batch's drafts. [lane & hot] */
  outrider_status (*propose)(outrider_worker* worker, outrider_propose_batch* batch, outrider_error* error);

  /* What became of the drafts. Items lie item_size bytes apart. May be NULL. [lane & hot] */
  outrider_status (*on_verified)(outrider_worker* worker, const void* items, uint32_t item_count, uint32_t item_size,
                                 outrider_error* error);

  /* The sequence is cut to its first `token_count` tokens (preemption, rollback). May be NULL: the host ends the request and begins
   * it again. [lane] */
  outrider_status (*truncate)(outrider_worker* worker, outrider_request* request, uint32_t token_count, outrider_error* error);

  /* Frees the request; cannot fail. `reason`: OUTRIDER_END_… [lane] */
  void (*request_end)(outrider_worker* worker, outrider_request* request, int32_t reason);
} outrider_drafter_1;

#endif /* OUTRIDER_DRAFTER_H */
