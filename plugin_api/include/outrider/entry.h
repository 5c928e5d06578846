/* The entry: the one symbol a plugin exports, and the way to everything else.
 *
 * The host opens the library, calls outrider_entry_get_v1, compares versions, reads the descriptor, calls init once, and asks for
 * interfaces by id. A library holds one drafter, so that a name, a file and a descriptor are the same thing.
 *
 * Compatible means: the same major; plugin.min_host_minor <= host.abi_minor; plugin.abi_minor >= host.min_plugin_minor.
 *
 * Rationale: the major is part of the symbol's name, so that a library built for another major is told from a file that is no plugin
 * without reading a struct whose layout is not known. */
#ifndef OUTRIDER_ENTRY_H
#define OUTRIDER_ENTRY_H

#include "abi.h"
#include "host.h"
#include "status.h"

#define OUTRIDER_ENTRY_SYMBOL "outrider_entry_get_v1"

typedef struct outrider_descriptor {
  uint32_t struct_size;
  uint32_t state_version; /* of state_format; 0 without outrider.state/1 */
  uint64_t capabilities;  /* OUTRIDER_CAP_… */
  const char* id;         /* reverse DNS, for ever: "org.example.echo" */
  const char* name;       /* short, as in [drafter.NAME]: "echo" */
  const char* vendor;
  const char* version; /* of the plugin: "1.2.0" */
  const char* license; /* SPDX */
  const char* url;
  const char* state_format; /* "" without outrider.state/1 */
} outrider_descriptor;

typedef struct outrider_entry_v1 {
  uint32_t struct_size;
  uint32_t abi_major; /* compiled against */
  uint32_t abi_minor;
  uint32_t min_host_minor; /* runs on hosts from this minor on */
  const char* sdk_version; /* "" when written without the wrapper */

  /* Static; also before init. Equal to the ELF note. [any & pure] */
  const outrider_descriptor* (*descriptor)(void);
  /* Once after loading; `host` stays valid until deinit has returned. May be NULL. [control] */
  outrider_status (*init)(const outrider_host* host, outrider_error* error);
  /* Once, after all drafters are destroyed. When it returns, no thread, callback or pointer of the plugin is alive. May be NULL.
   * [control] */
  void (*deinit)(void);
  /* The interface `id`, or NULL: "outrider.drafter/1" is the one every plugin has. [any & pure] */
  const void* (*query)(const char* id);
} outrider_entry_v1;

#ifdef __cplusplus
extern "C" {
#endif
OUTRIDER_EXPORT const outrider_entry_v1* outrider_entry_get_v1(void); /* the same pointer each time [any & pure] */
#ifdef __cplusplus
}
#endif

#endif /* OUTRIDER_ENTRY_H */
