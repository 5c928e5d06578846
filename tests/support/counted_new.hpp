// Link counted_new.cpp into a test program, and its operator new counts what the whole program allocates, the host's code included.
#pragma once

#include <cstdint>

namespace outrider::tests {

uint64_t allocations();  // so far, of all threads

}  // namespace outrider::tests
