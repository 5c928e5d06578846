// The plugin through the front door: loaded by the host, asked through the scheduler's interface.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstring>
#include <random>

#include "drafting/corpus_manager.hpp"
#include "drafting/loader.hpp"
#include "outrider/plugin.h"
#include "support.hpp"

using namespace contract;
using namespace outrider;
using Catch::Matchers::Contains;

namespace {

Setup ngram_setup(std::vector<std::pair<std::string, OptionValue>> options = {}) {
  Setup setup;
  setup.name = "ngram";  // found by name, in the plugin folder
  setup.options = std::move(options);
  setup.options.push_back({"min_chance", 0.0});
  return setup;
}

}  // namespace

TEST_CASE("the n-gram drafter is found by name and proposes what followed before") {
  Session session(ngram_setup());
  REQUIRE(refusal(session) == "");
  CHECK(session->report().id == "org.outrider.ngram");
  CHECK(session->proposes_trees());
  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 6, 9, 1, 2, 3};
  REQUIRE(session->open(1, std::span(tokens).first(9), 0, 0, 100));
  const auto draft = session.propose(1, tokens, 1);
  REQUIRE(draft.size() >= 3);
  CHECK(std::vector<int32_t>(draft.tokens.begin(), draft.tokens.begin() + 3) == std::vector<int32_t>{4, 5, 6});
  CHECK(std::all_of(draft.log_q.begin(), draft.log_q.end(), [](float q) { return q < 0.0F; }));
  CHECK(session->report().faults == 0);
}

TEST_CASE("the n-gram drafter proposes nothing where nothing matches") {
  Session session(ngram_setup());
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 500; ++i) tokens.push_back(i);
  REQUIRE(session->open(1, tokens, 0, 0, 100));
  CHECK(session.propose(1, tokens, 0).size() == 0);
  CHECK(session->report().faults == 0);
}

TEST_CASE("different continuations become a tree, and a chain when one branch is wanted") {
  const std::vector<int32_t> tokens = {1, 2, 3, 30, 31, 1, 2, 3, 40, 41, 1, 2, 3};
  Session tree(ngram_setup());
  REQUIRE(tree->open(1, tokens, 0, 0, 100));
  const auto branching = tree.propose(1, tokens, 0);
  CHECK(std::count(branching.parents.begin(), branching.parents.end(), -1) == 2);
  Session chain(ngram_setup({{"branches", int64_t{1}}}));
  REQUIRE(chain->open(1, tokens, 0, 0, 100));
  const auto straight = chain.propose(1, tokens, 0);
  REQUIRE(straight.size() > 1);
  for (int32_t i = 0; i < straight.size(); ++i) CHECK(straight.parents[static_cast<size_t>(i)] == i - 1);
  CHECK(straight.tokens[0] == 40);  // the most recent
  Setup forbidden = ngram_setup();
  forbidden.fields = {{"spec.tree", false}};
  Session host_says(forbidden);
  REQUIRE(host_says->open(1, tokens, 0, 0, 100));
  CHECK(host_says.propose(1, tokens, 0).tokens == straight.tokens);
}

TEST_CASE("an unlucky request is drafted less and its neighbour is not") {
  Setup setup = ngram_setup();
  setup.options = {{"min_chance", 0.2}};
  Session session(setup);
  std::vector<int32_t> unlucky = {1, 2, 3, 4, 5, 6, 7, 1, 2, 3};
  const std::vector<int32_t> other = unlucky;
  REQUIRE(session->open(1, unlucky, 0, 0, 100));
  REQUIRE(session->open(2, other, 0, 0, 100));
  const int32_t at_first = session.propose(1, unlucky, 0).size();
  REQUIRE(at_first > 0);
  for (int round = 0; round < 20; ++round) {
    const int32_t surprise = 100 + round;  // each time something new follows 1 2 3
    const drafting::VerifiedRequest verified = {1, {}, surprise};
    session->on_verified(std::span(&verified, 1));
    unlucky.insert(unlucky.end(), {surprise, 1, 2, 3});
    session.propose(1, unlucky, 4);
  }
  CHECK(session.propose(1, unlucky, 0).size() < at_first);
  CHECK(session.propose(2, other, 0).size() == at_first);
}

TEST_CASE("same request, same history, same drafts, whatever else is in the batch") {
  std::mt19937 random(3);
  std::vector<int32_t> tokens, noise;
  for (int i = 0; i < 400; ++i) tokens.push_back(static_cast<int32_t>(random() % 9)), noise.push_back(static_cast<int32_t>(random() % 5));
  const auto drafts = [&](bool with_others) {
    Session session(ngram_setup());
    REQUIRE(session->open(1, std::span(tokens).first(100), 0, 0, 1000));
    if (with_others) REQUIRE(session->open(2, std::span(noise).first(100), 0, 0, 1000));
    std::vector<verify::DraftTree> all;
    for (size_t count = 101; count < tokens.size(); ++count) {
      std::vector<drafting::DraftRequest> batch = {{1, std::span(tokens).first(count), 1, 8, 4, {}}};
      if (with_others) batch.push_back({2, std::span(noise).first(count), 1, 8, 4, {}});
      session->propose(batch);
      all.push_back(batch[0].draft);
    }
    return all;
  };
  const auto alone = drafts(false), together = drafts(true);
  REQUIRE(alone.size() == together.size());
  for (size_t i = 0; i < alone.size(); ++i) {
    REQUIRE(alone[i].tokens == together[i].tokens);
    REQUIRE(alone[i].parents == together[i].parents);
    REQUIRE(alone[i].log_q == together[i].log_q);
  }
}

TEST_CASE("a corpus from the configuration is drafted from, and one removed at run time no longer is") {
  const TemporaryFolder folder;
  Setup setup = ngram_setup();
  setup.corpora = {{"manual", folder.write("manual.jsonl", "\"open the pod bay doors\"\n[500, 501, 502, 503]\n").string()}};
  setup.options.push_back({"min_n", int64_t{2}});  // "o" stands in the text itself
  Session session(setup);
  REQUIRE(refusal(session) == "");
  const std::vector<int32_t> text = *byte_tokens("please open the po");
  REQUIRE(session->open(1, text, 0, 0, 100));
  CHECK(session.propose(1, text, 0, 4, 4).tokens == *byte_tokens("d ba"));
  REQUIRE(session->corpora() != nullptr);
  REQUIRE(session->corpora()->remove("manual").ok());
  CHECK(session.propose(1, text, 0).size() == 0);
  REQUIRE(session->corpora()->add("other", {{*byte_tokens("the post office")}}).ok());
  CHECK(session.propose(1, text, 0, 2, 2).tokens == *byte_tokens("st"));
}

TEST_CASE("a corpus file that is not there refuses the drafter with the file's name") {
  Setup setup = ngram_setup();
  setup.corpora = {{"gone", "/nowhere/gone.jsonl"}};
  CHECK_THAT(refusal(Session(setup)), Contains("/nowhere/gone.jsonl") && Contains("cannot be opened"));
}

TEST_CASE("options that contradict each other are refused in words") {
  CHECK_THAT(refusal(Session(ngram_setup({{"min_n", int64_t{6}}, {"max_n", int64_t{3}}}))), Contains("expected min_n <= max_n, found min_n = 6"));
}

TEST_CASE("the state of a request survives saving and loading, and a damaged one is refused") {
  const auto library = drafting::PluginLibrary::open(std::string(OUTRIDER_TEST_PLUGINS) + "/ngram.so");
  REQUIRE(library.ok());
  const auto* state = (*library)->query<outrider_state_1>(OUTRIDER_STATE_1);
  const auto* table = (*library)->query<outrider_drafter_1>(OUTRIDER_DRAFTER_1);
  REQUIRE(state != nullptr);
  REQUIRE(table != nullptr);

  // A host that lends nothing but the four options.
  static constexpr outrider_host_config_1 config = {
      sizeof(outrider_host_config_1), nullptr,
      [](const outrider_host*, const outrider_config*, const char* key, int64_t* value) -> outrider_status {
        *value = std::strcmp(key, "min_n") == 0 ? 2 : 4;
        return OUTRIDER_OK;
      },
      [](const outrider_host*, const outrider_config*, const char*, double* value) -> outrider_status { return *value = 0.0, OUTRIDER_OK; },
      nullptr};
  const outrider_host host = {
      sizeof(outrider_host), 1, 0, 0, "test", "0", nullptr, [](const outrider_host*, const char* id) -> const void* {
        return std::strcmp(id, OUTRIDER_HOST_CONFIG_1) == 0 ? &config : nullptr;
      }};
  outrider_model_info model = {};
  model.struct_size = sizeof model;
  model.vocab_size = kVocabSize;
  outrider_error error = {sizeof(outrider_error), 0, {}};
  outrider_drafter* drafter = nullptr;
  outrider_worker* worker = nullptr;
  REQUIRE(table->create(&host, nullptr, &model, &drafter, &error) == OUTRIDER_OK);
  REQUIRE(table->worker_create(drafter, nullptr, 0, &worker, &error) == OUTRIDER_OK);

  const std::vector<int32_t> tokens = {1, 2, 3, 4, 5, 1, 2, 3};
  const outrider_request_info info = {sizeof(outrider_request_info), static_cast<uint32_t>(tokens.size()), 1, tokens.data(), 10, 0, 0};
  const auto chances = [&](outrider_request* request) {
    std::vector<int32_t> out_tokens(4), out_parents(4);
    std::vector<float> log_q(4);
    outrider_propose_item item = {
        request, tokens.data(), static_cast<uint32_t>(tokens.size()), 0, 4, 4, 0, out_tokens.data(), out_parents.data(), log_q.data(),
        0,       OUTRIDER_OK};
    outrider_propose_batch batch = {sizeof(outrider_propose_batch), 1, sizeof item, 0, 1, UINT64_MAX, &item};
    REQUIRE(table->propose(worker, &batch, &error) == OUTRIDER_OK);
    return log_q;
  };
  outrider_request* request = nullptr;
  REQUIRE(table->request_begin(worker, &info, &request, &error) == OUTRIDER_OK);
  const auto fresh = chances(request);
  const outrider_verified_item verified = {request, nullptr, 0, 77};
  REQUIRE(table->on_verified(worker, &verified, 1, sizeof verified, &error) == OUTRIDER_OK);
  const auto learnt = chances(request);
  CHECK(learnt != fresh);

  uint64_t size = 0;
  CHECK(state->save(worker, request, nullptr, 0, &size, &error) == OUTRIDER_E_NO_MEMORY);
  std::vector<uint8_t> bytes(size), again(size);
  REQUIRE(state->save(worker, request, bytes.data(), bytes.size(), &size, &error) == OUTRIDER_OK);
  const outrider_descriptor& descriptor = (*library)->descriptor();
  const auto load = [&](const std::vector<uint8_t>& data, uint32_t version, outrider_request** out) {
    return state->load(worker, &info, descriptor.state_format, version, data.data(), data.size(), out, &error);
  };
  outrider_request* loaded = nullptr;
  REQUIRE(load(bytes, descriptor.state_version, &loaded) == OUTRIDER_OK);
  CHECK(chances(loaded) == learnt);
  REQUIRE(state->save(worker, loaded, again.data(), again.size(), &size, &error) == OUTRIDER_OK);
  CHECK(again == bytes);

  outrider_request* none = nullptr;
  CHECK(load(bytes, descriptor.state_version + 1, &none) == OUTRIDER_E_UNSUPPORTED);
  CHECK(load(std::vector<uint8_t>(bytes.begin(), bytes.end() - 1), descriptor.state_version, &none) == OUTRIDER_E_INVALID);
  CHECK(load({}, descriptor.state_version, &none) == OUTRIDER_E_INVALID);
  CHECK(load(std::vector<uint8_t>(size, 0xFF), descriptor.state_version, &none) == OUTRIDER_E_INVALID);  // NaN throughout
  CHECK(none == nullptr);

  table->request_end(worker, loaded, OUTRIDER_END_FINISHED);
  table->request_end(worker, request, OUTRIDER_END_FINISHED);
  table->worker_destroy(worker);
  table->destroy(drafter);
}

TEST_CASE("a proposal at 8192 tokens takes microseconds, with and without a match") {
  // The promise is 20 microseconds (tests/bench measures it); ten times that fails here, on a busy machine and under a sanitizer too.
  Setup setup = ngram_setup();
  Session session(setup);
  std::mt19937 random(5);
  std::vector<int32_t> prose, noise;
  for (int i = 0; i < 8192; ++i) {
    prose.push_back(static_cast<int32_t>(random() % 50 * (random() % 4)));
    noise.push_back(static_cast<int32_t>(random() % 1000));
  }
  for (auto* tokens : {&prose, &noise}) {
    REQUIRE(session->open(1, std::span(*tokens).first(8000), 0, 0, 192));
    const auto before = session->report();
    for (size_t count = 8001; count <= tokens->size(); ++count) {
      drafting::DraftRequest item = {1, std::span(*tokens).first(count), 1, 8, 8, {}};
      session->propose(std::span(&item, 1));
    }
    const auto after = session->report();
    const double each = static_cast<double>(after.propose_nanoseconds - before.propose_nanoseconds) / 1000.0 /
                        static_cast<double>(after.calls - before.calls);
    WARN((tokens == &prose ? "with matches: " : "mostly without: ") << each << " microseconds a proposal");
    CHECK(each < 200.0);
    session->close(1);
  }
}
