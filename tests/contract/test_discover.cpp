#include <algorithm>
#include <catch2/catch.hpp>

#include "support.hpp"

using namespace contract;
using namespace outrider;
using Catch::Matchers::Contains;

TEST_CASE("every reachable plugin is listed, with its identity or the reason why not") {
  const TemporaryFolder folder;
  folder.write("echo.so", read(evil("echo")));
  folder.write("broken.so", "no library at all");
  folder.write("notes.txt", "not a candidate");
  config::ServerArgs args;
  args.plugin_paths = {folder.path().string()};
  config::DrafterTable table;
  table.name = "absent";
  args.drafters.push_back(table);

  const auto found = drafting::discover(args);
  const auto named = [&](const std::string& name) {
    const auto at = std::find_if(found.begin(), found.end(), [&](const auto& plugin) { return plugin.name == name; });
    REQUIRE(at != found.end());
    return *at;
  };
  CHECK(named("echo").loadable);
  CHECK(named("echo").id == "org.example.echo");
  CHECK(named("echo").version == "1.0.0");
  CHECK_FALSE(named("broken").loadable);
  CHECK_THAT(named("broken").why_not, Contains("another type"));
  CHECK_THAT(named("absent").why_not, Contains("there is no absent.so"));
  CHECK(std::none_of(found.begin(), found.end(), [](const auto& plugin) { return plugin.name == "notes"; }));
}
