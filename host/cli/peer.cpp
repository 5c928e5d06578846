#include "cli/peer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/interrupt.hpp"

namespace outrider::cli {
namespace {

void close_end(int& end) {
  if (end >= 0) ::close(end);
  end = -1;
}

bool write_all(int descriptor, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = ::write(descriptor, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) done += static_cast<size_t>(n);
  }
  return true;
}

// The last line that is not blank of a file that another process wrote.
std::string last_line(int file) {
  char text[4096];
  const off_t size = ::lseek(file, 0, SEEK_END), from = std::max<off_t>(0, size - static_cast<off_t>(sizeof text));
  const ssize_t n = ::pread(file, text, sizeof text, from);
  const std::string tail(text, n > 0 ? static_cast<size_t>(n) : 0);
  const size_t end = tail.find_last_not_of(" \t\r\n");
  if (end == std::string::npos) return {};
  const size_t begin = tail.find_last_of('\n', end);
  return tail.substr(begin == std::string::npos ? 0 : begin + 1, end - (begin == std::string::npos ? 0 : begin + 1) + 1);
}

}  // namespace

Result<std::unique_ptr<Peer>> Peer::start(const std::string& python, const std::string& script) {
  std::unique_ptr<Peer> peer(new Peer);
  int requests[2] = {-1, -1}, answers[2] = {-1, -1};
  peer->errors_ = ::memfd_create("peer-errors", MFD_CLOEXEC);
  int failed = peer->errors_ < 0 || ::pipe2(requests, O_CLOEXEC) != 0 || ::pipe2(answers, O_CLOEXEC) != 0 ? errno : 0;
  peer->in_ = requests[1], peer->out_ = answers[0];
  if (failed == 0) {
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, requests[0], 0);
    ::posix_spawn_file_actions_adddup2(&actions, answers[1], 1);
    ::posix_spawn_file_actions_adddup2(&actions, peer->errors_, 2);
    posix_spawnattr_t attributes;  // a process group of its own: Ctrl-C is ours to handle
    ::posix_spawnattr_init(&attributes);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
    std::string argument0 = python, argument1 = script;
    char* arguments[] = {argument0.data(), argument1.data(), nullptr};
    failed = ::posix_spawnp(&peer->child_, argument0.c_str(), &actions, &attributes, arguments, environ);
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) peer->child_ = -1;
  }
  close_end(requests[0]), close_end(answers[1]);
  if (failed != 0) {
    return Error{"--python: expected a Python 3 interpreter, found '" + python + "', which cannot be started (" + std::strerror(failed) +
                 "); name one that has the package llama-cpp-python"};
  }
  OUTRIDER_TRY(const Json hello, peer->hear());
  if (hello.contains("missing")) {
    return Error{"--peer llama.cpp: " + python + " cannot import llama_cpp (" + hello["missing"].get<std::string>() +
                 "); install it with '" + python + " -m pip install llama-cpp-python', or name a Python that has it with --python"};
  }
  OUTRIDER_TRY(peer->version_, member<std::string>(hello, "version", "the package's version"));
  return peer;
}

Peer::~Peer() {
  close_end(in_), close_end(out_), close_end(errors_);
  if (child_ < 0) return;
  ::kill(child_, SIGKILL);
  while (::waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Error Peer::gone() const {
  const std::string said = last_line(errors_);
  return Error{"--peer llama.cpp: its process ended" + (said.empty() ? std::string() : ", saying: " + said) +
               "; try the package alone, or leave --peer out"};
}

Result<Json> Peer::hear() {
  size_t end;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (!wait_for_input(out_)) return Error{"stopped by Ctrl-C"};
    char piece[4096];
    const ssize_t n = ::read(out_, piece, sizeof piece);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return gone();
    buffer_.append(piece, static_cast<size_t>(n));
  }
  const std::string line = buffer_.substr(0, end);
  buffer_.erase(0, end + 1);

  int status = 0;
  ::kill(child_, SIGSTOP);
  while (::waitpid(child_, &status, WUNTRACED) < 0 && errno == EINTR) {
  }
  if (!WIFSTOPPED(status)) child_ = -1;  // it ended after its answer
  Result<Json> answer = parse_object(line);
  if (!answer.ok()) return answer.error().within("--peer llama.cpp: its answer");
  if (answer->contains("error")) return Error{"--peer llama.cpp: " + (*answer)["error"].get<std::string>()};
  return answer;
}

Result<Json> Peer::ask(const Json& request) {
  if (child_ < 0) return gone();
  ::kill(child_, SIGCONT);
  if (!write_all(in_, to_line(request) + "\n")) return gone();
  return hear();
}

Result<std::vector<double>> Peer::seconds_of(const Json& request, size_t count) {
  OUTRIDER_TRY(const Json answer, ask(request));
  OUTRIDER_TRY(std::vector<double> seconds, member<std::vector<double>>(answer, "seconds", "a list of seconds"));
  if (seconds.size() != count)
    return Error{"--peer llama.cpp: expected " + std::to_string(count) + " times, found " + std::to_string(seconds.size())};
  return seconds;
}

Result<void> Peer::load(const std::string& model_path, int threads, int32_t positions, const std::vector<int32_t>& tokens) {
  OUTRIDER_CHECK(ask({{"do", "load"}, {"model", model_path}, {"threads", threads}, {"positions", positions}, {"tokens", tokens}}));
  return {};
}

Result<double> Peer::decode(int32_t context, int32_t tokens) {
  OUTRIDER_TRY(const auto seconds, seconds_of({{"do", "decode"}, {"context", context}, {"tokens", tokens}}, 1));
  return seconds[0];
}

Result<double> Peer::prefill(int32_t tokens) {
  OUTRIDER_TRY(const auto seconds, seconds_of({{"do", "prefill"}, {"tokens", tokens}}, 1));
  return seconds[0];
}

Result<std::vector<double>> Peer::passes(int32_t context, int32_t rows, int32_t passes) {
  return seconds_of({{"do", "passes"}, {"context", context}, {"rows", rows}, {"passes", passes}}, static_cast<size_t>(passes));
}

}  // namespace outrider::cli
