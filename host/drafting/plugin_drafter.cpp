#include "drafting/plugin_drafter.hpp"

#include <algorithm>
#include <cstring>

#include "base/log.hpp"

namespace outrider::drafting {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kWord = sizeof(int32_t);
constexpr size_t kCanary = 64;  // bytes on each side of a buffer: a cache line, so that an overrun by a vector store is seen too
constexpr std::byte kCanaryByte{0xA5};
static_assert(sizeof(float) == kWord);

// The three arrays of one item, each between canaries.
struct Buffers {
  size_t array;  // bytes of one array
  explicit Buffers(int32_t max_nodes) : array(static_cast<size_t>(max_nodes) * kWord) {}
  [[nodiscard]] size_t canary(size_t i) const { return i * (kCanary + array); }  // i = 0 … 3
  [[nodiscard]] size_t values(size_t i) const { return canary(i) + kCanary; }    // i = 0 … 2: tokens, parents, log_q
  [[nodiscard]] size_t size() const { return canary(3) + kCanary; }
};

const char* text_or_empty(const char* text) { return text == nullptr ? "" : text; }

}  // namespace

PluginDrafter::PluginDrafter(std::string name, int32_t vocab_size, std::unique_ptr<Instance> instance,
                             std::function<GuardOptions()> options)
    : name_(std::move(name)),
      instance_(std::move(instance)),
      current_options_(std::move(options)),
      options_(current_options_()),
      breaker_(options_.strikes) {
  const outrider_descriptor& descriptor = instance_->library->descriptor();
  const auto can = [&](uint64_t capability) { return (descriptor.capabilities & capability) != 0; };
  can_trees_ = can(OUTRIDER_CAP_TREE);
  rules_ = {vocab_size, can_trees_ && !options_.chains_only, can(OUTRIDER_CAP_CONFIDENCE) || can(OUTRIDER_CAP_PROBABILITIES),
            can(OUTRIDER_CAP_PROBABILITIES)};
  report_.name = name_;
  report_.id = text_or_empty(descriptor.id);
  report_.version = text_or_empty(descriptor.version);
  report_.library = instance_->library->file().string();
}

PluginDrafter::~PluginDrafter() {
  for (auto& [id, sequence] : sequences_) end(sequence, OUTRIDER_END_CANCELLED);
}

void PluginDrafter::follow_options() {
  options_ = current_options_();
  breaker_.set_strikes(options_.strikes);
  rules_.trees = can_trees_ && !options_.chains_only;
}

bool PluginDrafter::open(uint64_t request, std::span<const int32_t> prompt, float temperature, uint64_t seed, int32_t max_new_tokens) {
  follow_options();
  if (prompt.empty() || breaker_.state() == CircuitBreaker::State::locked) return false;
  close(request);  // an id that is used again is another request
  Sequence sequence;
  sequence.temperature = temperature;
  sequence.seed = seed;
  sequence.max_new_tokens = static_cast<uint32_t>(std::max(max_new_tokens, 0));
  // While the breaker is open the request waits for it; propose() will begin it.
  if (breaker_.state() == CircuitBreaker::State::closed && !begin(request, sequence, prompt)) return false;
  sequences_[request] = sequence;
  return true;
}

bool PluginDrafter::begin(uint64_t request, Sequence& sequence, std::span<const int32_t> tokens) {
  const outrider_request_info info = {sizeof(outrider_request_info),
                                      static_cast<uint32_t>(tokens.size()),
                                      request,
                                      tokens.data(),
                                      sequence.max_new_tokens,
                                      sequence.temperature,
                                      sequence.seed};
  outrider_request* handle = nullptr;
  const CallOutcome outcome =
      call_plugin([&](outrider_error* error) { return instance_->table->request_begin(instance_->worker, &info, &handle, error); });
  if (outcome.failed()) {
    fault(outcome, "request_begin");
    return false;
  }
  if (outcome.status == OUTRIDER_NO_DRAFT) return false;
  if (handle == nullptr) {
    fault("request_begin: it returned OK without a request", false);
    return false;
  }
  sequence.handle = handle;
  sequence.known = static_cast<uint32_t>(tokens.size());
  return true;
}

void PluginDrafter::end(Sequence& sequence, int32_t reason) {
  outrider_request* handle = std::exchange(sequence.handle, nullptr);
  sequence.drafted = false;
  if (handle == nullptr || instance_->abandoned()) return;
  if (!call_plugin_void([&] { instance_->table->request_end(instance_->worker, handle, reason); })) {
    fault("request_end: an exception left it", true);
  }
}

void PluginDrafter::close(uint64_t request) {
  const auto found = sequences_.find(request);
  if (found == sequences_.end()) return;
  Sequence sequence = found->second;
  sequences_.erase(found);
  end(sequence, OUTRIDER_END_FINISHED);
}

// Brings the plugin's view of a request up to where the host's begins; false when the plugin will not serve it.
bool PluginDrafter::ready(DraftRequest& request, Sequence& sequence) {
  const auto count = static_cast<uint32_t>(request.tokens.size());
  const uint32_t fresh = static_cast<uint32_t>(std::clamp<int64_t>(request.new_tokens, 0, count));
  const uint32_t kept = count - fresh;  // what the host says has not changed
  if (sequence.handle != nullptr && kept < sequence.known) {
    if (instance_->table->truncate != nullptr) {
      const CallOutcome outcome =
          call_plugin([&](outrider_error* error) { return instance_->table->truncate(instance_->worker, sequence.handle, kept, error); });
      if (outcome.failed()) fault(outcome, "truncate");
      sequence.known = kept;
      sequence.drafted = false;
      if (outcome.failed()) end(sequence, OUTRIDER_END_REPLACED);
    } else {
      end(sequence, OUTRIDER_END_REPLACED);
    }
  }
  if (breaker_.state() == CircuitBreaker::State::open || breaker_.state() == CircuitBreaker::State::locked) return false;
  return sequence.handle != nullptr || begin(request.request, sequence, request.tokens);
}

// Buffers for every slot, with canaries around them and chains in the parents.
void PluginDrafter::lay_out() {
  size_t total = 0;
  for (Slot& slot : slots_) {
    slot.buffers = total;
    total += Buffers(slot.request->max_nodes).size();
  }
  if (arena_.size() < total) arena_.resize(total);
  std::fill_n(arena_.begin(), total, kCanaryByte);
  items_.clear();
  for (const Slot& slot : slots_) {
    const DraftRequest& request = *slot.request;
    const Buffers buffers(request.max_nodes);
    const auto count = static_cast<uint32_t>(request.tokens.size());
    std::byte* base = arena_.data() + slot.buffers;
    auto* parents = reinterpret_cast<int32_t*>(base + buffers.values(1));
    for (int32_t i = 0; i < request.max_nodes; ++i) parents[i] = i - 1;
    items_.push_back({slot.sequence->handle, request.tokens.data(), count, count - slot.sequence->known,
                      static_cast<uint32_t>(request.max_nodes), static_cast<uint32_t>(request.max_depth),
                      options_.chains_only ? static_cast<uint32_t>(OUTRIDER_ITEM_CHAIN) : 0U,
                      reinterpret_cast<int32_t*>(base + buffers.values(0)), parents, reinterpret_cast<float*>(base + buffers.values(2)), 0,
                      OUTRIDER_OK});
  }
}

bool PluginDrafter::canaries_intact() {
  for (const Slot& slot : slots_) {
    const Buffers buffers(slot.request->max_nodes);
    for (size_t i = 0; i < 4; ++i) {
      const std::byte* canary = arena_.data() + slot.buffers + buffers.canary(i);
      if (!std::all_of(canary, canary + kCanary, [](std::byte b) { return b == kCanaryByte; })) return false;
    }
  }
  return true;
}

// Copies a valid draft into the request; else says what is wrong. Only status and count of `item` are read: its pointers were in the
// plugin's hands.
std::string PluginDrafter::take(const Slot& slot, const outrider_propose_item& item, const std::string& message) {
  DraftRequest& request = *slot.request;
  if (item.status == OUTRIDER_NO_DRAFT) return item.out_count == 0 ? std::string() : "it wrote nodes and said there were none";
  if (item.status < 0) return status_text(item.status) + (message.empty() ? "" : ": " + message);
  if (item.status != OUTRIDER_OK) return "status " + std::to_string(item.status) + ", which the contract does not know";
  if (item.out_count > static_cast<uint32_t>(request.max_nodes)) {
    return "it proposed " + std::to_string(item.out_count) + " nodes where " + std::to_string(request.max_nodes) + " were allowed";
  }
  if (item.out_count == 0) return {};
  const Buffers buffers(request.max_nodes);
  const std::byte* base = arena_.data() + slot.buffers;
  verify::DraftTree& draft = request.draft;
  const size_t bytes = item.out_count * kWord;
  draft.tokens.resize(item.out_count);
  draft.parents.resize(item.out_count);
  std::memcpy(draft.tokens.data(), base + buffers.values(0), bytes);
  std::memcpy(draft.parents.data(), base + buffers.values(1), bytes);
  if (rules_.log_q) {
    draft.log_q.resize(item.out_count);
    std::memcpy(draft.log_q.data(), base + buffers.values(2), bytes);
  }
  std::string wrong = draft_fault(draft.tokens, draft.parents, draft.log_q, request.max_depth, rules_);
  if (!wrong.empty()) {
    draft.clear();
    return wrong;
  }
  for (float& log_q : draft.log_q) log_q = std::min(log_q, 0.0F);
  slot.sequence->drafted = true;
  return {};
}

void PluginDrafter::propose(std::span<DraftRequest> batch) {
  for (DraftRequest& request : batch) request.draft.clear();
  follow_options();
  if (batch.empty() || !breaker_.begin_round()) return;
  slots_.clear();
  for (DraftRequest& request : batch) {
    if (request.max_nodes <= 0 || request.max_depth <= 0 || request.tokens.empty()) continue;
    const auto found = sequences_.find(request.request);
    if (found == sequences_.end()) continue;
    found->second.drafted = false;
    if (ready(request, found->second))
      slots_.push_back({&request, &found->second, 0});
    else if (instance_->abandoned())
      return;
    // A drafter on trial is tried with one request.
    if (breaker_.state() == CircuitBreaker::State::half_open && !slots_.empty()) break;
  }
  // What happened while requests were begun again may have opened the breaker, and then no handle is good any more.
  std::erase_if(slots_, [](const Slot& slot) { return slot.sequence->handle == nullptr; });
  if (slots_.empty()) return;
  lay_out();

  const auto start = Clock::now();
  const auto deadline = start + options_.deadline;
  outrider_propose_batch call = {sizeof(outrider_propose_batch),
                                 static_cast<uint32_t>(items_.size()),
                                 sizeof(outrider_propose_item),
                                 0,
                                 ++step_,
                                 static_cast<uint64_t>(deadline.time_since_epoch() / std::chrono::nanoseconds(1)),
                                 items_.data()};
  const CallOutcome outcome =
      call_plugin([&](outrider_error* error) { return instance_->table->propose(instance_->worker, &call, error); });
  const auto took = Clock::now() - start;
  {
    const std::lock_guard lock(report_mutex_);
    ++report_.calls;
    report_.propose_nanoseconds += static_cast<uint64_t>(took / std::chrono::nanoseconds(1));
  }
  if (!canaries_intact()) return quarantine("propose: it wrote beyond the buffers it was given");
  if (outcome.failed()) return fault(outcome, "propose");
  std::string wrong;
  for (size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].sequence->known = static_cast<uint32_t>(slots_[i].request->tokens.size());
    const std::string found = outcome.status == OUTRIDER_NO_DRAFT ? std::string() : take(slots_[i], items_[i], outcome.text);
    if (wrong.empty()) wrong = found;
  }
  if (wrong.empty() && took > options_.deadline) {
    wrong = "it took " + std::to_string(took / std::chrono::microseconds(1)) + " microseconds where " +
            std::to_string(options_.deadline / std::chrono::microseconds(1)) + " were allowed";
  }
  if (!wrong.empty()) return fault("propose: " + wrong, false);
  const bool back = breaker_.state() == CircuitBreaker::State::half_open;
  breaker_.good();
  if (!back) return;
  log::info("drafter {} is back after a good trial", name_);
  const std::lock_guard lock(report_mutex_);
  report_.breaker_open = false;
}

void PluginDrafter::on_verified(std::span<const VerifiedRequest> batch) {
  if (instance_->abandoned() || instance_->table->on_verified == nullptr) return;
  verified_.clear();
  accepted_.clear();
  size_t nodes = 0;
  for (const VerifiedRequest& request : batch) nodes += request.accepted_nodes.size();
  accepted_.reserve(nodes);  // so that pointers into it stay good
  for (const VerifiedRequest& request : batch) {
    const auto found = sequences_.find(request.request);
    if (found == sequences_.end() || !found->second.drafted || found->second.handle == nullptr) continue;
    found->second.drafted = false;
    const size_t first = accepted_.size();
    for (const int32_t node : request.accepted_nodes) accepted_.push_back(static_cast<uint32_t>(node));
    verified_.push_back(
        {found->second.handle, accepted_.data() + first, static_cast<uint32_t>(accepted_.size() - first), request.bonus_token});
  }
  if (verified_.empty()) return;
  const CallOutcome outcome = call_plugin([&](outrider_error* error) {
    return instance_->table->on_verified(instance_->worker, verified_.data(), static_cast<uint32_t>(verified_.size()),
                                         sizeof(outrider_verified_item), error);
  });
  if (outcome.failed()) fault(outcome, "on_verified");
}

void PluginDrafter::fault(const CallOutcome& outcome, const char* where) { fault(std::string(where) + ": " + outcome.text, outcome.threw); }

void PluginDrafter::fault(const std::string& text, bool breach) {
  if (breach)
    breaker_.open();
  else
    breaker_.strike();
  const bool open = breaker_.state() == CircuitBreaker::State::open;
  {
    const std::lock_guard lock(report_mutex_);
    ++report_.faults;
    report_.last_fault = text;
    report_.breaker_open = breaker_.state() != CircuitBreaker::State::closed;
  }
  log_fault(text);
  if (!open) return;
  log::warn("drafter {} is left out for {} rounds; requests decode plainly meanwhile", name_, breaker_.pause());
  // What it knows of its requests is not to be trusted; they are begun again after the pause.
  for (auto& [id, sequence] : sequences_) {
    outrider_request* handle = std::exchange(sequence.handle, nullptr);
    sequence.drafted = false;
    if (handle != nullptr)
      static_cast<void>(call_plugin_void([&] { instance_->table->request_end(instance_->worker, handle, OUTRIDER_END_REPLACED); }));
  }
}

void PluginDrafter::quarantine(const std::string& text) {
  breaker_.lock();
  {
    const std::lock_guard lock(report_mutex_);
    ++report_.faults;
    report_.last_fault = text;
    report_.breaker_open = true;
  }
  log::error("drafter {} ({}): {}; it is not called again, and memory may be damaged: restart when convenient", name_, report_.library,
             text);
  std::vector<outrider_request*> requests;
  for (const auto& [id, sequence] : sequences_) requests.push_back(sequence.handle);
  sequences_.clear();
  instance_->abandon(std::move(requests));
}

// At most one line a second: a drafter that fails each step must not flood the log.
void PluginDrafter::log_fault(const std::string& text) {
  const auto now = Clock::now();
  if (last_told_ != Clock::time_point{} && now - last_told_ < std::chrono::seconds(1)) return;
  last_told_ = now;
  log::warn("drafter {} ({}): {}", name_, report_.library, text);
}

DrafterReport PluginDrafter::report() const {
  const std::lock_guard lock(report_mutex_);
  return report_;
}

}  // namespace outrider::drafting
