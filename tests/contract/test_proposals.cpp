// The guard in action: each broken proposal costs its draft and a strike, never a request.
#include <catch2/catch.hpp>

#include "drafting/guard.hpp"
#include "support.hpp"

using namespace contract;
using namespace outrider;
using Catch::Matchers::Contains;

namespace {

const std::vector<int32_t> kPrompt = {1, 2, 3};

// Opens request 1 and makes `rounds` rounds; the last draft.
verify::DraftTree ride(Session& session, int rounds = 1) {
  std::vector<int32_t> tokens = kPrompt;
  if (!session->open(1, tokens, 0, 0, 100)) return {};
  verify::DraftTree draft;
  for (int i = 0; i < rounds; ++i) {
    tokens.push_back(10 + i);
    draft = session.propose(1, tokens, 1);
  }
  return draft;
}

}  // namespace

TEST_CASE("a draft that keeps the contract comes through unchanged") {
  Session session(misbehaving("well_behaved"));
  REQUIRE(refusal(session) == "");
  const auto draft = ride(session);
  CHECK(draft.tokens == std::vector<int32_t>{11, 12, 13, 14});
  CHECK(draft.parents == std::vector<int32_t>{-1, 0, 1, 2});
  CHECK(draft.log_q == std::vector<float>(4, -0.5F));
  CHECK(session->report().faults == 0);
}

TEST_CASE("a broken proposal is dropped, counted and told") {
  const auto [mode, words] = GENERATE(table<std::string, std::string>({
      {"out_of_vocabulary", "node 1: token id 1000 is outside the vocabulary of 1000"},
      {"negative_id", "node 0: token id -7 is outside the vocabulary"},
      {"too_many", "it proposed 9 nodes where 8 were allowed"},
      {"parents_after_children", "node 0: parent 1 is neither -1 nor an earlier node"},
      {"own_parent", "node 1: parent 1 is neither -1 nor an earlier node"},
      {"too_deep", "depth 5 is more than the 4 allowed"},
      {"same_siblings", "is the same as its sibling node 0"},
      {"nan_log_q", "is not the logarithm of a probability"},
      {"positive_log_q", "is not the logarithm of a probability"},
      {"nodes_without_draft", "it wrote nodes and said there were none"},
      {"unknown_status", "status 17, which the contract does not know"},
      {"item_fails", "internal error"},
      {"propose_fails", "not today"},
      {"propose_throws", "an exception left it: did not expect that"},
      {"overrun", "wrote beyond the buffers"},
      {"underrun", "wrote beyond the buffers"},
      {"slow", "microseconds where 20000 were allowed"},
  }));
  Session session(misbehaving(mode));
  REQUIRE(refusal(session) == "");
  const auto draft = ride(session);
  CHECK((draft.size() == 0 || mode == "slow"));  // a late draft is still a valid one
  const auto report = session->report();
  CHECK(report.faults == 1);
  CHECK_THAT(report.last_fault, Contains(words) && Contains("propose: "));
}

TEST_CASE("random valid chains and trees are never taken for faults") {
  for (const std::string mode : {"random_chain", "random_tree", "always_wrong", "nothing"}) {
    Session session(misbehaving(mode));
    REQUIRE(refusal(session) == "");
    ride(session, 300);
    INFO(mode);
    CHECK(session->report().calls == 300);
    CHECK(session->report().faults == 0);
  }
}

TEST_CASE("three faults in a row leave the drafter out, and a good trial brings it back with its request") {
  Session session(misbehaving("out_of_vocabulary", 3));
  REQUIRE(refusal(session) == "");
  std::vector<int32_t> tokens = kPrompt;
  REQUIRE(session->open(1, tokens, 0, 0, 1000));
  int drafts = 0, calls_when_open = 0;
  for (int round = 0; round < 3 + static_cast<int>(drafting::CircuitBreaker::kFirstPause) + 2; ++round) {
    tokens.push_back(7);
    drafts += session.propose(1, tokens, 1).size() > 0;
    if (round == 2) {
      CHECK(session->report().breaker_open);
      calls_when_open = static_cast<int>(session->report().calls);
    }
  }
  CHECK(calls_when_open == 3);
  CHECK(session->report().faults == 3);
  CHECK(drafts > 0);
}

TEST_CASE("a drafter that is left out takes requests in again when its pause is over") {
  Session session(misbehaving("propose_throws", 1));
  REQUIRE(refusal(session) == "");
  ride(session);  // an exception opens the breaker at once
  REQUIRE(session->report().breaker_open);
  std::vector<int32_t> tokens = {4, 5, 6};
  REQUIRE(session->open(2, tokens, 0, 0, 1000));
  int drafts = 0;
  for (int round = 0; round < drafting::CircuitBreaker::kFirstPause + 1; ++round) {
    tokens.push_back(7);
    drafts += session.propose(2, tokens, 1).size() > 0;
  }
  CHECK(drafts > 0);
  CHECK_FALSE(session->report().breaker_open);
}

TEST_CASE("a drafter that wrote beyond its buffers is never called again") {
  Session session(misbehaving("overrun"));
  REQUIRE(refusal(session) == "");
  ride(session, 2000);
  CHECK(session->report().calls == 1);
  CHECK(session->report().breaker_open);
  CHECK_FALSE(session->open(9, kPrompt, 0, 0, 10));
}

TEST_CASE("a drafter that will not begin a request leaves it to decode plainly") {
  Session declines(misbehaving("begin_declines"));
  CHECK_FALSE(declines->open(1, kPrompt, 0, 0, 10));
  CHECK(declines->report().faults == 0);
  Session fails(misbehaving("begin_fails"));
  CHECK_FALSE(fails->open(1, kPrompt, 0, 0, 10));
  CHECK_THAT(fails->report().last_fault, Contains("request_begin: internal error: will not begin"));
  Session throws(misbehaving("begin_throws"));
  CHECK_FALSE(throws->open(1, kPrompt, 0, 0, 10));
  CHECK(throws->report().breaker_open);
}

TEST_CASE("an exception in on_verified opens the breaker and keeps the request") {
  Session session(misbehaving("verified_throws"));
  REQUIRE(refusal(session) == "");
  REQUIRE(ride(session).size() == 4);
  const std::vector<int32_t> accepted = {0, 1};
  const drafting::VerifiedRequest verified = {1, accepted, 42};
  session->on_verified(std::span(&verified, 1));
  CHECK(session->report().breaker_open);
  CHECK_THAT(session->report().last_fault, Contains("on_verified: an exception left it"));
  session->close(1);
}

TEST_CASE("one request's fault leaves the drafts of the others standing") {
  Session session(misbehaving("out_of_vocabulary"));
  REQUIRE(refusal(session) == "");
  std::vector<int32_t> tokens = {1, 2};
  REQUIRE(session->open(1, tokens, 0, 0, 10));
  REQUIRE(session->open(2, tokens, 0, 0, 10));
  // With room for one node this mode has nowhere to write its bad id.
  drafting::DraftRequest batch[] = {{1, tokens, 0, 4, 4, {}}, {2, tokens, 0, 1, 1, {}}};
  session->propose(batch);
  CHECK(batch[0].draft.size() == 0);
  CHECK(batch[1].draft.size() == 1);
  CHECK(session->report().faults == 1);
}

TEST_CASE("no room for nodes and an unknown request ask nothing of the drafter") {
  Session session(misbehaving("propose_throws"));
  REQUIRE(refusal(session) == "");
  REQUIRE(session->open(1, kPrompt, 0, 0, 10));
  CHECK(session.propose(1, kPrompt, 0, 0, 4).size() == 0);
  CHECK(session.propose(77, kPrompt, 0).size() == 0);
  CHECK(session->report().calls == 0);
}

TEST_CASE("with trees switched off a tree is a fault and a chain is not") {
  Setup setup = misbehaving("random_tree");
  setup.fields = {{"spec.tree", false}};
  Session session(setup);
  REQUIRE(refusal(session) == "");
  CHECK_FALSE(session->proposes_trees());
  ride(session, 50);
  CHECK_THAT(session->report().last_fault, Contains("where only chains are allowed"));
}
