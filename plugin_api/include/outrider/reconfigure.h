/* Optional: taking new values of RELOADABLE options while requests run. Interface id "outrider.reconfigure/1". Without it, a changed
 * option means a new generation of the drafter. */
#ifndef OUTRIDER_RECONFIGURE_H
#define OUTRIDER_RECONFIGURE_H

#include "drafter.h"

#define OUTRIDER_RECONFIGURE_1 "outrider.reconfigure/1"

typedef struct outrider_reconfigure_1 {
  uint32_t struct_size;
  uint32_t reserved;
  /* All or nothing: on failure the old values stay. Takes effect with a later propose. `config` is lent for the call. [control],
   * possibly at the same time as [lane] calls */
  outrider_status (*reconfigure)(outrider_drafter* drafter, const outrider_config* config, const outrider_diagnostics* diagnostics);
} outrider_reconfigure_1;

#endif /* OUTRIDER_RECONFIGURE_H */
