#include <catch2/catch.hpp>

#include "drafting/plugin_options.hpp"
#include "support.hpp"

using namespace contract;
using Catch::Matchers::Contains;

TEST_CASE("a mistyped option is answered with the nearest valid one") {
  Setup setup = misbehaving("well_behaved");
  setup.options.push_back({"fault", int64_t{1}});
  CHECK_THAT(refusal(Session(setup)), Contains("[drafter.bad] has no option 'fault'; did you mean 'faults'?"));
}

TEST_CASE("a value out of range, of another type or not among the choices says what was expected") {
  Setup range = misbehaving("well_behaved");
  range.options = {{"mode", std::string("well_behaved")}, {"faults", int64_t{-1}}};
  CHECK_THAT(refusal(Session(range)), Contains("faults: expected an integer from 0 to 1e+09, found -1"));
  Setup type = misbehaving("well_behaved");
  type.options = {{"mode", std::string("well_behaved")}, {"faults", std::string("many")}};
  CHECK_THAT(refusal(Session(type)), Contains("faults: expected an integer") && Contains("found \"many\""));
  CHECK_THAT(refusal(Session(misbehaving("polite"))), Contains("mode: expected one of \"well_behaved\""));
}

TEST_CASE("all faults of a table are reported together") {
  Setup setup = misbehaving("polite");
  setup.options.push_back({"colour", true});
  CHECK_THAT(refusal(Session(setup)), Contains("mode: expected") && Contains("no option 'colour'"));
}

TEST_CASE("an option that must be set is asked for") {
  Setup setup = misbehaving("well_behaved");
  setup.options.clear();
  CHECK_THAT(refusal(Session(setup)), Contains("option 'mode' must be set"));
}

TEST_CASE("a default outside its own range is the plugin's fault and said to be") {
  const outrider_option option = {sizeof(outrider_option), OUTRIDER_OPTION_INT, 0, 0, "depth", "how deep", "9", nullptr, 1, 8, nullptr};
  const outrider_option* const all[] = {&option};
  const auto values = outrider::drafting::option_values(all, nullptr, "x");
  REQUIRE_FALSE(values.ok());
  CHECK_THAT(values.error().message, Contains("the plugin's declaration: the default of depth, '9', is not an integer from 1 to 8"));
}

TEST_CASE("an integer is taken where a number is wanted") {
  const outrider_option option = {sizeof(outrider_option), OUTRIDER_OPTION_FLOAT, 0, 0, "share", "", "0.5", nullptr, 0, 1, nullptr};
  const outrider_option* const all[] = {&option};
  outrider::config::DrafterTable table;
  table.options.push_back({"share", int64_t{1}, {}});
  auto values = outrider::drafting::option_values(all, &table, "x");
  REQUIRE(values.ok());
  CHECK(std::get<double>(values->at("share")) == 1.0);
}
