// The few lines after an answer: who drafted, how fast it was, and, when the prompt was also run plainly, how that compares.
// "identical" is computed from the two token sequences, never assumed. Does not print.
#pragma once

#include <string>
#include <vector>

#include "scheduler/runtime.hpp"

namespace outrider::cli {

// `plain`: the same requests' completions without a drafter, or empty. The last line then is "output identical: yes" or "no".
std::string summary(const scheduler::Runtime& runtime, const std::vector<scheduler::Completion>& completions,
                    const std::vector<scheduler::Completion>& plain);

// Whether both runs gave the same tokens and ended for the same reason.
bool identical(const std::vector<scheduler::Completion>& a, const std::vector<scheduler::Completion>& b);

}  // namespace outrider::cli
