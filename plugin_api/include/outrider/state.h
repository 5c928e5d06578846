/* Optional: saving and loading what a drafter knows about a request, so that a new version of it can take over in mid-flight.
 * Interface id "outrider.state/1". A drafter without it still swaps: the host begins the request again with all its tokens.
 *
 * The format is the plugin's, named in its descriptor (state_format, state_version). Bytes may come from another version, or be cut or
 * damaged: load() refuses what it cannot read and never trusts a length in it. */
#ifndef OUTRIDER_STATE_H
#define OUTRIDER_STATE_H

#include "drafter.h"

#define OUTRIDER_STATE_1 "outrider.state/1"

typedef struct outrider_state_1 {
  uint32_t struct_size;
  uint32_t reserved;

  /* Writes the state into `buffer` (`capacity` bytes) and its size to *used. With too small a capacity nothing is written but *used,
   * and the status is OUTRIDER_E_NO_MEMORY: call with capacity 0 to learn the size. [lane] */
  outrider_status (*save)(outrider_worker* worker, outrider_request* request, void* buffer, uint64_t capacity, uint64_t* used,
                          outrider_error* error);

  /* Whether load() reads this format and version. [any & pure] */
  int32_t (*can_load)(const char* format, uint32_t version);

  /* Instead of request_begin: `info` holds all tokens so far. On failure *out stays NULL. [lane] */
  outrider_status (*load)(outrider_worker* worker, const outrider_request_info* info, const char* format, uint32_t version,
                          const void* data, uint64_t size, outrider_request** out, outrider_error* error);
} outrider_state_1;

#endif /* OUTRIDER_STATE_H */
