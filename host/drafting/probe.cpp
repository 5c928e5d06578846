#include "drafting/probe.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <system_error>

#include "drafting/refusal.hpp"
#include "drafting/search.hpp"

namespace outrider::drafting {
namespace {

struct Pipe {
  int ends[2] = {-1, -1};
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) ::close(end);
    }
  }
  void close_write() { ::close(ends[1]), ends[1] = -1; }
};

struct Outcome {
  std::string said;
  int status = 0;
  bool late = false;
};

// Reads until the child closes its end or patience runs out, then collects the child; a late one is killed.
Outcome listen(pid_t child, int pipe, std::chrono::milliseconds patience) {
  Outcome outcome;
  const auto deadline = std::chrono::steady_clock::now() + patience;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      outcome.late = true;
      ::kill(child, SIGKILL);
      break;
    }
    pollfd waiting = {pipe, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) break;
    if (ready <= 0) continue;
    char buffer[512];
    const ssize_t n = ::read(pipe, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    if (outcome.said.size() < 4096) outcome.said.append(buffer, static_cast<size_t>(n));
  }
  while (::waitpid(child, &outcome.status, 0) < 0 && errno == EINTR) {
  }
  return outcome;
}

bool has_line(std::string_view text, std::string_view line) {
  const size_t at = text.find(std::string(line) + "\n");
  return at != std::string_view::npos && (at == 0 || text[at - 1] == '\n');
}

// The dynamic linker's words, with what to do for each of the usual three.
std::string remedy_for(std::string_view text) {
  if (text.find("undefined symbol") != std::string_view::npos)
    return "link the plugin with -Wl,-z,defs to find what is missing at link time";
  if (text.find("cannot open shared object file") != std::string_view::npos) {
    return "install that library, or link it into the plugin statically (a plugin is loaded from a private copy, away from its neighbours)";
  }
  if (text.find("GLIBC") != std::string_view::npos) return "build the plugin on a system as old as this one";
  if (text.find("failed to map") != std::string_view::npos) return "point TMPDIR at a folder that allows execution";
  return "see the plugin's own documentation";
}

}  // namespace

Result<void> probe(const std::filesystem::path& library, const std::string& file, std::chrono::milliseconds patience) {
  const std::filesystem::path program = probe_program();
  if (program.empty()) {
    return refused(file, "it cannot be tried out: outrider-probe is not beside this program's libraries", "reinstall outrider");
  }
  Pipe pipe;
  if (::pipe2(pipe.ends, O_CLOEXEC) != 0) {
    return refused(file, "it cannot be tried out: " + std::generic_category().message(errno), "close some files");
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  // The plugin's own words are not ours to print, least of all on standard output.
  for (int fd = 0; fd < 3; ++fd) ::posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
  ::posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], kProbePipe);
  std::string argument0 = program.string(), argument1 = library.string();
  char* arguments[] = {argument0.data(), argument1.data(), nullptr};
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, argument0.c_str(), &actions, nullptr, arguments, environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    return refused(file, "it cannot be tried out: starting " + argument0 + " failed: " + std::generic_category().message(failed),
                   "reinstall outrider");
  }
  pipe.close_write();
  const Outcome outcome = listen(child, pipe.ends[0], patience);

  const size_t error = outcome.said.find(kProbeError);
  if (!outcome.late && has_line(outcome.said, kProbeOk)) return {};
  if (error != std::string::npos) {
    std::string text = outcome.said.substr(error + std::strlen(kProbeError));
    text = text.substr(0, text.find('\n'));
    // The linker names the private copy, which is gone when anyone reads this.
    if (text.starts_with(argument1 + ": ")) text.erase(0, argument1.size() + 2);
    return refused(file, "it does not load: " + text, remedy_for(text));
  }
  const std::string stage = has_line(outcome.said, kProbeOpened) ? "in its entry function" : "while it was being opened";
  if (outcome.late) {
    return refused(file, "it had not finished loading after " + std::to_string(patience.count()) + " ms in a child process (" + stage + ")",
                   "look for a loop or a wait in its static constructors");
  }
  if (WIFSIGNALED(outcome.status)) {
    return refused(file, std::string("it ended a child process with signal ") + ::strsignal(WTERMSIG(outcome.status)) + " " + stage,
                   "build it again, or look into its static constructors");
  }
  return refused(
      file,
      "it ended a child process with exit code " + std::to_string(WEXITSTATUS(outcome.status)) + " " + stage + ", as if it had called exit",
      "look into its static constructors");
}

}  // namespace outrider::drafting
