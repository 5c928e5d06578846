// What a bench measured, by category and drafter, as a table for people and as JSON for programs. Rates are sums of tokens over sums
// of seconds, so a long answer counts for more than a short one; no mean of ratios.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/jsonl.hpp"
#include "scheduler/engine.hpp"

namespace outrider::cli {

// One prompt, run plainly and with one drafter (each the median run of its repeats).
struct Pair {
  std::string category;
  std::string drafter;
  scheduler::Timing plain, drafted;
  scheduler::SpeculationStats speculation;
  bool identical;
};

struct BenchRow {
  std::string category;  // or "overall"
  std::string drafter;
  int64_t prompts = 0;
  double tokens_per_second = 0;        // decode: output tokens after the first, over the seconds they took
  double plain_tokens_per_second = 0;
  double speedup = 0;                  // 0 when nothing was decoded
  double acceptance_length = 0;
  bool identical = true;
};

// Rows for each drafter in the order first seen: its categories in `categories`' order, then "overall". A category without a prompt
// has no row.
std::vector<BenchRow> summarise(const std::vector<Pair>& pairs, const std::vector<std::string>& categories);

std::string table(const std::vector<BenchRow>& rows);
Json rows_json(const std::vector<BenchRow>& rows);  // [{category, drafter, tokens_per_second, …}]

}  // namespace outrider::cli
