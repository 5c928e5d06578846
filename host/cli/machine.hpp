// The machine a measurement was made on, in one line: processor, instruction set, threads. What cannot be found out is said to be
// unknown; nothing here fails.
#pragma once

#include <string>

#include "model/transformer.hpp"

namespace outrider::cli {

std::string describe_machine(const model::Transformer& target);

// Bytes that programs can still have without swapping; 0 when the system does not say.
size_t available_memory();

}  // namespace outrider::cli
