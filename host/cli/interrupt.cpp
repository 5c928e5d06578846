#include "cli/interrupt.hpp"

#include <unistd.h>

#include <atomic>

#include "cli/exit_code.hpp"

namespace outrider::cli {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the flag is written by a signal handler");

void on_interrupt(int) {
  if (flag.exchange(true)) _exit(kInterrupted);
}

}  // namespace

InterruptScope::InterruptScope() : before_{} {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;  // without SA_RESTART: a read that waits for the user returns EINTR
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

InterruptScope::~InterruptScope() {
  sigaction(SIGINT, &before_, nullptr);
  flag = false;
}

bool interrupted() { return flag.load(); }
void clear_interrupt() { flag = false; }

}  // namespace outrider::cli
