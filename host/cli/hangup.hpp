// SIGHUP re-reads the configuration while a long-running command works.
//
// There is no handler: SIGHUP is blocked in every thread, and one thread takes it with sigwait(). A reload reads files and takes locks,
// which no handler may do; a blocked signal interrupts no system call, a plugin's neither; and one that comes while the model loads or a
// reload runs stays pending instead of being lost. Many in a burst become fewer reloads, the last of which begins after the last signal.
// The price is that it must be blocked before other threads start (they inherit the mask): hence two objects.
#pragma once

#include <csignal>
#include <thread>

#include "config/reload.hpp"

namespace outrider::cli {

// Holds SIGHUP back. Made first thing in a command, before any thread starts. Process-wide; does not nest.
class HangupHold {
 public:
  HangupHold();
  ~HangupHold();
  HangupHold(const HangupHold&) = delete;
  HangupHold& operator=(const HangupHold&) = delete;

 private:
  sigset_t before_;
};

// Reloads at each SIGHUP, one that was held back included, for as long as it lives, and tells on standard error what was applied, what
// needs a restart, or every fault. When the terminal that standard input was is gone, SIGHUP does what it would do without this object.
class ReloadOnHangup {
 public:
  // `sources` are what the context's args were loaded from. The context must outlive this.
  ReloadOnHangup(const HangupHold&, config::RuntimeContext& context, config::Sources sources);
  ~ReloadOnHangup();
  ReloadOnHangup(const ReloadOnHangup&) = delete;
  ReloadOnHangup& operator=(const ReloadOnHangup&) = delete;

 private:
  void run(const std::stop_token& stop);
  void reload();

  config::RuntimeContext& context_;
  config::Reloader reloader_;
  bool on_terminal_;
  std::jthread thread_;
};

}  // namespace outrider::cli
