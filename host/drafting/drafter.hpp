// A drafter as the scheduler sees it: one loaded generation of a plugin with its configuration, behind the guard. The scheduler knows
// what a drafter can do (capabilities), never which one it is. No call here throws and none can fail a request: a fault in the plugin
// shows as an empty draft and in report().
//
// All of propose, on_verified, open and close belong to the thread that runs the step loop; report() may be called from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "verify/draft_tree.hpp"

namespace outrider::drafting {

class CorpusManager;

struct DraftRequest {
  uint64_t request;                 // as given to open()
  std::span<const int32_t> tokens;  // prompt and output so far; the last one is the root
  int32_t new_tokens;               // how many at the end are new since the last propose() or open() of this request
  int32_t max_nodes;                // at most so many nodes; 0 is legal
  int32_t max_depth;
  verify::DraftTree draft;  // out: validated by the guard; empty when there is none
};

struct VerifiedRequest {
  uint64_t request;
  std::span<const int32_t> accepted_nodes;  // indices into the draft, root to leaf
  int32_t bonus_token;
};

struct DrafterReport {
  std::string name;     // as configured: the [drafter.NAME] table
  std::string id;       // the plugin's own reverse-DNS id
  std::string library;  // the file it came from
  std::string version;
  uint64_t calls = 0, faults = 0;
  uint64_t propose_nanoseconds = 0;
  bool breaker_open = false;
  std::string last_fault;  // empty when none
};

class Drafter {
 public:
  virtual ~Drafter() = default;

  // A request joins with its prompt. False when the drafter will not serve it (the request then decodes plainly).
  virtual bool open(uint64_t request, std::span<const int32_t> prompt, float temperature, uint64_t seed, int32_t max_new_tokens) = 0;
  virtual void close(uint64_t request) = 0;

  // One call a step for all its requests. Fills each item's `draft`.
  virtual void propose(std::span<DraftRequest> batch) = 0;
  virtual void on_verified(std::span<const VerifiedRequest> batch) = 0;

  [[nodiscard]] virtual bool proposes_trees() const = 0;
  [[nodiscard]] virtual DrafterReport report() const = 0;

  // The texts it shares between requests, to add to and remove from at run time (any thread); null when it takes none.
  [[nodiscard]] virtual CorpusManager* corpora() { return nullptr; }
};

}  // namespace outrider::drafting
