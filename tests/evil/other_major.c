/* Built for an ABI major this host does not speak: the note says so, and the entry symbol's name does. */
#include <outrider/plugin.h>

OUTRIDER_NOTE_FOR(2u, 3u, 0u, "org.example.other_major", "1.0.0", 0, "");

OUTRIDER_EXPORT const void* outrider_entry_get_v2(void);
const void* outrider_entry_get_v2(void) { return NULL; }
