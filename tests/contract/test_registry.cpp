#include <catch2/catch.hpp>

#include "drafting/registry.hpp"
#include "support.hpp"

using namespace outrider;
using namespace outrider::drafting;
using Catch::Matchers::Contains;

namespace {

DrafterFactory no_factory() {
  return [](const HandOver&) -> Result<std::unique_ptr<Drafter>> { return Error{"not made"}; };
}

}  // namespace

TEST_CASE("a name is registered once and the second is refused with who has it") {
  Registry registry;
  REQUIRE(registry.add("twin", "/a/twin.so", no_factory()).ok());
  const auto second = registry.add("twin", "/b/twin.so", no_factory());
  REQUIRE_FALSE(second.ok());
  CHECK_THAT(second.error().message, Contains("the name is taken by /a/twin.so"));
}

TEST_CASE("the name for plain decoding is reserved") { CHECK_FALSE(Registry().add("none", "/a/none.so", no_factory()).ok()); }

TEST_CASE("asking for an unknown name lists those there are and the nearest") {
  Registry registry;
  REQUIRE(registry.add("harrier", "/a/harrier.so", no_factory()).ok());
  REQUIRE(registry.add("kestrel", "/a/kestrel.so", no_factory()).ok());
  const auto found = registry.find("kestral");
  REQUIRE_FALSE(found.ok());
  CHECK_THAT(found.error().message, Contains("there are: harrier, kestrel") && Contains("did you mean 'kestrel'?"));
}

TEST_CASE("a configured name without a library is refused with the folders that were searched") {
  contract::Setup setup;
  setup.name = "unheard_of";
  CHECK_THAT(contract::refusal(contract::Session(setup)), Contains("unheard_of.so") && Contains(OUTRIDER_TEST_PLUGINS));
}
