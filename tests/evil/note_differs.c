/* Its note and its descriptor do not say the same. */
#include <outrider/plugin.h>

OUTRIDER_NOTE("org.example.note_differs", "1.0.0", 0, "");

static const outrider_descriptor descriptor_table = {.struct_size = sizeof(outrider_descriptor),
                                                     .id = "org.example.another",
                                                     .name = "note_differs",
                                                     .vendor = "",
                                                     .version = "1.0.0",
                                                     .license = "",
                                                     .url = "",
                                                     .state_format = ""};
static const outrider_descriptor* descriptor(void) { return &descriptor_table; }
static const void* query(const char* id) { return (void)id, NULL; }

const outrider_entry_v1* outrider_entry_get_v1(void) {
  static const outrider_entry_v1 entry = {.struct_size = sizeof(outrider_entry_v1),
                                          .abi_major = OUTRIDER_ABI_MAJOR,
                                          .abi_minor = OUTRIDER_ABI_MINOR,
                                          .sdk_version = "",
                                          .descriptor = descriptor,
                                          .query = query};
  return &entry;
}
