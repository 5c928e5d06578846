// What `bench kernels` found, from samples to the figures that are shown: medians, the limits that the peaks imply, and each figure's share
// of its limit; as a screen of text and as JSON (README.md names the fields).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/jsonl.hpp"
#include "cli/limits.hpp"

namespace outrider::cli {

// Seconds; several of each. The middle one counts: the machine is shared, and what else it does comes and goes.
struct Samples {
  std::vector<double> decode;                                        // of all tokens of a sample
  std::map<int32_t, std::vector<double>> prefill;                    // by prompt length
  std::map<int32_t, std::map<int32_t, std::vector<double>>> passes;  // by context, by rows
};

struct KernelsResult {
  std::string machine, model;
  int32_t decode_tokens = 0, decode_context = 0;  // tokens of a decode sample, prompt before it
  int32_t prefill_tokens = 0;                     // the prompt length that the headline is about
  int32_t prefill_chunk = 0;                      // rows of one of its passes
  Peaks peaks;                                    // medians of all rounds
  Peaks best;                                     // of all rounds: what the machine gives when nobody else wants it
  Samples own;
  std::optional<Samples> peer;
  std::string peer_version, peer_error;  // why its figures are missing or incomplete
};

double median(std::vector<double> values);  // of one value at least; of an even number the lower middle one

// Seconds at the least of decoding, and of reading a prompt of `tokens` tokens.
double least_decode_seconds(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type);
double least_prefill_seconds(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type, int32_t tokens);

std::string kernels_text(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type);
Json kernels_json(const KernelsResult& result, const model::Transformer& target, kernels::KvType kv_type);

}  // namespace outrider::cli
