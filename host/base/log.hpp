// The host's log: one logger, on standard error, so that standard output holds results alone. Levels: error (something asked
// for was not done), warn (done otherwise than asked), info (what a person starting the program wants to know), debug, trace.
// Callable from any thread. spdlog, since it is the field's usual choice and formats off the hot path.
#pragma once

#include <spdlog/spdlog.h>

namespace outrider::log {

// Sets the level ("error", "warn", "info", "debug", "trace", "off"); false when the name is none of these.
bool set_level(const std::string& name);

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::trace;
using spdlog::warn;

}  // namespace outrider::log
