/* The host's log, for a plugin. Plugins never write to standard output, which holds results alone, nor to standard error. */
#ifndef OUTRIDER_LOG_H
#define OUTRIDER_LOG_H

#include "host.h"

#define OUTRIDER_HOST_LOG_1 "outrider.host.log/1"

enum { OUTRIDER_LOG_DEBUG = 0, OUTRIDER_LOG_INFO = 1, OUTRIDER_LOG_WARN = 2, OUTRIDER_LOG_ERROR = 3 };

typedef struct outrider_host_log_1 {
  uint32_t struct_size;
  /* Logs `length` bytes of `message` (no NUL needed) under the plugin's name. [any] */
  void (*write)(const outrider_host* host, int32_t level, const char* message, uint64_t length);
} outrider_host_log_1;

#endif /* OUTRIDER_LOG_H */
