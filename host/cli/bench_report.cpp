#include "cli/bench_report.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>

namespace outrider::cli {
namespace {

BenchRow row_over(const std::vector<Pair>& pairs, const std::string& category, const std::string& drafter) {
  BenchRow row;
  row.category = category;
  row.drafter = drafter;
  scheduler::Timing plain, drafted;
  scheduler::SpeculationStats speculation;
  for (const Pair& pair : pairs) {
    if (pair.drafter != drafter || (category != "overall" && pair.category != category)) continue;
    ++row.prompts;
    plain.decode_tokens += pair.plain.decode_tokens;
    plain.decode_seconds += pair.plain.decode_seconds;
    drafted.decode_tokens += pair.drafted.decode_tokens;
    drafted.decode_seconds += pair.drafted.decode_seconds;
    speculation.rounds += pair.speculation.rounds;
    speculation.drafted += pair.speculation.drafted;
    speculation.correct_drafts += pair.speculation.correct_drafts;
    row.identical = row.identical && pair.identical;
  }
  row.tokens_per_second = drafted.decode_tokens_per_second();
  row.plain_tokens_per_second = plain.decode_tokens_per_second();
  if (row.plain_tokens_per_second > 0) row.speedup = row.tokens_per_second / row.plain_tokens_per_second;
  row.acceptance_length = speculation.acceptance_length();
  return row;
}

}  // namespace

std::vector<BenchRow> summarise(const std::vector<Pair>& pairs, const std::vector<std::string>& categories) {
  std::vector<std::string> drafters;
  for (const Pair& pair : pairs) {
    if (std::find(drafters.begin(), drafters.end(), pair.drafter) == drafters.end()) drafters.push_back(pair.drafter);
  }
  std::vector<BenchRow> rows;
  for (const std::string& drafter : drafters) {
    for (const std::string& category : categories) {
      if (BenchRow row = row_over(pairs, category, drafter); row.prompts > 0) rows.push_back(std::move(row));
    }
    rows.push_back(row_over(pairs, "overall", drafter));
  }
  return rows;
}

std::string table(const std::vector<BenchRow>& rows) {
  size_t category = 8, drafter = 7;
  for (const BenchRow& row : rows) {
    category = std::max(category, row.category.size());
    drafter = std::max(drafter, row.drafter.size());
  }
  std::string text = fmt::format("{:{}}  {:{}}  {:>7}  {:>8}  {:>8}  {:>7}  {:>10}  {}\n", "category", category, "drafter", drafter,
                                 "prompts", "tokens/s", "plain", "speedup", "acceptance", "identical");
  for (const BenchRow& row : rows) {
    text += fmt::format("{:{}}  {:{}}  {:>7}  {:>8.1f}  {:>8.1f}  {:>6.2f}x  {:>10.2f}  {}\n", row.category, category, row.drafter, drafter,
                        row.prompts, row.tokens_per_second, row.plain_tokens_per_second, row.speedup, row.acceptance_length,
                        row.identical ? "yes" : "NO");
  }
  return text;
}

Json rows_json(const std::vector<BenchRow>& rows) {
  Json list = Json::array();
  for (const BenchRow& row : rows) {
    list.push_back({{"category", row.category},
                    {"drafter", row.drafter},
                    {"tokens_per_second", row.tokens_per_second},
                    {"plain_tokens_per_second", row.plain_tokens_per_second},
                    {"speedup", row.speedup},
                    {"acceptance_length", row.acceptance_length},
                    {"identical", row.identical}});
  }
  return list;
}

}  // namespace outrider::cli
