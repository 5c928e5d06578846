#include "drafting/host_services.hpp"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>
#include <variant>

#include "base/log.hpp"
#include "drafting/draft_runner.hpp"

namespace outrider::drafting {
namespace {

// --- log ---
void log_write(const outrider_host* host, int32_t level, const char* message, uint64_t length) noexcept {
  if (message == nullptr) return;
  try {
    const std::string_view text(message, static_cast<size_t>(length));
    const std::string& plugin = HostServices::of(host).plugin();
    switch (level) {
      case OUTRIDER_LOG_DEBUG:
        log::debug("[{}] {}", plugin, text);
        break;
      case OUTRIDER_LOG_INFO:
        log::info("[{}] {}", plugin, text);
        break;
      case OUTRIDER_LOG_WARN:
        log::warn("[{}] {}", plugin, text);
        break;
      default:
        log::error("[{}] {}", plugin, text);
        break;
    }
  } catch (...) {  // a line of log is not worth a request
  }
}
constexpr outrider_host_log_1 kLog = {sizeof(outrider_host_log_1), log_write};

// --- memory ---
// The size stands before the block, at a distance that keeps the block's alignment.
constexpr uint64_t kLargestAlignment = 4096;

struct BlockHeader {
  uint64_t size;
  uint64_t offset;  // from the start of the allocation to the block
};

void* memory_allocate(const outrider_host* host, uint64_t size, uint64_t alignment) noexcept {
  if (alignment == 0 || (alignment & (alignment - 1)) != 0 || alignment > kLargestAlignment || size > (uint64_t{1} << 46)) return nullptr;
  if (alignment < sizeof(BlockHeader)) alignment = sizeof(BlockHeader);
  const uint64_t total = (alignment + size + alignment - 1) / alignment * alignment;
  auto* start = static_cast<std::byte*>(std::aligned_alloc(static_cast<size_t>(alignment), static_cast<size_t>(total)));
  if (start == nullptr) return nullptr;
  const BlockHeader header = {size, alignment};
  std::memcpy(start + alignment - sizeof header, &header, sizeof header);
  HostServices::of(host).account(static_cast<int64_t>(size));
  return start + alignment;
}

void memory_release(const outrider_host* host, void* pointer) noexcept {
  if (pointer == nullptr) return;
  BlockHeader header;
  std::memcpy(&header, static_cast<std::byte*>(pointer) - sizeof header, sizeof header);
  HostServices::of(host).account(-static_cast<int64_t>(header.size));
  std::free(static_cast<std::byte*>(pointer) - header.offset);
}
constexpr outrider_host_memory_1 kMemory = {sizeof(outrider_host_memory_1), memory_allocate, memory_release};

// --- clock ---
uint64_t clock_now(const outrider_host*) noexcept {
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1));
}
constexpr outrider_host_clock_1 kClock = {sizeof(outrider_host_clock_1), clock_now};

// --- config ---
template <class Take>
outrider_status config_get(const outrider_host* host, const outrider_config* config, const char* key, Take take) noexcept {
  if (key == nullptr) return OUTRIDER_E_INVALID;
  try {
    config::OptionValue value;
    const outrider_status status = HostServices::of(host).read(config, key, value);
    return status == OUTRIDER_OK ? take(value) : status;
  } catch (...) {
    return OUTRIDER_E_INTERNAL;
  }
}

outrider_status config_bool(const outrider_host* host, const outrider_config* config, const char* key, int32_t* out) noexcept {
  return config_get(host, config, key, [out](const config::OptionValue& value) -> outrider_status {
    const bool* found = std::get_if<bool>(&value);
    if (found == nullptr) return OUTRIDER_E_CONFIG;
    *out = *found ? 1 : 0;
    return OUTRIDER_OK;
  });
}

outrider_status config_int(const outrider_host* host, const outrider_config* config, const char* key, int64_t* out) noexcept {
  return config_get(host, config, key, [out](const config::OptionValue& value) -> outrider_status {
    const int64_t* found = std::get_if<int64_t>(&value);
    if (found == nullptr) return OUTRIDER_E_CONFIG;
    *out = *found;
    return OUTRIDER_OK;
  });
}

outrider_status config_float(const outrider_host* host, const outrider_config* config, const char* key, double* out) noexcept {
  return config_get(host, config, key, [out](const config::OptionValue& value) -> outrider_status {
    if (const double* real = std::get_if<double>(&value))
      *out = *real;
    else if (const int64_t* whole = std::get_if<int64_t>(&value))
      *out = static_cast<double>(*whole);
    else
      return OUTRIDER_E_CONFIG;
    return OUTRIDER_OK;
  });
}

outrider_status config_string(const outrider_host* host, const outrider_config* config, const char* key, const char** out) noexcept {
  return config_get(host, config, key, [host, out](const config::OptionValue& value) -> outrider_status {
    const std::string* found = std::get_if<std::string>(&value);
    if (found == nullptr) return OUTRIDER_E_CONFIG;
    *out = HostServices::of(host).lend(*found);
    return OUTRIDER_OK;
  });
}
constexpr outrider_host_config_1 kConfig = {sizeof(outrider_host_config_1), config_bool, config_int, config_float, config_string};

// --- draft_runner ---
outrider_status runner_open(const outrider_host* host, const outrider_draft_runner_options* options,
                            const outrider_config** config) noexcept {
  DraftRunnerWindow* window = HostServices::of(host).runner();
  if (config == nullptr) return OUTRIDER_E_INVALID;
  if (window == nullptr) return OUTRIDER_E_STATE;
  try {
    return window->open(options, config);
  } catch (...) {
    return OUTRIDER_E_INTERNAL;
  }
}

outrider_status runner_close(const outrider_host* host) noexcept {
  DraftRunnerWindow* window = HostServices::of(host).runner();
  return window == nullptr ? OUTRIDER_E_STATE : window->close();
}
constexpr outrider_host_draft_runner_1 kDraftRunner = {sizeof(outrider_host_draft_runner_1), runner_open, runner_close};

const void* query(const outrider_host*, const char* id) noexcept {
  if (id == nullptr) return nullptr;
  const std::string_view wanted = id;
  if (wanted == OUTRIDER_HOST_LOG_1) return &kLog;
  if (wanted == OUTRIDER_HOST_MEMORY_1) return &kMemory;
  if (wanted == OUTRIDER_HOST_CLOCK_1) return &kClock;
  if (wanted == OUTRIDER_HOST_CONFIG_1) return &kConfig;
  if (wanted == OUTRIDER_HOST_DRAFT_RUNNER_1) return &kDraftRunner;
  return nullptr;
}

}  // namespace

HostServices::HostServices(config::RuntimeContext& context, std::string plugin)
    : context_(context),
      plugin_(std::move(plugin)),
      host_{sizeof(outrider_host), OUTRIDER_ABI_MAJOR, OUTRIDER_ABI_MINOR, 0, "outrider", OUTRIDER_VERSION, this, query} {}

outrider_status HostServices::read(const outrider_config* config, const char* key, config::OptionValue& value) {
  const std::string_view wanted = key;
  if (wanted.find('.') == std::string_view::npos) {
    if (config == nullptr) return OUTRIDER_E_INVALID;
    const auto option = config->options.find(std::string(wanted));
    if (option == config->options.end()) return OUTRIDER_E_INVALID;
    value = option->second;
    return OUTRIDER_OK;
  }
  const config::FieldInfo* field = config::find_field(wanted);
  if (field == nullptr || field->attributes.secret) return OUTRIDER_E_INVALID;
  config::FieldValue found;
  if (config != nullptr) {
    found = config::get(config->args->values(), field->id);
  } else {
    const auto state = context_.snapshot();
    if (!state || !state->namespaces) return OUTRIDER_E_STATE;
    found = config::get(*state->namespaces, field->id);
  }
  if (std::holds_alternative<std::monostate>(found)) return OUTRIDER_E_INVALID;  // not set
  std::visit(
      [&value](const auto& held) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(held)>, std::monostate>) value = held;
      },
      found);
  return OUTRIDER_OK;
}

const char* HostServices::lend(const std::string& text) {
  const std::lock_guard lock(mutex_);
  return lent_.insert(text).first->c_str();
}

const outrider_config& HostServices::keep(outrider_config config) {
  const std::lock_guard lock(mutex_);
  return configs_.emplace_back(std::move(config));
}

}  // namespace outrider::drafting
