#include "cli/interrupt.hpp"

#include <poll.h>
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

bool wait_for_input(int descriptor) {
  sigset_t interrupt, before;
  sigemptyset(&interrupt);
  sigaddset(&interrupt, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupt, &before);
  pollfd wanted{descriptor, POLLIN, 0};
  // ppoll opens the mask and waits in one step, so that a signal can come before it or during it, but not unseen in between.
  while (!flag && ppoll(&wanted, 1, nullptr, &before) < 0) {
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return !flag;
}

bool interrupted() { return flag.load(); }
void clear_interrupt() { flag = false; }

}  // namespace outrider::cli
