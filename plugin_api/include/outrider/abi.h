/* The ground rules of the contract between the host and a drafter: versions, struct sizes, and the words used in every other header.
 *
 * The contract is plain C11 on System V x86-64 and AArch64. Text is UTF-8. Integers have a fixed width; there is no bool, enum or
 * long in a struct, no varargs, no reference count. Nothing allocated on one side is freed on the other.
 *
 * Words in brackets say who may call a function and when:
 *   [any]      any thread, at any time between init and deinit.
 *   [control]  the host's control thread: slow work is allowed. Never at the same time as another [control] call to the same plugin,
 *              but possibly at the same time as [lane] calls.
 *   [lane]     the thread of the worker's lane. A lane is a concurrency guard, not an operating system thread: calls for one worker
 *              never overlap, but may come from different threads one after another.
 *   [hot]      on the path of every step: no waiting, no input or output, no unbounded allocation.
 *   [pure]     same answer for the same arguments, nothing kept, nothing written.
 *
 * Rationale, struct_size: every struct that crosses the border starts with its own size as the writer knew it. A reader takes a field
 * as absent when the struct does not reach it, and ignores what lies beyond its own knowledge. Only "too small" is ever refused:
 * contracts that demanded equal sizes broke every newer caller they met.
 *
 * Rationale, two versions: abi_minor says what a side was compiled against, min_host_minor the lowest host a plugin can run on. One
 * field for both meanings cannot answer "will this plugin work here". */
#ifndef OUTRIDER_ABI_H
#define OUTRIDER_ABI_H

#include <stddef.h>
#include <stdint.h>

#define OUTRIDER_ABI_MAJOR 1u /* part of the entry symbol's name: a plugin may serve several */
#define OUTRIDER_ABI_MINOR 0u /* grows when fields or interfaces are added; nothing is ever moved or removed */

#if defined(__GNUC__)
#define OUTRIDER_EXPORT __attribute__((visibility("default")))
#else
#define OUTRIDER_EXPORT
#endif

/* True when the other side's struct reaches `field` and, for a pointer or function, it is not NULL. */
#define OUTRIDER_HAS(type, pointer, field) \
  ((pointer) && (pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field) && (pointer)->field)

#endif /* OUTRIDER_ABI_H */
