#include "cli/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace outrider::cli {

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

ProgressBar::ProgressBar(int64_t total) : total_(std::max<int64_t>(total, 1)) {
  const char* kind = std::getenv("TERM");
  enabled_ = is_terminal(STDERR_FILENO) && kind != nullptr && std::string(kind) != "dumb";
}

ProgressBar::~ProgressBar() { wipe(); }

void ProgressBar::show(int64_t done, const std::string& note) {
  const auto now = std::chrono::steady_clock::now();
  if (!enabled_ || (now < next_ && done < total_)) return;
  next_ = now + std::chrono::milliseconds(100);
  constexpr int64_t kCells = 24;
  const auto full = static_cast<size_t>(std::min(done, total_) * kCells / total_);
  const std::string bar = std::string(full, '#') + std::string(static_cast<size_t>(kCells) - full, '.');
  std::fprintf(stderr, "\r\033[2K[%s] %lld/%lld %3lld%%  %s", bar.c_str(), static_cast<long long>(done), static_cast<long long>(total_),
               static_cast<long long>(std::min(done, total_) * 100 / total_), note.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::wipe() {
  if (!drawn_) return;
  std::fputs("\r\033[2K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace outrider::cli
