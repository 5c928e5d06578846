#include "cli/hangup.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdio>

#include "base/log.hpp"
#include "cli/terminal.hpp"

namespace outrider::cli {
namespace {

sigset_t hangup_set() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  return set;
}

bool is_hung_up(int descriptor) {
  pollfd watched{descriptor, 0, 0};
  return poll(&watched, 1, 0) == 1 && (watched.revents & POLLHUP) != 0;
}

}  // namespace

HangupHold::HangupHold() {
  const sigset_t hangup = hangup_set();
  pthread_sigmask(SIG_BLOCK, &hangup, &before_);
}

HangupHold::~HangupHold() {
  // What nobody took asked for a reload, and must not end the program now.
  const sigset_t hangup = hangup_set();
  const timespec no_time{};
  while (sigtimedwait(&hangup, nullptr, &no_time) == SIGHUP) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

ReloadOnHangup::ReloadOnHangup(const HangupHold&, config::RuntimeContext& context, config::Sources sources)
    : context_(context),
      reloader_(context, std::move(sources)),
      on_terminal_(is_terminal(STDIN_FILENO)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

ReloadOnHangup::~ReloadOnHangup() {
  thread_.request_stop();
  pthread_kill(thread_.native_handle(), SIGHUP);  // to that thread alone: wakes it
}

void ReloadOnHangup::run(const std::stop_token& stop) {
  const sigset_t hangup = hangup_set();
  while (true) {
    int signal = 0;
    sigwait(&hangup, &signal);
    if (stop.stop_requested()) return;
    if (on_terminal_ && is_hung_up(STDIN_FILENO)) {
      pthread_sigmask(SIG_UNBLOCK, &hangup, nullptr);
      raise(SIGHUP);  // ends the program, unless it was started with nohup
      pthread_sigmask(SIG_BLOCK, &hangup, nullptr);
    } else {
      reload();
    }
  }
}

void ReloadOnHangup::reload() {
  const auto report = reloader_.reload();
  if (!report.ok()) return log::error("{}", report.error().message);
  log::set_level(context_.get_observability().log_level);
  // The answer to whoever sent the signal, so it is told at every level but "off".
  if (spdlog::get_level() != spdlog::level::off) std::fputs((report->text() + "\n").c_str(), stderr);
}

}  // namespace outrider::cli
