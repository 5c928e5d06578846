// A completion as a program reads it. The names are part of the interface and are kept (README.md); members that are only there when
// there is something to say come on top of them. Does not print.
#pragma once

#include "cli/jsonl.hpp"
#include "scheduler/runtime.hpp"

namespace outrider::cli {

// The report of the drafter called `name`; nothing for "none" and for one that was not loaded.
std::optional<drafting::DrafterReport> find_report(const scheduler::Engine& engine, const std::string& name);

// {text, token_ids, finish_reason, drafter {name, library, version}, usage, speculation, timing}, and where there is something to
// say: error, drafter.faults, drafter.last_fault, refusals.
Json completion_json(const scheduler::Runtime& runtime, const scheduler::Completion& completion);

}  // namespace outrider::cli
