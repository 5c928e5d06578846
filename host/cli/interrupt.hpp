// Ctrl-C as a flag: while an InterruptScope lives, the first SIGINT sets the flag (and makes a blocking read return), and a second
// one that comes before the flag was cleared ends the program at once. Process-wide; scopes do not nest.
#pragma once

#include <csignal>

namespace outrider::cli {

class InterruptScope {
 public:
  InterruptScope();
  ~InterruptScope();
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;

 private:
  struct sigaction before_;
};

[[nodiscard]] bool interrupted();  // any thread
void clear_interrupt();

// Waits until `descriptor` can be read (or is closed): true. False when Ctrl-C came first, even just before the call.
[[nodiscard]] bool wait_for_input(int descriptor);

}  // namespace outrider::cli
