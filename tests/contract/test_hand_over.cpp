// Building a drafter that fails: the target's configuration is the same object afterwards, and the refusal says why. What is current at
// each moment in between is test_moments.cpp's.
#include <catch2/catch.hpp>

#include "config/draft_copy.hpp"
#include "drafting/corpus_manager.hpp"
#include "drafting/hand_over.hpp"
#include "support.hpp"

using namespace contract;
using namespace outrider;
using Catch::Matchers::Contains;

namespace {

Setup witness(const std::string& fail_at = "never") {
  Setup setup;
  setup.name = "witness";
  setup.library = evil("witness");
  setup.options = {{"fail_at", fail_at}};
  // What the draft copy differs in.
  setup.fields = {{"spec.draft_load_format", std::string("safetensors")}};
  return setup;
}

}  // namespace

TEST_CASE("the target's configuration is the same object after construction, wherever it fails") {
  const TemporaryFolder folder;
  const std::string corpus = folder.write("corpus.jsonl", "[1, 2, 3]\n").string();
  const auto [fail_at, expected] = GENERATE(table<std::string, std::string>({{"never", ""},
                                                                             {"factory", "failing at the factory as asked"},
                                                                             {"worker", "failing at the worker as asked"},
                                                                             {"corpora", "failing at the corpora as asked"}}));
  Setup setup = witness(fail_at);
  setup.corpora = {{"shared", corpus}};
  Session session(setup);
  CHECK_THAT(refusal(session), Contains(expected));
  // Again, on a context with overrides, to compare before and after.
  REQUIRE(session.context.override("test", {{"schedule.prefill_chunk", int64_t{64}}}).ok());
  const auto before = session.context.snapshot();
  const drafting::TargetInfo target = {
      .vocab_size = kVocabSize, .context_length = 4096, .max_requests = 8, .architecture = "test", .tokenizer_fingerprint = ""};
  const auto again = drafting::make_drafter(session.context, setup.name, target, byte_tokens);
  CHECK(again.ok() == (fail_at == "never"));
  CHECK(session.context.snapshot() == before);  // states are immutable: the same object is the same configuration, overrides and log
  CHECK(session.context.overrides_log().size() == 1);
}

TEST_CASE("an exception in the worker's construction closes the window too") {
  for (const std::string mode : {"factory_throws", "worker_throws", "worker_fails", "factory_fails"}) {
    Setup setup = misbehaving(mode);
    Session session(setup);
    CHECK(refusal(session) != "");
    CHECK(session.context.role() == config::Role::test);
    CHECK(session.context.get_model().load_format == "auto");
  }
}

TEST_CASE("a factory or worker that fails is refused with its own words") {
  CHECK_THAT(refusal(Session(misbehaving("factory_throws"))), Contains("its factory failed") && Contains("no such weights"));
  CHECK_THAT(refusal(Session(misbehaving("factory_fails"))), Contains("the weights are not there"));
  CHECK_THAT(refusal(Session(misbehaving("factory_makes_nothing"))), Contains("it made no drafter"));
  CHECK_THAT(refusal(Session(misbehaving("worker_throws"))), Contains("an exception left it"));
  CHECK_THAT(refusal(Session(misbehaving("worker_fails"))), Contains("no room for the worker"));
}

TEST_CASE("a need the host does not offer is refused by its name") {
  CHECK_THAT(refusal(Session(misbehaving("needs_hidden_states"))), Contains("the target's hidden states"));
}

TEST_CASE("corpora for a drafter that takes none are refused") {
  Setup setup = misbehaving("well_behaved");
  setup.corpora = {{"shared", "anything.jsonl"}};
  CHECK_THAT(refusal(Session(setup)), Contains("takes no corpora"));
}
