// The host's services and the configuration, as C++ values. An absent service is a no-op or an Error, never a crash.
#pragma once

#include <cstdio>
#include <cstring>
#include <exception>
#include <string>

#include "outrider/plugin.h"

#define OUTRIDER_SDK_VERSION "0.1.0"

#pragma GCC visibility push(hidden)
namespace outrider {
namespace sdk {
inline namespace v0_1 {

// What a plugin throws to end a call with a status and a text. It is caught before the border.
class Error : public std::exception {
 public:
  Error(outrider_status status, std::string message) : status_(status), message_(std::move(message)) {}
  [[nodiscard]] outrider_status status() const noexcept { return status_; }
  [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }

 private:
  outrider_status status_;
  std::string message_;
};

class Host {
 public:
  explicit Host(const outrider_host* host) : host_(host) {}

  // `level`: OUTRIDER_LOG_…
  void log(int32_t level, const std::string& message) const {
    const auto* service = query<outrider_host_log_1>(OUTRIDER_HOST_LOG_1);
    if (OUTRIDER_HAS(outrider_host_log_1, service, write)) service->write(host_, level, message.data(), message.size());
  }

  // Nanoseconds, comparable with a batch's deadline; 0 when the host has no clock to lend.
  [[nodiscard]] uint64_t now_ns() const {
    const auto* service = query<outrider_host_clock_1>(OUTRIDER_HOST_CLOCK_1);
    return OUTRIDER_HAS(outrider_host_clock_1, service, now_ns) ? service->now_ns(host_) : 0;
  }

  template <class Service>
  [[nodiscard]] const Service* query(const char* id) const {
    return OUTRIDER_HAS(outrider_host, host_, query) ? static_cast<const Service*>(host_->query(host_, id)) : nullptr;
  }

  [[nodiscard]] const outrider_host* raw() const { return host_; }

 private:
  const outrider_host* host_;
};

// Values by key; see outrider/config.h. A missing or mistyped key is an Error that names it. [control]
class Config {
 public:
  Config(const Host& host, const outrider_config* config)
      : host_(host), service_(host.query<outrider_host_config_1>(OUTRIDER_HOST_CONFIG_1)), config_(config) {}

  [[nodiscard]] bool get_bool(const char* key) const {
    int32_t value = 0;
    check(key, service().get_bool(host_.raw(), config_, key, &value));
    return value != 0;
  }
  [[nodiscard]] int64_t get_int(const char* key) const {
    int64_t value = 0;
    check(key, service().get_int(host_.raw(), config_, key, &value));
    return value;
  }
  [[nodiscard]] double get_float(const char* key) const {
    double value = 0;
    check(key, service().get_float(host_.raw(), config_, key, &value));
    return value;
  }
  [[nodiscard]] std::string get_string(const char* key) const {
    const char* value = nullptr;
    check(key, service().get_string(host_.raw(), config_, key, &value));
    return value == nullptr ? std::string() : std::string(value);
  }

  // What is current in the calling thread, instead of the copy made for this drafter.
  [[nodiscard]] Config current() const { return Config(host_, nullptr); }
  [[nodiscard]] const Host& host() const { return host_; }
  [[nodiscard]] const outrider_config* raw() const { return config_; }

 private:
  [[nodiscard]] const outrider_host_config_1& service() const {
    if (service_ == nullptr || service_->struct_size < sizeof(outrider_host_config_1)) {
      throw Error(OUTRIDER_E_UNSUPPORTED, "the host does not offer " OUTRIDER_HOST_CONFIG_1);
    }
    return *service_;
  }
  static void check(const char* key, outrider_status status) {
    if (status != OUTRIDER_OK) throw Error(OUTRIDER_E_CONFIG, std::string("option ") + key + " is missing or has another type");
  }

  Host host_;
  const outrider_host_config_1* service_;
  const outrider_config* config_;
};

// The configuration of a model runner that a worker builds inside itself, current in this thread while the object lives: see
// outrider/draft_runner.h. Make it in the worker's constructor, on the stack. [control, in worker_create]
class DraftRunner {
 public:
  // `worker`: what the worker was given. `attention_backend`: the drafter's own choice; NULL: what is configured.
  explicit DraftRunner(const Config& worker, const char* attention_backend = nullptr) : DraftRunner(worker, options(attention_backend)) {}
  DraftRunner(const Config& worker, const outrider_draft_runner_options& options)
      : service_(worker.host().query<outrider_host_draft_runner_1>(OUTRIDER_HOST_DRAFT_RUNNER_1)),
        config_(worker.host(), open(worker, options)) {}
  ~DraftRunner() { service_->close(config_.host().raw()); }
  DraftRunner(const DraftRunner&) = delete;
  DraftRunner& operator=(const DraftRunner&) = delete;

  [[nodiscard]] const Config& config() const { return config_; }

 private:
  static outrider_draft_runner_options options(const char* attention_backend) {
    return {sizeof(outrider_draft_runner_options), 0, attention_backend, nullptr, nullptr};
  }
  const outrider_config* open(const Config& worker, const outrider_draft_runner_options& options) const {
    if (service_ == nullptr) throw Error(OUTRIDER_E_UNSUPPORTED, "the host does not offer " OUTRIDER_HOST_DRAFT_RUNNER_1);
    const outrider_config* config = nullptr;
    const outrider_status status = service_->open(worker.host().raw(), &options, &config);
    if (status != OUTRIDER_OK) throw Error(status, "the host made no configuration for a model runner; its log says why");
    return config;
  }

  const outrider_host_draft_runner_1* service_;
  Config config_;
};

// Declarations of options, for a drafter's `options` array.
constexpr outrider_option integer_option(const char* key, const char* default_text, double minimum, double maximum, const char* help,
                                         const char* unit = nullptr, uint32_t flags = 0) {
  return {sizeof(outrider_option), OUTRIDER_OPTION_INT, flags, 0, key, help, default_text, unit, minimum, maximum, nullptr};
}
constexpr outrider_option float_option(const char* key, const char* default_text, double minimum, double maximum, const char* help,
                                       const char* unit = nullptr, uint32_t flags = 0) {
  return {sizeof(outrider_option), OUTRIDER_OPTION_FLOAT, flags, 0, key, help, default_text, unit, minimum, maximum, nullptr};
}
constexpr outrider_option bool_option(const char* key, const char* default_text, const char* help, uint32_t flags = 0) {
  return {sizeof(outrider_option), OUTRIDER_OPTION_BOOL, flags, 0, key, help, default_text, nullptr, 0, 0, nullptr};
}
constexpr outrider_option string_option(const char* key, const char* default_text, const char* help, uint32_t flags = 0) {
  return {sizeof(outrider_option), OUTRIDER_OPTION_STRING, flags, 0, key, help, default_text, nullptr, 0, 0, nullptr};
}
constexpr outrider_option path_option(const char* key, const char* default_text, const char* help, uint32_t flags = 0) {
  return {sizeof(outrider_option), OUTRIDER_OPTION_PATH, flags, 0, key, help, default_text, nullptr, 0, 0, nullptr};
}
// `choices`: NULL-terminated, static.
constexpr outrider_option choice_option(const char* key, const char* default_text, const char* const* choices, const char* help,
                                        uint32_t flags = 0) {
  return {sizeof(outrider_option), OUTRIDER_OPTION_CHOICE, flags, 0, key, help, default_text, nullptr, 0, 0, choices};
}

}  // namespace v0_1
}  // namespace sdk
}  // namespace outrider
#pragma GCC visibility pop
