/* How a call ends: a status, and for failures a text in a struct the caller owns.
 *
 * Zero and positive values are normal outcomes; having no draft is not an error. Negative values are faults: the host counts them and
 * stops asking a drafter that keeps failing. No exception may cross the border in either direction. */
#ifndef OUTRIDER_STATUS_H
#define OUTRIDER_STATUS_H

#include "abi.h"

typedef int32_t outrider_status;

enum {
  OUTRIDER_OK = 0,
  OUTRIDER_NO_DRAFT = 1, /* propose: nothing to offer; request_begin: this request will not be served */

  OUTRIDER_E_INVALID = -1,     /* an argument is outside what the contract allows */
  OUTRIDER_E_UNSUPPORTED = -2, /* understood, but not offered */
  OUTRIDER_E_NO_MEMORY = -3,
  OUTRIDER_E_INTERNAL = -4,
  OUTRIDER_E_DEADLINE = -5,
  OUTRIDER_E_STATE = -6,  /* not in this state */
  OUTRIDER_E_CONFIG = -7, /* an option has the wrong type or value */
  OUTRIDER_E_IO = -8,
  OUTRIDER_E_EXCEPTION = -9 /* an exception was caught at the border */
};

/* Rationale: fixed size and owned by the caller, so that an error needs no allocation, has no lifetime and cannot fail itself. */
typedef struct outrider_error {
  uint32_t struct_size; /* sizeof(outrider_error), set by the caller */
  int32_t code;         /* the status returned */
  char message[248];    /* NUL-terminated; what was expected, what was found, what to do */
} outrider_error;

#endif /* OUTRIDER_STATUS_H */
