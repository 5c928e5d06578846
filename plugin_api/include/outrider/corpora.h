/* Optional: texts shared by all requests, from which a drafter may also draw. Interface id "outrider.corpora/1".
 *
 * The host owns the corpora (their names, files and token ids) and hands them to the drafter after the drafter is built; a drafter
 * never opens a corpus file itself. Names are unique within a drafter; adding a name again replaces it. */
#ifndef OUTRIDER_CORPORA_H
#define OUTRIDER_CORPORA_H

#include "drafter.h"

#define OUTRIDER_CORPORA_1 "outrider.corpora/1"
#define OUTRIDER_CORPUS_BREAK (-1) /* between two documents: a match or a continuation never crosses it */

typedef struct outrider_corpora_1 {
  uint32_t struct_size;
  uint32_t reserved;
  /* `tokens` (count) is lent for the call: copy what is needed. [control], possibly at the same time as [lane] calls */
  outrider_status (*add)(outrider_drafter* drafter, const char* name, const int32_t* tokens, uint64_t count, outrider_error* error);
  /* OUTRIDER_E_INVALID when there is none of that name. [control], possibly at the same time as [lane] calls */
  outrider_status (*remove)(outrider_drafter* drafter, const char* name, outrider_error* error);
} outrider_corpora_1;

#endif /* OUTRIDER_CORPORA_H */
