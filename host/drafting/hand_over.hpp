// The hand-over: a drafter is built from one copy of the resolved configuration, and the target's configuration is the same afterwards.
//
//   moment                                     current configuration in this thread
//   the copy is made, once                     target
//   factory called with the copy               target
//   window opens, the copy is published        the copy
//   worker built with the same copy            the copy
//   a runner built inside it, if any           a second copy, then the copy (draft_runner.hpp)
//   window closes, also when building throws   target, with its overrides and log
//   corpora attached                           target
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "config/runtime_context.hpp"
#include "drafting/draft_host.hpp"
#include "drafting/drafter.hpp"

namespace outrider::drafting {

// What a drafter is built from; lent for the call of a factory.
struct HandOver {
  config::RuntimeContext& context;  // the target's configuration is current
  const std::string& name;          // of the [drafter.NAME] table
  const TargetInfo& target;
  const Tokenize& tokenize;
};

// Loads `library` (empty: there is none, a Refusal) and runs the moments above, in that order. On failure whatever was built is taken down
// in reverse order. An Error is a Refusal's text. Control thread.
Result<std::unique_ptr<Drafter>> build_drafter(const std::filesystem::path& library, const HandOver& hand_over);

}  // namespace outrider::drafting
