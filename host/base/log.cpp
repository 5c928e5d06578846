#include "base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>

namespace outrider::log {
namespace {

// spdlog's own default logger writes to standard output; ours replaces it before main.
const bool kInstalled = [] {
  auto logger = spdlog::stderr_color_mt("outrider");
  logger->set_pattern("%^%l%$: %v");
  logger->set_level(spdlog::level::warn);
  spdlog::set_default_logger(std::move(logger));
  return true;
}();

}  // namespace

bool set_level(const std::string& name) {
  (void)kInstalled;
  const auto level = spdlog::level::from_str(name);
  if (level == spdlog::level::off && name != "off") return false;
  spdlog::set_level(level);
  return true;
}

}  // namespace outrider::log
