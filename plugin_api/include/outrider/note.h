/* The ELF note: what a host reads of a plugin file without running any of its code.
 *
 * Rationale: a library's static constructors run inside dlopen, before any version could be compared. So id, version and ABI stand in
 * a note (section .note.outrider, a PT_NOTE segment that survives strip), written by OUTRIDER_NOTE in exactly one source file. */
#ifndef OUTRIDER_NOTE_H
#define OUTRIDER_NOTE_H

#include "abi.h"

#define OUTRIDER_NOTE_NAME "outrider"
#define OUTRIDER_NOTE_TYPE 1u

/* Texts are NUL-terminated within their arrays. Integers are in the file's byte order. */
typedef struct outrider_note_descriptor {
  uint32_t abi_major, abi_minor, min_host_minor;
  uint32_t capabilities_low, capabilities_high; /* two halves: notes are aligned to four bytes only */
  char id[96];
  char version[32];
  char sdk_version[16];
} outrider_note_descriptor;

typedef struct outrider_note {
  uint32_t name_size; /* 9, with the NUL */
  uint32_t descriptor_size;
  uint32_t type;
  char name[12]; /* padded to a multiple of four */
  outrider_note_descriptor descriptor;
} outrider_note;

#if defined(__GNUC__)
#define OUTRIDER_NOTE_SECTION __attribute__((used, aligned(4), section(".note.outrider")))
#else
#define OUTRIDER_NOTE_SECTION
#endif

/* At file scope: OUTRIDER_NOTE("org.example.echo", "1.2.0", OUTRIDER_CAP_DETERMINISTIC, ""); */
#define OUTRIDER_NOTE(id_text, version_text, capability_bits, sdk_version_text) \
  OUTRIDER_NOTE_FOR(OUTRIDER_ABI_MAJOR, OUTRIDER_ABI_MINOR, 0u, id_text, version_text, capability_bits, sdk_version_text)

/* The same with the ABI versions spelled out. */
#define OUTRIDER_NOTE_FOR(major, minor, host_minor, id_text, version_text, capability_bits, sdk_version_text)                              \
  static const outrider_note outrider_note_of_this_plugin OUTRIDER_NOTE_SECTION = {                                                        \
      sizeof(OUTRIDER_NOTE_NAME),                                                                                                          \
      sizeof(outrider_note_descriptor),                                                                                                    \
      OUTRIDER_NOTE_TYPE,                                                                                                                  \
      OUTRIDER_NOTE_NAME,                                                                                                                  \
      {(major), (minor), (host_minor), (uint32_t)((uint64_t)(capability_bits)&0xffffffffu), (uint32_t)((uint64_t)(capability_bits) >> 32), \
       id_text, version_text, sdk_version_text}}

#endif /* OUTRIDER_NOTE_H */
