#include "scheduler/sequence.hpp"

#include <algorithm>

namespace outrider::scheduler {

Sequence::Sequence(uint64_t id_, uint64_t request_id_, int32_t index_, std::shared_ptr<const Request> request_, uint64_t seed_,
                   const text::Tokenizer& tokenizer, int32_t context_length, kernels::Isa isa)
    : id(id_),
      request_id(request_id_),
      index(index_),
      seed(seed_),
      request(std::move(request_)),
      tokens(request->prompt),
      law(request->sampling, seed, request->prompt, isa),
      tokenizer_(tokenizer),
      prompt_length_(length()),
      most_tokens_(
          static_cast<int32_t>(std::min<int64_t>(static_cast<int64_t>(prompt_length_) + request->sampling.max_tokens, context_length))),
      stream_(tokenizer, request->sampling.stop) {
  // Room for the output, so that steps allocate nothing; what is not used is never touched. Very long outputs grow now and then.
  const auto output = static_cast<size_t>(std::clamp(most_tokens_ - prompt_length_, 0, 8192));
  tokens.reserve(tokens.size() + output);
  result.token_ids.reserve(output);
  result.text.reserve(output * 8);
  result.prompt_tokens = prompt_length_;
  result.drafter = "none";
  result.timing.prefill_tokens = prompt_length_;
}

int32_t Sequence::remaining() const { return most_tokens_ - length(); }

int64_t Sequence::widest(int32_t draft_tokens) const { return static_cast<int64_t>(most_tokens_) + draft_tokens; }

bool Sequence::stops(int32_t token) const {
  const auto& sampling = request->sampling;
  if (std::find(sampling.stop_tokens.begin(), sampling.stop_tokens.end(), token) != sampling.stop_tokens.end()) return true;
  return !sampling.ignore_eos && tokenizer_.is_end_of_generation(token);
}

bool Sequence::take_token(int32_t token) {
  const auto now = Clock::now();
  if (generated() == 0) {
    first_token_ = now;
    result.timing.prefill_seconds = std::chrono::duration<double>(now - started_).count();
  } else {
    ++result.timing.decode_tokens;
    result.timing.decode_seconds = std::chrono::duration<double>(now - first_token_).count();
  }
  tokens.push_back(token);
  result.token_ids.push_back(token);
  ++new_tokens;
  if (stops(token)) {
    finish(FinishReason::stop);
    return false;
  }
  stream_.push_all({&token, 1}, result.text);
  if (stream_.stopped()) {
    finish(FinishReason::stop);
    return false;
  }
  if (remaining() <= 0) {
    finish(FinishReason::length);
    return false;
  }
  return true;
}

void Sequence::emit() {
  if (request->on_output && (emitted_tokens_ < result.token_ids.size() || emitted_text_ < result.text.size())) {
    request->on_output(
        {index, std::span<const int32_t>(result.token_ids).subspan(emitted_tokens_), std::string_view(result.text).substr(emitted_text_)});
  }
  emitted_tokens_ = result.token_ids.size();
  emitted_text_ = result.text.size();
}

void Sequence::finish(FinishReason reason, std::string error) {
  if (done_) return;
  done_ = true;
  result.text += stream_.finish();
  result.finish_reason = reason;
  result.error = std::move(error);
}

}  // namespace outrider::scheduler
