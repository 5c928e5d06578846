// A drafter that breaks the contract as its option `mode` says. Written on the tables, since the wrapper would keep it from most of this.
// Option `faults`: how many times it does so before it behaves (0: always).
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "outrider/plugin.h"

#define ID "org.example.misbehaves"
#define VERSION "6.6.6"
#define CAPABILITIES (OUTRIDER_CAP_TREE | OUTRIDER_CAP_CONFIDENCE)

OUTRIDER_NOTE(ID, VERSION, CAPABILITIES, "");

struct outrider_drafter {
  std::string mode;
  int64_t faults;  // left; -1: no end of them
  int32_t vocab_size;
  bool faulty() {
    if (faults > 0 && --faults == 0) mode = "well_behaved";
    return true;
  }
};
struct outrider_worker {
  outrider_drafter* drafter;
  uint64_t random = 1;
};
struct outrider_request {
  uint32_t begun_with;
};

namespace {

const char* const kModes[] = {"well_behaved", "always_wrong", "random_chain", "random_tree", "nothing",
                              // at building
                              "factory_throws", "factory_fails", "factory_makes_nothing", "worker_throws", "worker_fails",
                              "needs_hidden_states",
                              // for one request
                              "begin_throws", "begin_fails", "begin_declines",
                              // at each proposal
                              "propose_throws", "propose_fails", "item_fails", "out_of_vocabulary", "negative_id", "too_many",
                              "parents_after_children", "own_parent", "too_deep", "same_siblings", "nan_log_q", "positive_log_q",
                              "nodes_without_draft", "unknown_status", "slow", "overrun", "underrun", "verified_throws", nullptr};

constexpr outrider_option kMode = {
    sizeof(outrider_option), OUTRIDER_OPTION_CHOICE, OUTRIDER_OPTION_REQUIRED, 0, "mode", "which fault", nullptr, nullptr, 0, 0, kModes};
constexpr outrider_option kFaults = {
    sizeof(outrider_option), OUTRIDER_OPTION_INT, 0, 0, "faults", "how many times; 0: always", "0", nullptr, 0, 1e9, nullptr};
const outrider_option* const kOptions[] = {&kMode, &kFaults};

const outrider_option* const* options(uint32_t* count) {
  *count = 2;
  return kOptions;
}

outrider_status explain(outrider_error* error, outrider_status status, const char* text) {
  std::strncpy(error->message, text, sizeof error->message - 1);
  return status;
}

const outrider_host_config_1* config_of(const outrider_host* host) {
  return static_cast<const outrider_host_config_1*>(host->query(host, OUTRIDER_HOST_CONFIG_1));
}

std::string mode_of(const outrider_host* host, const outrider_config* config) {
  const char* text = "";
  config_of(host)->get_string(host, config, "mode", &text);
  return text;
}

outrider_status require(const outrider_host* host, const outrider_config* config, const outrider_model_info*, outrider_requirements* out,
                        outrider_error*) {
  if (mode_of(host, config) == "needs_hidden_states") out->needs = OUTRIDER_NEED_HIDDEN_STATES;
  return OUTRIDER_OK;
}

outrider_status create(const outrider_host* host, const outrider_config* config, const outrider_model_info* model, outrider_drafter** out,
                       outrider_error* error) {
  int64_t faults = 0;
  config_of(host)->get_int(host, config, "faults", &faults);
  const std::string mode = mode_of(host, config);
  if (mode == "factory_throws") throw std::runtime_error("no such weights");
  if (mode == "factory_fails") return explain(error, OUTRIDER_E_IO, "the weights are not there");
  if (mode == "factory_makes_nothing") return OUTRIDER_OK;
  *out = new outrider_drafter{mode, faults == 0 ? -1 : faults, static_cast<int32_t>(model->vocab_size)};
  return OUTRIDER_OK;
}
void destroy(outrider_drafter* drafter) { delete drafter; }

outrider_status worker_create(outrider_drafter* drafter, const outrider_config*, uint32_t, outrider_worker** out, outrider_error* error) {
  if (drafter->mode == "worker_throws") throw 42;
  if (drafter->mode == "worker_fails") return explain(error, OUTRIDER_E_NO_MEMORY, "no room for the worker");
  *out = new outrider_worker{drafter};
  return OUTRIDER_OK;
}
void worker_destroy(outrider_worker* worker) { delete worker; }

outrider_status request_begin(outrider_worker* worker, const outrider_request_info* info, outrider_request** out, outrider_error* error) {
  outrider_drafter& drafter = *worker->drafter;
  if (drafter.mode == "begin_throws" && drafter.faulty()) throw std::bad_alloc();
  if (drafter.mode == "begin_fails" && drafter.faulty()) return explain(error, OUTRIDER_E_INTERNAL, "will not begin");
  if (drafter.mode == "begin_declines") return OUTRIDER_NO_DRAFT;
  *out = new outrider_request{info->prompt_count};
  return OUTRIDER_OK;
}
void request_end(outrider_worker*, outrider_request* request, int32_t) { delete request; }

// A contract-abiding chain: tokens that count up from the root.
void chain(outrider_propose_item& item, int32_t vocab_size, int32_t first_step) {
  const int32_t root = item.tokens[item.token_count - 1];
  const uint32_t n = item.max_nodes < item.max_depth ? item.max_nodes : item.max_depth;
  for (uint32_t i = 0; i < n; ++i) {
    item.out_tokens[i] = static_cast<int32_t>((static_cast<int64_t>(root) + first_step + i) % vocab_size);
    item.out_log_q[i] = -0.5F;
  }
  item.out_count = n;
}

// Any valid draft: ids and shape at random.
void random_draft(outrider_worker& worker, outrider_propose_item& item, bool tree) {
  const auto draw = [&](uint64_t below) {
    worker.random = worker.random * 6364136223846793005ULL + 1442695040888963407ULL;
    return (worker.random >> 33) % below;
  };
  uint32_t depth[4096];
  const uint32_t n = static_cast<uint32_t>(draw(item.max_nodes + 1));
  item.out_count = 0;
  for (uint32_t i = 0; i < n && i < 4096; ++i) {
    const int32_t parent = tree ? static_cast<int32_t>(draw(i + 1)) - 1 : static_cast<int32_t>(i) - 1;
    depth[i] = parent < 0 ? 1 : depth[parent] + 1;
    if (depth[i] > item.max_depth) return;
    int32_t token = static_cast<int32_t>(draw(static_cast<uint64_t>(worker.drafter->vocab_size)));
    for (uint32_t j = 0; j < i; ++j) {  // a token its siblings have not: start over when one has
      if (item.out_parents[j] == parent && item.out_tokens[j] == token) token = (token + 1) % worker.drafter->vocab_size, j = UINT32_MAX;
    }
    item.out_tokens[i] = token;
    item.out_parents[i] = parent;
    item.out_log_q[i] = -static_cast<float>(draw(100)) / 10.0F;
    item.out_count = i + 1;
  }
}

void misdraft(outrider_worker& worker, outrider_propose_item& item, const std::string& mode) {
  const int32_t vocab = worker.drafter->vocab_size;
  if (mode == "random_chain" || mode == "random_tree") return random_draft(worker, item, mode == "random_tree");
  chain(item, vocab, mode == "always_wrong" ? vocab / 2 : 1);
  if (item.max_nodes < 2) return;
  if (mode == "out_of_vocabulary") item.out_tokens[1] = vocab;
  if (mode == "negative_id") item.out_tokens[0] = -7;
  if (mode == "too_many") item.out_count = item.max_nodes + 1;
  if (mode == "parents_after_children") item.out_parents[0] = 1;
  if (mode == "own_parent") item.out_parents[1] = 1;
  if (mode == "same_siblings") item.out_parents[1] = -1, item.out_tokens[1] = item.out_tokens[0];
  if (mode == "nan_log_q") item.out_log_q[0] = std::numeric_limits<float>::quiet_NaN();
  if (mode == "positive_log_q") item.out_log_q[0] = 0.7F;
  if (mode == "unknown_status") item.status = 17;
  if (mode == "item_fails") item.status = OUTRIDER_E_INTERNAL;
  if (mode == "nodes_without_draft") item.status = OUTRIDER_NO_DRAFT;
  if (mode == "overrun") item.out_tokens[item.max_nodes] = 1;
  if (mode == "underrun") item.out_log_q[-1] = 1.0F;
  if (mode == "too_deep") {
    for (uint32_t i = 0; i < item.max_nodes; ++i) item.out_tokens[i] = 1, item.out_log_q[i] = 0.0F;
    item.out_count = item.max_nodes;
  }
  if (mode == "nothing") item.out_count = 0, item.status = OUTRIDER_NO_DRAFT;
}

outrider_status propose(outrider_worker* worker, outrider_propose_batch* batch, outrider_error* error) {
  const std::string mode = worker->drafter->mode;
  worker->drafter->faulty();
  if (mode == "propose_throws") throw std::runtime_error("did not expect that");
  if (mode == "propose_fails") return explain(error, OUTRIDER_E_INTERNAL, "not today");
  if (mode == "slow") std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (uint32_t i = 0; i < batch->item_count; ++i) {
    misdraft(*worker, *OUTRIDER_ITEM(outrider_propose_item, batch->items, batch->item_size, i), mode);
  }
  return OUTRIDER_OK;
}

outrider_status on_verified(outrider_worker* worker, const void*, uint32_t, uint32_t, outrider_error*) {
  if (worker->drafter->mode == "verified_throws") throw std::string("neither that");
  return OUTRIDER_OK;
}

const outrider_drafter_1 kDrafter = {sizeof(outrider_drafter_1),
                                     0,
                                     options,
                                     nullptr,
                                     require,
                                     create,
                                     destroy,
                                     worker_create,
                                     worker_destroy,
                                     request_begin,
                                     propose,
                                     on_verified,
                                     nullptr,
                                     request_end};
const outrider_descriptor kDescriptor = {sizeof(outrider_descriptor), 0, CAPABILITIES, ID, "misbehaves", "Example", VERSION, "Apache-2.0",
                                         "https://example.org",       ""};

const outrider_descriptor* descriptor() { return &kDescriptor; }
const void* query(const char* id) { return std::strcmp(id, OUTRIDER_DRAFTER_1) == 0 ? &kDrafter : nullptr; }
const outrider_entry_v1 kEntry = {
    sizeof(outrider_entry_v1), OUTRIDER_ABI_MAJOR, OUTRIDER_ABI_MINOR, 0, "", descriptor, nullptr, nullptr, query};

}  // namespace

const outrider_entry_v1* outrider_entry_get_v1(void) { return &kEntry; }
