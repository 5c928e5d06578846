// The n-gram drafter as a plugin: one index a request, shared corpora behind one pointer, drafts from draft_builder.
#include "outrider/plugin.hpp"

#include <cmath>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ngram/draft_builder.hpp"
#include "ngram/hit_rates.hpp"
#include "ngram/match_index.hpp"

namespace ngram {
namespace {

namespace sdk = outrider::sdk;

constexpr size_t kReserveAhead = 4096;  // output tokens a request's index has room for from the start

struct Options {
  uint32_t min_n, max_n;
  size_t branches;
  float min_chance;
};

struct Corpus {
  std::vector<int32_t> tokens;  // documents, with OUTRIDER_CORPUS_BREAK between them
  MatchIndex index;
};
using Corpora = std::map<std::string, std::shared_ptr<const Corpus>>;

struct Request {
  explicit Request(const Options& options) : index(options.min_n, options.max_n) {}
  MatchIndex index;
  HitRates rates;
  DraftBuilder draft;
};

class NgramWorker;

class NgramDrafter {
 public:
  using Worker = NgramWorker;
  static constexpr char state_format[] = "outrider.ngram.rates";
  static constexpr uint32_t state_version = 1;
  static constexpr outrider_option options[] = {
      sdk::integer_option("min_n", "1", 1, MatchIndex::kLargestN, "shortest match", "tokens"),
      sdk::integer_option("max_n", "5", 1, MatchIndex::kLargestN, "longest match looked up by hash; longer ones are found by comparing",
                          "tokens"),
      sdk::integer_option("branches", "4", 1, 16, "different continuations in one draft; 1: a chain"),
      sdk::float_option("min_chance", "0.05", 0.0, 1.0,
                        "a node is proposed only if its chance to be accepted, with all its ancestors, is at least this"),
  };

  NgramDrafter(const sdk::Host&, const sdk::Config& config, const outrider_model_info&)
      : settings_{static_cast<uint32_t>(config.get_int("min_n")), static_cast<uint32_t>(config.get_int("max_n")),
                  static_cast<size_t>(config.get_int("branches")), static_cast<float>(config.get_float("min_chance"))} {
    if (settings_.min_n > settings_.max_n) {
      throw sdk::Error(OUTRIDER_E_CONFIG, "expected min_n <= max_n, found min_n = " + std::to_string(settings_.min_n) +
                                              " and max_n = " + std::to_string(settings_.max_n) + "; raise max_n or lower min_n");
    }
  }

  static void require(const sdk::Config& config, const outrider_model_info& model, outrider_requirements& out) {
    const auto min_n = static_cast<uint32_t>(config.get_int("min_n")), max_n = static_cast<uint32_t>(config.get_int("max_n"));
    out.bytes_per_request = MatchIndex::bytes_for(model.context_length, min_n, max_n < min_n ? min_n : max_n);
    out.typical_ns = 2000;
  }

  // The index is built here, on the control thread; requests see the corpus from their next propose on.
  void add_corpus(const char* name, sdk::View<const int32_t> tokens) {
    auto corpus = std::make_shared<Corpus>(Corpus{{tokens.begin(), tokens.end()}, MatchIndex(settings_.min_n, settings_.max_n)});
    const Tokens view(corpus->tokens.data(), corpus->tokens.size());
    corpus->index.reserve(view.size());
    corpus->index.extend(view);
    change([&](Corpora& corpora) { corpora[name] = std::move(corpus); });
  }

  bool remove_corpus(const char* name) {
    bool found = false;
    change([&](Corpora& corpora) { found = corpora.erase(name) != 0; });
    return found;
  }

  [[nodiscard]] std::shared_ptr<const Corpora> corpora() const {
    const std::lock_guard lock(mutex_);
    return corpora_;
  }
  [[nodiscard]] const Options& settings() const { return settings_; }

 private:
  template <class Change>
  void change(Change&& apply) {
    const std::lock_guard lock(mutex_);
    auto next = std::make_shared<Corpora>(*corpora_);  // shallow: the corpora themselves are shared
    apply(*next);
    corpora_ = std::move(next);
  }

  Options settings_;
  mutable std::mutex mutex_;  // held for a pointer's copy only; see corpora()
  std::shared_ptr<const Corpora> corpora_ = std::make_shared<Corpora>();
};

class NgramWorker {
 public:
  using Request = ngram::Request;

  NgramWorker(NgramDrafter& drafter, const sdk::Config&, uint32_t) : drafter_(drafter) {}

  std::unique_ptr<Request> begin(const sdk::RequestInfo& info) {
    auto request = std::make_unique<Request>(drafter_.settings());
    request->index.reserve(info.prompt.size() + std::min<size_t>(info.max_new_tokens, kReserveAhead));
    request->index.extend(info.prompt);
    return request;
  }

  void propose(sdk::BatchOf<Request>& batch) {
    const std::shared_ptr<const Corpora> corpora = drafter_.corpora();  // once a step
    for (size_t i = 0; i < batch.size(); ++i) {
      sdk::Draft draft = batch.draft(i);
      propose(batch.request(i), batch.item(i), *corpora, draft);
      if (draft.size() == 0) batch.raw(i).status = OUTRIDER_NO_DRAFT;
    }
  }

  void on_verified(Request& request, const sdk::Verified& verified) {
    path_.clear();
    for (const uint32_t node : verified.accepted) {
      if (node < request.draft.nodes().size()) path_.push_back(request.draft.nodes()[node].token);
    }
    if (verified.bonus_token >= 0) path_.push_back(verified.bonus_token);
    request.draft.score(path_, request.rates);
    request.draft.clear();
  }

  void truncate(Request& request, uint32_t token_count) {
    request.index.truncate(token_count);
    request.draft.clear();
  }

  // kBuckets hits, then kBuckets trials, as floats.
  std::vector<uint8_t> save(const Request& request) {
    std::vector<uint8_t> bytes(kStateBytes);
    std::memcpy(bytes.data(), request.rates.hits().data(), kStateBytes / 2);
    std::memcpy(bytes.data() + kStateBytes / 2, request.rates.trials().data(), kStateBytes / 2);
    return bytes;
  }

  std::unique_ptr<Request> load(const sdk::RequestInfo& info, sdk::View<const uint8_t> state, uint32_t) {
    if (state.size() != kStateBytes) return nullptr;
    std::array<float, HitRates::kBuckets> hits, trials;
    std::memcpy(hits.data(), state.data(), kStateBytes / 2);
    std::memcpy(trials.data(), state.data() + kStateBytes / 2, kStateBytes / 2);
    auto request = begin(info);
    return request->rates.restore(hits, trials) ? std::move(request) : nullptr;
  }

 private:
  static constexpr size_t kStateBytes = 2 * HitRates::kBuckets * sizeof(float);

  void propose(Request& request, const sdk::Item& item, const Corpora& corpora, sdk::Draft& draft) {
    request.index.extend(item.tokens);
    request.draft.clear();
    if (item.max_nodes == 0 || item.max_depth == 0) return;
    const size_t branches = item.chain ? 1 : drafter_.settings().branches;
    matches_.clear();
    request.index.find(item.tokens, item.tokens, branches, matches_);
    for (const auto& [name, corpus] : corpora) {
      corpus->index.find(Tokens(corpus->tokens.data(), corpus->tokens.size()), item.tokens, branches, matches_);
    }
    // The request's own text comes first among equally long matches.
    std::stable_sort(matches_.begin(), matches_.end(), [](const Match& a, const Match& b) { return a.length > b.length; });
    if (matches_.size() > branches) matches_.resize(branches);
    request.draft.build(matches_, request.rates, {item.max_nodes, item.max_depth, drafter_.settings().min_chance});
    for (const DraftBuilder::Node& node : request.draft.nodes()) draft.add(node.token, node.parent, std::log(node.chance));
  }

  NgramDrafter& drafter_;
  std::vector<Match> matches_;  // kept for their memory
  std::vector<int32_t> path_;
};

}  // namespace
}  // namespace ngram

OUTRIDER_PLUGIN(ngram::NgramDrafter, "org.outrider.ngram", "ngram", "0.1.0",
                OUTRIDER_CAP_TREE | OUTRIDER_CAP_CONFIDENCE | OUTRIDER_CAP_DETERMINISTIC | OUTRIDER_CAP_TOKENS_ONLY, "Outrider",
                "Apache-2.0", "https://github.com/outrider/outrider");
