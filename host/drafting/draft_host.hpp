// The door of this room: from a configured drafter name to a Drafter that proposes, and a list of the plugins on this machine.
// Everything behind it (ELF checks, the probe child, Boost.DLL, negotiation, the hand-over in the preserve window, the guard) is an
// implementation detail. What it does not do: decide when to draft, or verify anything.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "drafting/drafter.hpp"

namespace outrider::config {
class RuntimeContext;
class ServerArgs;
}  // namespace outrider::config

namespace outrider::drafting {

// What a drafter may know of the target before it is built.
struct TargetInfo {
  int32_t vocab_size = 0;   // ids are [0, vocab_size)
  int32_t hidden_size = 0;  // features of a hidden state
  int32_t layers = 0;
  int32_t context_length = 0;  // tokens
  int32_t max_requests = 0;    // most requests in one batch
  int32_t bos = -1, eos = -1;  // -1: the model has none
  std::string architecture;
  std::string tokenizer_fingerprint;  // equal fingerprints mean equal ids; empty when not known
};

// Why a plugin is not used: which file, what was found, what to do about it.
struct Refusal {
  std::string file;    // as the person wrote it or as it was found; a name when no file was reached
  std::string reason;  // "built for ABI 2, this host speaks ABI 1"
  std::string remedy;  // "rebuild it against …"

  // "plugin FILE refused: REASON; REMEDY"
  [[nodiscard]] std::string text() const { return "plugin " + file + " refused: " + reason + "; " + remedy; }
};

// Text to token ids, with the target's tokenizer: for corpora that come as text.
using Tokenize = std::function<Result<std::vector<int32_t>>(std::string_view text)>;

// Runs steps 1 to 5 of the life of a drafter (find, load, copy, factory, preserve window) for the table [drafter.NAME], and attaches its
// corpora after the window has closed. `context` is the published target configuration; on return, also by error, it is current again
// with its overrides and log; it must outlive the drafter, whose guard follows [spec] as it changes. `tokenize` is called only during this call and by the drafter's corpora (see corpus_manager.hpp), so what it
// refers to must outlive the drafter. An Error's text is a Refusal's text. Control thread.
Result<std::unique_ptr<Drafter>> make_drafter(config::RuntimeContext& context, const std::string& name, const TargetInfo& target,
                                              const Tokenize& tokenize);

// The library that make_drafter would load for `name`; empty when it is configured but there is no such file. The error names those there
// are. Opens nothing.
Result<std::string> find_drafter(const config::ServerArgs& args, const std::string& name);

struct DiscoveredPlugin {
  std::string name;         // what [spec] algorithm would say: the configured name, else the file's name without .so
  std::string library;      // path
  std::string id, version;  // from the plugin's ELF note; empty when it was not read
  bool loadable = false;
  std::string why_not;  // empty when loadable
};

// Every plugin the configuration can reach: the [drafter.NAME] tables, then each *.so in the search folders (see loader.hpp), by name.
// Each one is checked and probed in a child process; none is loaded into this one.
std::vector<DiscoveredPlugin> discover(const config::ServerArgs& args);

}  // namespace outrider::drafting
