// What a terminal adds to plain text: whether there is one, and a progress bar on standard error that is silent when there is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace outrider::cli {

[[nodiscard]] bool is_terminal(int descriptor);

// Writes all of `text` to standard output at once, so that a streamed answer appears piece by piece.
void print(const std::string& text);

// "[#####.....] 12/40  30%  note", redrawn in place at most ten times a second and wiped at the end. One thread.
class ProgressBar {
 public:
  explicit ProgressBar(int64_t total);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(int64_t done, const std::string& note);
  void wipe();  // before something else is printed

 private:
  int64_t total_;
  bool enabled_;
  bool drawn_ = false;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace outrider::cli
