#include <catch2/catch.hpp>
#include <map>

#include "drafting/corpus_manager.hpp"
#include "outrider/corpora.h"
#include "support.hpp"

using namespace contract;
using namespace outrider;
using namespace outrider::drafting;
using Catch::Matchers::Contains;

namespace {

// A drafter's side, which only remembers.
struct Received {
  std::map<std::string, std::vector<int32_t>> corpora;
  CorpusSink sink() {
    return {[this](const std::string& name, std::span<const int32_t> tokens) -> Result<void> {
              corpora[name].assign(tokens.begin(), tokens.end());
              return {};
            },
            [this](const std::string& name) -> Result<void> { return corpora.erase(name) ? Result<void>() : Error{"not here"}; }};
  }
};

}  // namespace

TEST_CASE("documents of a file reach the drafter with a break between them, text tokenized and ids as they are") {
  const TemporaryFolder folder;
  const auto file = folder.write("mixed.jsonl", "\"ab\"\n\n[7, 8]\n  \n\"\"\n");
  Received received;
  CorpusManager manager(received.sink(), byte_tokens, 256);
  REQUIRE(manager.add_file("mixed", file).ok());
  CHECK(received.corpora["mixed"] == std::vector<int32_t>{'a', 'b', OUTRIDER_CORPUS_BREAK, 7, 8});
  REQUIRE(manager.list().size() == 1);
  CHECK(manager.list()[0].documents == 2);
  CHECK(manager.list()[0].tokens == 4);
}

TEST_CASE("a bad line is refused with file and line, and an earlier corpus of that name stays") {
  const TemporaryFolder folder;
  Received received;
  CorpusManager manager(received.sink(), byte_tokens, 256);
  REQUIRE(manager.add("c", {{1, 2}}).ok());
  for (const auto& [bytes, words] :
       std::vector<std::pair<std::string, std::string>>{{"[1]\n{\"a\": 1}\n", ":2: expected a JSON string"},
                                                        {"[1, 256]\n", ":1: expected token ids from 0 to 255, found 256"},
                                                        {"[1, 99999999999]\n", ":1: expected a JSON string"},
                                                        {"[1, 2\n", ":1: expected a JSON string"},
                                                        {"", "expected at least one token"}}) {
    const auto added = manager.add_file("c", folder.write("bad.jsonl", bytes));
    REQUIRE_FALSE(added.ok());
    CHECK_THAT(added.error().message, Contains(words));
  }
  CHECK_FALSE(manager.add_file("c", folder.path() / "absent.jsonl").ok());
  CHECK(received.corpora["c"] == std::vector<int32_t>{1, 2});
}

TEST_CASE("a corpus is removed by name, and an unknown name lists those there are") {
  Received received;
  CorpusManager manager(received.sink(), byte_tokens, 256);
  REQUIRE(manager.add("first", {{1}}).ok());
  const auto wrong = manager.remove("second");
  REQUIRE_FALSE(wrong.ok());
  CHECK_THAT(wrong.error().message, Contains("there are: first"));
  REQUIRE(manager.remove("first").ok());
  CHECK(received.corpora.empty());
  CHECK(manager.list().empty());
}

TEST_CASE("corpora go when their owner goes") {
  Received received;
  {
    CorpusManager manager(received.sink(), byte_tokens, 256);
    REQUIRE(manager.add("c", {{1}}).ok());
    REQUIRE(received.corpora.size() == 1);
  }
  CHECK(received.corpora.empty());
}
