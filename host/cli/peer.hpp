// Another program to compare with, in a Python process of its own that loads the same model through that program's package and times its
// calls itself (llama_cpp_peer.py). It is stopped (SIGSTOP) whenever it has nothing to do, so that none of its threads spins while we
// measure, and is killed with the object, or with this program. It speaks JSON, a line a message, over pipes.
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "cli/bench_subject.hpp"
#include "cli/jsonl.hpp"

namespace outrider::cli {

class Peer : public Subject {
 public:
  // Starts `script` with `python` (a path, or a name looked for in PATH) and waits until it has imported the package. Errors: it cannot
  // be started, or the package is not there, with the remedy.
  static Result<std::unique_ptr<Peer>> start(const std::string& python, const std::string& script);
  ~Peer() override;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Loads the model. `positions`: the longest sequence that will be asked for, at most tokens.size(); its ids are used for everything.
  Result<void> load(const std::string& model_path, int threads, int32_t positions, const std::vector<int32_t>& tokens);

  Result<double> decode(int32_t context, int32_t tokens) override;
  Result<double> prefill(int32_t tokens) override;
  Result<std::vector<double>> passes(int32_t context, int32_t rows, int32_t passes) override;

  [[nodiscard]] const std::string& version() const { return version_; }  // of the Python package

 private:
  Peer() = default;
  Result<Json> hear();  // the next line; stops the process then
  Result<Json> ask(const Json& request);
  Result<std::vector<double>> seconds_of(const Json& request, size_t count);
  [[nodiscard]] Error gone() const;  // what can be said of a process that ended

  pid_t child_ = -1;
  int in_ = -1, out_ = -1, errors_ = -1;  // its standard input, output, and a file that holds what it wrote to standard error
  std::string buffer_, version_;
};

}  // namespace outrider::cli
