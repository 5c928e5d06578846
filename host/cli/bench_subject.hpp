// What `bench kernels` measures: a program that decodes, reads a prompt, and runs passes of several rows. OwnSubject is this one, through
// the engine and the forward pass that answer requests; peer.hpp has the other. All use the same token ids. One thread.
#pragma once

#include <random>
#include <vector>

#include "base/result.hpp"
#include "scheduler/runtime.hpp"

namespace outrider::cli {

class Subject {
 public:
  virtual ~Subject() = default;

  // Seconds in which `tokens` tokens are decoded one by one after a prompt of `context` tokens, whose reading is not counted.
  virtual Result<double> decode(int32_t context, int32_t tokens) = 0;

  // Seconds in which a prompt of `tokens` tokens is read, up to the logits of its last one.
  virtual Result<double> prefill(int32_t tokens) = 0;

  // Seconds of each of `passes` passes of `rows` rows after `context` positions, with the logits of all rows, as in verification. One more
  // pass goes before and is not counted: the first after other work finds cold caches and sleeping threads.
  virtual Result<std::vector<double>> passes(int32_t context, int32_t rows, int32_t passes) = 0;
};

// Token ids without a meaning; dense weights cost the same for every token.
std::vector<int32_t> arbitrary_tokens(int32_t count, int32_t vocab_size);

class OwnSubject : public Subject {
 public:
  // Runs prompts from the front of `tokens`, and passes after at most `longest` positions.
  OwnSubject(const scheduler::Runtime& runtime, kernels::KvType kv_type, std::vector<int32_t> tokens, int32_t longest);

  Result<double> decode(int32_t context, int32_t tokens) override;
  Result<double> prefill(int32_t tokens) override;
  Result<std::vector<double>> passes(int32_t context, int32_t rows, int32_t passes) override;

 private:
  Result<scheduler::Timing> answer(int32_t prompt, int32_t output);
  const scheduler::Runtime& runtime_;
  std::vector<int32_t> tokens_;
  model::KvCache cache_;
  model::KvSequence sequence_;
  model::Batch batch_;
};

}  // namespace outrider::cli
