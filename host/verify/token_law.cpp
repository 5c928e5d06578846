#include "verify/token_law.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/math.hpp"
#include "verify/noise.hpp"

namespace outrider::verify {

TokenLaw::TokenLaw(const SamplingParams& params, uint64_t seed, std::span<const int32_t> prompt, kernels::Isa isa)
    : params_(params), seed_(seed), isa_(isa) {
  if (params_.repetition_penalty != 1.0F) seen_.insert(prompt.begin(), prompt.end());
}

void TokenLaw::observe(int32_t token) {
  if (params_.repetition_penalty != 1.0F) seen_.insert(token);
  if (params_.presence_penalty != 0.0F || params_.frequency_penalty != 0.0F) ++output_count_[token];
}

Result<int32_t> TokenLaw::choose(const TargetRow& row, int64_t position) {
  const bool known = row.arg_max != TargetRow::kUnknown && !changes_logits();
  const std::span<const float> logits = adjusted(row.logits);
  const auto best = known ? row.arg_max : static_cast<int32_t>(kernels::arg_max(isa_, logits.data(), static_cast<int64_t>(logits.size())));
  if (best < 0) {
    return Error{"position " + std::to_string(position) +
                 ": the target's logits hold NaN or infinity; the model file is damaged, or its numbers "
                 "leave the range of its type"};
  }
  if (params_.greedy()) return best;
  return sample(logits, best, position);
}

// Penalties and bias. Without them the row is read where it lies.
std::span<const float> TokenLaw::adjusted(std::span<const float> logits) {
  if (!changes_logits()) return logits;
  row_.assign(logits.begin(), logits.end());
  const auto at = [this](int32_t token) -> float& { return row_[static_cast<size_t>(token)]; };
  for (const int32_t token : seen_) {
    float& logit = at(token);
    logit = logit > 0 ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
  }
  for (const auto& [token, count] : output_count_) {
    at(token) -= params_.presence_penalty + params_.frequency_penalty * static_cast<float>(count);
  }
  for (const auto& [token, bias] : params_.logit_bias) at(token) += bias;
  return row_;
}

// Fills candidates_ with what top-k, top-p and min-p leave, best first (lowest id on ties). Each threshold is found on the tokens near
// the top and widened until it is certain, so the cost is one vector pass over the vocabulary and a sort of few tokens.
void TokenLaw::filter(std::span<const float> logits, float max) {
  const auto n = static_cast<int64_t>(logits.size());
  const auto better = [](const Candidate& a, const Candidate& b) { return a.logit != b.logit ? a.logit > b.logit : a.token < b.token; };
  const auto collect = [&](float threshold) {
    ids_.resize(logits.size());
    ids_.resize(static_cast<size_t>(kernels::collect_at_least(isa_, logits.data(), n, threshold, ids_.data())));
    candidates_.clear();
    for (const int32_t id : ids_) candidates_.push_back({id, logits[static_cast<size_t>(id)]});
    std::sort(candidates_.begin(), candidates_.end(), better);
  };

  const float t = params_.temperature;
  const auto k = params_.top_k > 0 ? std::min<size_t>(static_cast<size_t>(params_.top_k), logits.size()) : logits.size();
  const double everything = k == logits.size() ? static_cast<double>(kernels::sum_exp(isa_, logits.data(), n, max, 1.0F / t)) : 0.0;
  float reach = 8.0F;  // in units of the temperature below the best logit
  if (params_.min_p > 0) reach = std::max(reach, 1.0F - std::log(params_.min_p));
  for (;; reach *= 2) {
    collect(reach > 1e6F ? -INFINITY : max - reach * t);
    const bool all = candidates_.size() == logits.size() || reach > 1e6F;
    if (candidates_.size() < k && !all && params_.top_k > 0) continue;
    if (candidates_.size() > k) candidates_.resize(k);
    if (params_.top_p >= 1) {
      if (all || params_.top_k > 0 || params_.min_p > 0) break;
      continue;
    }
    // The smallest set of best tokens whose mass reaches top_p of what top-k left.
    double total = everything;
    if (params_.top_k > 0) {
      total = 0;
      for (const Candidate& c : candidates_) total += static_cast<double>(kernels::exp_scalar((c.logit - max) / t));
    }
    double mass = 0;
    size_t kept = 0;
    while (kept < candidates_.size() && mass < static_cast<double>(params_.top_p) * total) {
      mass += static_cast<double>(kernels::exp_scalar((candidates_[kept].logit - max) / t));
      ++kept;
    }
    if (mass < static_cast<double>(params_.top_p) * total && !all && params_.top_k == 0) continue;
    candidates_.resize(std::max<size_t>(kept, 1));
    break;
  }
  if (params_.min_p > 0) {
    std::erase_if(candidates_, [&](const Candidate& c) { return kernels::exp_scalar((c.logit - max) / t) < params_.min_p; });
  }
}

int32_t TokenLaw::sample(std::span<const float> logits, int32_t most_probable, int64_t position) {
  const float max = logits[static_cast<size_t>(most_probable)];
  const NoiseStream noise(seed_, position);
  const double inverse = 1.0 / static_cast<double>(params_.temperature);
  int32_t best_token = -1;
  double best = -INFINITY;
  const auto offer = [&](int32_t token, float logit) {
    const double scaled = (static_cast<double>(logit) - static_cast<double>(max)) * inverse;
    const uint32_t bits = noise.bits(token);
    if (best_token >= 0 && !may_reach(bits, best - scaled)) return;
    const double value = scaled + gumbel(bits);
    if (value > best || (value == best && token < best_token)) best = value, best_token = token;
  };
  const bool filtered = params_.top_k > 0 || params_.top_p < 1 || params_.min_p > 0;
  if (filtered) {
    filter(logits, max);
    for (const Candidate& c : candidates_) offer(c.token, c.logit);
  } else {
    offer(most_probable, max);  // first, so that few of the others are worth a logarithm
    for (size_t token = 0; token < logits.size(); ++token) offer(static_cast<int32_t>(token), logits[token]);
  }
  return best_token;
}

}  // namespace outrider::verify
