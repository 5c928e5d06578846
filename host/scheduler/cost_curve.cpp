#include "scheduler/cost_curve.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

namespace outrider::scheduler {
namespace {

// What is timed, in this order: on a large model, of which the budget buys few passes, the curve still has its two ends. Few rows are timed
// oftenest, since most drafts are short and every cost is relative to one row's; between these counts the cost is nearly straight.
struct Pass {
  int32_t rows;
  bool far;
};
constexpr Pass kTimings[] = {{1, false}, {8, false}, {1, true},   {8, true}, {2, false}, {2, true},  {4, false}, {4, true},
                             {1, false}, {1, true},  {16, false}, {2, true}, {4, true},  {16, true}, {32, false}};
constexpr int kNeeded = 2;  // the first so many are timed whatever they cost: without them there is no curve
constexpr int32_t kMostRows = 32;
constexpr int32_t kFarContext = 1024;
constexpr int kRounds = 6;  // enough on a small model, whose rounds cost little

// Seconds of one pass over `rows` rows that each see `context` positions of (empty) cache.
double time_pass(model::Transformer& target, model::KvCache& cache, const model::KvSequence& sequence, int32_t rows, int32_t context) {
  using Clock = std::chrono::steady_clock;
  model::Batch batch;
  for (int32_t i = 0; i < rows; ++i) batch.add_contiguous(0, context + i, &sequence, model::Want::token);
  const auto start = Clock::now();
  (void)target.forward(batch, cache);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

double CostCurve::cost(int32_t rows, double context) const {
  const auto along = [rows](const std::vector<double>& curve) {
    const auto last = static_cast<int32_t>(curve.size()) - 1;
    if (rows <= last) return curve[static_cast<size_t>(std::max(rows, 1))];
    const double slope = last > 1 ? (curve[static_cast<size_t>(last)] - curve[static_cast<size_t>(last / 2)]) / (last - last / 2) : curve.back();
    return curve.back() + slope * (rows - last);
  };
  return std::min<double>(along(at_start), std::max(rows, 1)) + context * along(a_position);
}

bool PassTimes::measure(model::Transformer& target, model::KvCache& cache, int32_t context_length, double budget) {
  const int32_t context = std::min(kFarContext, std::max(0, context_length - kMostRows));
  auto sequence = cache.reserve(std::min(context_length, context + kMostRows));
  if (!sequence) return false;
  if (context != far_context) *this = {context, {}};  // another context: times at the old one say nothing
  cache.touch(*sequence);
  double spent = 0;
  const auto time = [&](Pass timing) {
    const double seconds = time_pass(target, cache, *sequence, timing.rows, timing.far ? context : 0);
    spent += seconds;
    Point& point = points[timing.rows];
    double& kept = timing.far ? point.far : point.near;
    kept = kept > 0 ? std::min(kept, seconds) : seconds;
  };
  const auto known = [&](Pass timing) {
    const auto found = points.find(timing.rows);
    return found == points.end() ? 0.0 : timing.far ? found->second.far : found->second.near;
  };
  // What a pass is expected to take: as it did, else as twice as many rows as the nearest that is known.
  const auto expected = [&](Pass timing) {
    if (known(timing) > 0) return known(timing);
    const auto nearest = points.lower_bound(timing.rows);
    return nearest != points.end() ? nearest->second.near : std::prev(points.end())->second.near * 2;
  };
  for (int round = 0; round <= kRounds; ++round) {
    int index = 0;
    for (const Pass timing : kTimings) {
      const bool needed = index++ < kNeeded;
      if (timing.rows > sequence->capacity() - context || (timing.far && context == 0)) continue;
      if (round == 0 && known(timing) > 0) continue;  // first what was never timed
      if ((round == 0 && needed) || spent + expected(timing) <= budget) time(timing);
    }
  }
  cache.release(*sequence);
  return true;
}

CostCurve PassTimes::curve() const {
  CostCurve curve;
  if (!points.contains(1)) return curve;  // M rows cost M passes: nothing is drafted
  // Other work on the machine only adds to a time, so where fewer rows took longer than more rows, it is theirs that is too long.
  std::map<int32_t, Point> least = points;
  double near = least.rbegin()->second.near, far = 0;
  for (auto point = least.rbegin(); point != least.rend(); ++point) {
    near = point->second.near = std::min(point->second.near, near);
    if (point->second.far > 0) far = point->second.far = far > 0 ? std::min(point->second.far, far) : point->second.far;
  }
  const auto first = least.begin();
  const double one = first->second.near;
  // Not timed at the far context: as the point before.
  const auto a_position = [&](const Point& point, double before) { return point.far > 0 ? (point.far - point.near) / one / far_context : before; };
  const double one_position = std::max(0.0, a_position(first->second, 0.0));
  curve.a_position[1] = one_position;
  for (auto point = std::next(first); point != least.end(); ++point) {
    const int32_t from = static_cast<int32_t>(curve.at_start.size()) - 1, to = point->first;
    const double cost_begin = curve.at_start.back(), position_begin = curve.a_position.back();
    const double cost = std::clamp(point->second.near / one, cost_begin, std::max(cost_begin, static_cast<double>(to)));
    const double position = std::clamp(a_position(point->second, position_begin), position_begin, std::max(position_begin, one_position * to));
    for (int32_t m = from + 1; m <= to; ++m) {
      const double part = static_cast<double>(m - from) / (to - from);
      curve.at_start.push_back(cost_begin + (cost - cost_begin) * part);
      curve.a_position.push_back(position_begin + (position - position_begin) * part);
    }
  }
  return curve;
}

PassTimes read_pass_times(const std::filesystem::path& file, const std::string& key) {
  std::ifstream in(file);
  const auto json = nlohmann::json::parse(in, nullptr, false);
  if (!json.is_object() || json.value("key", nlohmann::json()) != key) return {};
  try {
    PassTimes times;
    times.far_context = json.at("far_context").get<int32_t>();
    for (const auto& [rows, seconds] : json.at("seconds").items()) {
      const PassTimes::Point point{seconds.at(0).get<double>(), seconds.at(1).get<double>()};
      const int32_t m = std::stoi(rows);
      const auto sensible = [](double s) { return std::isfinite(s) && s > 0; };
      if (m < 1 || m > kMostRows || !sensible(point.near) || (point.far != 0 && !sensible(point.far))) return {};
      times.points[m] = point;
    }
    return times;
  } catch (const std::exception&) {  // another form than ours: as if there were no file
    return {};
  }
}

Result<void> write_pass_times(const std::filesystem::path& file, const std::string& key, const PassTimes& times) {
  nlohmann::json seconds = nlohmann::json::object();
  for (const auto& [rows, point] : times.points) seconds[std::to_string(rows)] = {point.near, point.far};
  const nlohmann::json json = {{"key", key}, {"far_context", times.far_context}, {"seconds", seconds}};
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  const std::filesystem::path part = file.string() + "." + std::to_string(::getpid()) + ".part";
  std::ofstream out(part);
  const bool written = static_cast<bool>(out << json.dump(1) << '\n' << std::flush);
  out.close();
  if (written) std::filesystem::rename(part, file, error);
  if (!written || error) {
    std::filesystem::remove(part, error);
    return Error{file.string() + ": cannot be written; check the folder's permissions and the disk"};
  }
  return {};
}

}  // namespace outrider::scheduler
