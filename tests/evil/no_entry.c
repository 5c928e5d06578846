/* A note, and nothing behind it. */
#include <outrider/plugin.h>

OUTRIDER_NOTE("org.example.no_entry", "1.0.0", 0, "");
