// What a pass over M rows costs on this machine, which is what a draft's length is weighed against. Passes are timed when a drafter is
// added, for at most a given time, and the least time of each is kept: other work on the machine can only add to it. Kept in a file, the
// times of earlier starts are there at once and are improved by later ones, so that one noisy start cannot mislead for long.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "model/kv_cache.hpp"
#include "model/transformer.hpp"

namespace outrider::scheduler {

// The time of a pass over M rows, relative to one row at a short context. Attention makes rows dearer as the context grows, linearly.
struct CostCurve {
  std::vector<double> at_start = {0, 1};    // by M, from 1 ([0] is not read); beyond its end it goes on linearly
  std::vector<double> a_position = {0, 0};  // by M: what each position of context adds

  [[nodiscard]] double cost(int32_t rows, double context) const;
};

// The least seconds seen of passes over some numbers of rows.
struct PassTimes {
  struct Point {
    double near = 0, far = 0;  // at a short context and at `far_context`; 0: not timed
  };
  int32_t far_context = 0;          // positions; 0: nothing was measured yet, or the context is too short for two points
  std::map<int32_t, Point> points;  // by rows

  // Times passes for about `budget` seconds, first those that were never timed, then all again in turn. One row and eight are timed in any
  // case. Uses a part of the cache that is free; false, and nothing measured, when there is none.
  bool measure(model::Transformer& target, model::KvCache& cache, int32_t context_length, double budget);

  // The curve through the points, each held within reason: M rows cost no more than M passes, and no less than fewer rows.
  [[nodiscard]] CostCurve curve() const;
};

// A file of times for one combination of model, machine and threads, which `key` spells out; a file with another key, or a damaged one,
// counts as none.
PassTimes read_pass_times(const std::filesystem::path& file, const std::string& key);
// Written whole or not at all. Errors name the file.
Result<void> write_pass_times(const std::filesystem::path& file, const std::string& key, const PassTimes& times);

}  // namespace outrider::scheduler
