/* Configuration, both ways: the options a drafter declares, and the values it reads.
 *
 * A drafter's options are the keys of its own table, [drafter.NAME]. It declares them once, as data; the host checks type, range and
 * spelling against that declaration, and prints it as documentation, before the drafter sees a value. So create() may rely on it.
 *
 * A drafter reads values from an outrider_config: an option by its bare key ("max_n"), a field of the host's configuration by its
 * dotted name ("model.path"). The configuration handed to create() and to worker_create() is one and the same object: the copy that
 * was made for this drafter. Passing NULL reads what is current in the calling thread instead: the target's configuration in create(),
 * the drafter's own copy in worker_create(). */
#ifndef OUTRIDER_CONFIG_H
#define OUTRIDER_CONFIG_H

#include "host.h"
#include "status.h"

#define OUTRIDER_HOST_CONFIG_1 "outrider.host.config/1"

typedef struct outrider_config outrider_config; /* the host's; valid from create() until destroy() has returned */

typedef struct outrider_host_config_1 {
  uint32_t struct_size;
  /* Each writes the value of `key` and returns OUTRIDER_OK; OUTRIDER_E_INVALID for an unknown key or a value that is not set,
   * OUTRIDER_E_CONFIG for a value of another type (an integer is also given as a float). Nothing is written on failure. [control] */
  outrider_status (*get_bool)(const outrider_host* host, const outrider_config* config, const char* key, int32_t* value);
  outrider_status (*get_int)(const outrider_host* host, const outrider_config* config, const char* key, int64_t* value);
  outrider_status (*get_float)(const outrider_host* host, const outrider_config* config, const char* key, double* value);
  /* NUL-terminated; valid until the call into the plugin returns. */
  outrider_status (*get_string)(const outrider_host* host, const outrider_config* config, const char* key, const char** value);
} outrider_host_config_1;

enum {
  OUTRIDER_OPTION_BOOL = 1,
  OUTRIDER_OPTION_INT = 2,
  OUTRIDER_OPTION_FLOAT = 3,
  OUTRIDER_OPTION_STRING = 4,
  OUTRIDER_OPTION_CHOICE = 5, /* a string, one of `choices` */
  OUTRIDER_OPTION_PATH = 6    /* a string; a relative one is resolved against the configuration file's folder */
};

enum {
  OUTRIDER_OPTION_REQUIRED = 1,   /* must be set; has no default */
  OUTRIDER_OPTION_RELOADABLE = 2, /* reconfigure() takes a new value while requests run */
  OUTRIDER_OPTION_SECRET = 4      /* never printed */
};

typedef struct outrider_option {
  uint32_t struct_size;
  uint32_t type;  /* OUTRIDER_OPTION_BOOL … */
  uint32_t flags; /* OUTRIDER_OPTION_REQUIRED … */
  uint32_t reserved;
  const char* key;            /* snake_case */
  const char* help;           /* one line */
  const char* default_text;   /* as it would be written in TOML, without quotes; NULL: not set by default */
  const char* unit;           /* "tokens", or NULL */
  double minimum, maximum;    /* both inclusive, for INT and FLOAT */
  const char* const* choices; /* NULL-terminated, for CHOICE; else NULL */
} outrider_option;

/* Where a plugin reports what is wrong with a value; the host adds file, line and column. Lent for the call. */
typedef struct outrider_diagnostics {
  uint32_t struct_size;
  uint32_t reserved;
  void* context;
  /* `key` names the option, `message` what is wrong, `hint` what to do (or NULL). */
  void (*report)(void* context, const char* key, const char* message, const char* hint);
} outrider_diagnostics;

#endif /* OUTRIDER_CONFIG_H */
