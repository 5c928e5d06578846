#include "scheduler/cost_curve.hpp"

#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/tiny_model.hpp"

using namespace outrider;
using scheduler::CostCurve;
using scheduler::PassTimes;

namespace {

// A file that is gone with the object.
struct TemporaryFile {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("outrider-cost-" + std::to_string(::getpid())) / "curve.json";
  ~TemporaryFile() {
    std::error_code ignored;
    std::filesystem::remove_all(path.parent_path(), ignored);
  }
};

}  // namespace

TEST_CASE("the cost beyond the curve's end goes on along its slope") {
  const CostCurve curve{{0, 1, 1.5, 2.0, 2.5}, {0, 0}};
  CHECK(curve.cost(1, 0) == 1.0);
  CHECK(curve.cost(4, 0) == 2.5);
  CHECK(curve.cost(6, 0) == Approx(3.5));
}

TEST_CASE("a curve goes through what was timed, straight between, relative to one row") {
  PassTimes times;
  times.far_context = 1000;
  times.points = {{1, {0.010, 0.012}}, {4, {0.013, 0.020}}, {8, {0.020, 0.030}}};
  const CostCurve curve = times.curve();
  CHECK(curve.cost(1, 0) == 1.0);
  CHECK(curve.cost(2, 0) == Approx(1.1));
  CHECK(curve.cost(4, 0) == Approx(1.3));
  CHECK(curve.cost(8, 0) == Approx(2.0));
  CHECK(curve.cost(1, 1000) == Approx(1.2));
  CHECK(curve.cost(4, 500) == Approx(1.3 + 0.35));
}

TEST_CASE("a curve is held within reason: more rows never cost less, nor more than as many passes") {
  PassTimes times;
  times.far_context = 1000;
  times.points = {{1, {0.010, 0.009}}, {2, {0.005, 0.030}}, {4, {0.100, 0.100}}};  // as noise can make them
  const CostCurve curve = times.curve();
  for (int32_t rows = 2; rows <= 40; ++rows) {
    CHECK(curve.cost(rows, 0) >= curve.cost(rows - 1, 0));
    CHECK(curve.cost(rows, 5000) >= curve.cost(rows - 1, 5000));
    CHECK(curve.cost(rows, 0) <= rows);
  }
}

TEST_CASE("one slow pass of few rows does not make the rows added to it look cheap") {
  PassTimes times;
  times.far_context = 1000;
  times.points = {{1, {0.010, 0.030}}, {2, {0.010, 0.014}}, {8, {0.020, 0.030}}};  // one row was disturbed at the far context
  const CostCurve curve = times.curve();
  CHECK(curve.cost(1, 1000) == Approx(1.4));
  CHECK(curve.cost(8, 1000) / curve.cost(1, 1000) == Approx(3.0 / 1.4));
  times.points[1] = {0.050, 0.030};  // at the short one too
  CHECK(times.curve().cost(8, 0) == Approx(2.0));
}

TEST_CASE("without any time M rows cost M passes, so that nothing is drafted blindly") {
  CHECK(PassTimes().curve().cost(8, 0) == 8.0);
}

TEST_CASE("a far context that was not timed costs what the rows before it cost") {
  PassTimes times;
  times.far_context = 1000;
  times.points = {{1, {0.010, 0.012}}, {8, {0.020, 0}}};
  CHECK(times.curve().cost(8, 1000) == Approx(2.0 + 0.2));
}

TEST_CASE("measuring keeps the least time of each pass and stays within its budget") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::best_isa(), {.context_length = 2048});
  model::KvCache cache(target->architecture(), kernels::KvType::f16, 2048);
  PassTimes times;
  times.measure(*target, cache, 2048, 0.3);
  CHECK(times.far_context == 1024);
  REQUIRE(times.points.size() == 6);
  CHECK(cache.available() == cache.capacity());
  const auto before = times.points;
  times.measure(*target, cache, 2048, 0.3);
  for (const auto& [rows, point] : before) {
    CHECK(times.points[rows].near <= point.near);
    CHECK(times.points[rows].far <= point.far);
    CHECK(point.near > 0);
    CHECK((point.far > 0 || rows == 32));  // a batch that wide holds many requests, whose contexts differ
  }
  PassTimes least;
  least.measure(*target, cache, 2048, 0.0);
  CHECK(least.points.size() == 2);  // one row and eight, whatever they cost
  CHECK(least.curve().cost(8, 0) >= 1.0);
}

TEST_CASE("a context too short for all row counts is measured as far as it goes") {
  kernels::ThreadPool pool(1);
  const auto target = tests::tiny_model(pool, kernels::best_isa(), {.context_length = 16});
  model::KvCache cache(target->architecture(), kernels::KvType::f16, 16);
  PassTimes times;
  times.measure(*target, cache, 16, 0.1);
  CHECK(times.far_context == 0);
  CHECK(times.points.rbegin()->first == 16);
}

TEST_CASE("times are found again under their key, and under no other; a damaged file counts as none") {
  const TemporaryFile file;
  PassTimes times;
  times.far_context = 1024;
  times.points = {{1, {0.01, 0.02}}, {8, {0.015, 0}}};
  REQUIRE(scheduler::write_pass_times(file.path, "a machine", times).ok());
  const PassTimes again = scheduler::read_pass_times(file.path, "a machine");
  CHECK(again.far_context == 1024);
  REQUIRE(again.points.size() == 2);
  CHECK(again.points.at(8).near == 0.015);
  CHECK(again.points.at(1).far == 0.02);
  CHECK(scheduler::read_pass_times(file.path, "another machine").points.empty());
  CHECK(scheduler::read_pass_times(file.path.parent_path() / "none.json", "a machine").points.empty());
  for (const std::string text : {"", "{", "[]", "{\"key\": \"a machine\"}", "{\"key\": 3}",
                                 "{\"key\": \"a machine\", \"far_context\": 1, \"seconds\": {\"x\": [1, 1]}}",
                                 "{\"key\": \"a machine\", \"far_context\": 1, \"seconds\": {\"1\": [-1, 1]}}",
                                 "{\"key\": \"a machine\", \"far_context\": 1, \"seconds\": {\"1\": [null, 1]}}",
                                 "{\"key\": \"a machine\", \"far_context\": 1, \"seconds\": {\"1\": 5}}"}) {
    std::ofstream(file.path) << text;
    INFO(text);
    CHECK(scheduler::read_pass_times(file.path, "a machine").points.empty());
  }
}

TEST_CASE("times that cannot be written are an error that names the file") {
  const auto written = scheduler::write_pass_times("/proc/outrider/curve.json", "key", {});
  REQUIRE_FALSE(written.ok());
  CHECK_THAT(written.error().message, Catch::Contains("/proc/outrider/curve.json"));
}
