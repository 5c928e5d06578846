// Every way a plugin can be refused ends in one sentence: file, reason, remedy.
#pragma once

#include <string>

#include "base/result.hpp"
#include "drafting/draft_host.hpp"

namespace outrider::drafting {

inline Error refused(const std::string& file, const std::string& reason, const std::string& remedy) {
  return {Refusal{file, reason, remedy}.text()};
}

}  // namespace outrider::drafting
