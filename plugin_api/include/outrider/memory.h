/* Memory accounted to the plugin. Its use is voluntary: it makes a drafter's memory visible in reports, and what a drafter still
 * holds at deinit is reported as a leak. */
#ifndef OUTRIDER_MEMORY_H
#define OUTRIDER_MEMORY_H

#include "host.h"

#define OUTRIDER_HOST_MEMORY_1 "outrider.host.memory/1"

typedef struct outrider_host_memory_1 {
  uint32_t struct_size;
  /* `size` bytes aligned to `alignment` (a power of two up to 4096), or NULL. [any] */
  void* (*allocate)(const outrider_host* host, uint64_t size, uint64_t alignment);
  /* Gives back what allocate() gave; NULL is a no-op. [any] */
  void (*release)(const outrider_host* host, void* pointer);
} outrider_host_memory_1;

#endif /* OUTRIDER_MEMORY_H */
