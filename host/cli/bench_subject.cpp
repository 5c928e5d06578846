#include "cli/bench_subject.hpp"

#include <chrono>
#include <cstring>

#include "cli/session.hpp"

namespace outrider::cli {
namespace {

// Fills every slot with small random keys and values: untouched memory would be one page of zeros that never leaves the cache.
void fill(const model::Transformer& target, const model::KvCache& cache, const model::KvSequence& sequence) {
  const model::Architecture& a = target.architecture();
  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  std::vector<float> k(static_cast<size_t>(a.kv_size())), v(k.size());
  for (float& value : k) value = normal(random);
  for (float& value : v) value = normal(random);
  for (int32_t layer = 0; layer < a.layers; ++layer) {
    for (int32_t slot = 0; slot < sequence.capacity(); ++slot) {
      kernels::kv_store(target.isa(), cache.layer(layer), sequence.pages.data(), slot, k.data(), v.data());
    }
  }
}

}  // namespace

std::vector<int32_t> arbitrary_tokens(int32_t count, int32_t vocab_size) {
  std::mt19937 random(11);
  std::vector<int32_t> tokens(static_cast<size_t>(count));
  for (int32_t& token : tokens) token = static_cast<int32_t>(random() % static_cast<uint32_t>(vocab_size));
  return tokens;
}

OwnSubject::OwnSubject(const scheduler::Runtime& runtime, kernels::KvType kv_type, std::vector<int32_t> tokens, int32_t longest)
    : runtime_(runtime),
      tokens_(std::move(tokens)),
      cache_(runtime.target->architecture(), kv_type, longest),
      sequence_(*cache_.reserve(longest)) {
  fill(*runtime.target, cache_, sequence_);
}

// A request as any other, without drafter; it ends by its length alone.
Result<scheduler::Timing> OwnSubject::answer(int32_t prompt, int32_t output) {
  scheduler::Request request;
  request.prompt.assign(tokens_.begin(), tokens_.begin() + prompt);
  request.drafter = "none";
  request.sampling.max_tokens = output;
  request.sampling.ignore_eos = true;
  OUTRIDER_TRY(const auto completions, run_request(*runtime_.engine, std::move(request)));
  const scheduler::Completion& completion = completions.front();
  if (completion.finish_reason == scheduler::FinishReason::error) return Error{completion.error};
  if (completion.finish_reason == scheduler::FinishReason::cancelled) return Error{"stopped by Ctrl-C"};
  return completion.timing;
}

Result<double> OwnSubject::decode(int32_t context, int32_t tokens) {
  OUTRIDER_TRY(const scheduler::Timing timing, answer(context, tokens + 1));  // the first token comes of the prompt's last pass
  return timing.decode_seconds;
}

Result<double> OwnSubject::prefill(int32_t tokens) {
  OUTRIDER_TRY(const scheduler::Timing timing, answer(tokens, 1));
  return timing.prefill_seconds;
}

Result<std::vector<double>> OwnSubject::passes(int32_t context, int32_t rows, int32_t passes) {
  using Clock = std::chrono::steady_clock;
  batch_.clear();
  for (int32_t i = 0; i < rows; ++i) batch_.add_contiguous(tokens_[static_cast<size_t>(i)], context + i, &sequence_, model::Want::token);
  std::vector<double> seconds;
  for (int32_t pass = 0; pass <= passes; ++pass) {
    const auto begin = Clock::now();
    (void)runtime_.target->forward(batch_, cache_);
    if (pass > 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  return seconds;
}

}  // namespace outrider::cli
