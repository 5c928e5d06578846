/* The clock that deadlines are given in, so that a drafter that loops can stop in time with what it has. */
#ifndef OUTRIDER_CLOCK_H
#define OUTRIDER_CLOCK_H

#include "host.h"

#define OUTRIDER_HOST_CLOCK_1 "outrider.host.clock/1"

typedef struct outrider_host_clock_1 {
  uint32_t struct_size;
  /* Nanoseconds on a clock that never jumps; comparable with outrider_propose_batch.deadline_ns. [any] */
  uint64_t (*now_ns)(const outrider_host* host);
} outrider_host_clock_1;

#endif /* OUTRIDER_CLOCK_H */
