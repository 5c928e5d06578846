/* The host as a plugin sees it: versions, and services asked for by name.
 *
 * A service is a string id with a revision ("outrider.host.log/1") and a struct of functions; its header documents both. An unknown id
 * gives NULL, which a plugin must be ready for: services are added over time, and a test host may offer none. */
#ifndef OUTRIDER_HOST_H
#define OUTRIDER_HOST_H

#include "abi.h"

typedef struct outrider_host outrider_host;

struct outrider_host {
  uint32_t struct_size;
  uint32_t abi_major; /* what the host was compiled against */
  uint32_t abi_minor;
  uint32_t min_plugin_minor; /* plugins compiled against less are refused */
  const char* name;          /* "outrider" */
  const char* version;       /* the host's own, such as "0.1.0" */
  void* context;             /* the host's; a plugin leaves it alone */

  /* The service `id`, or NULL. Valid until deinit has returned. Host functions never throw. [any] */
  const void* (*query)(const outrider_host* host, const char* id);
};

#endif /* OUTRIDER_HOST_H */
