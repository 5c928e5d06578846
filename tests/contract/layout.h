/* The contract's sizes and offsets, as a C11 compiler sees them. */
#ifndef OUTRIDER_TESTS_LAYOUT_H
#define OUTRIDER_TESTS_LAYOUT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct layout_line {
  const char* name; /* "outrider_error" or "outrider_error.code" */
  size_t value;     /* size or offset in bytes */
};
extern const struct layout_line layout_of_the_contract[]; /* ends with a NULL name */

#ifdef __cplusplus
}
#endif

#endif
