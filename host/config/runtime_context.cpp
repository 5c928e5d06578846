#include "config/runtime_context.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>
#include <stdexcept>

#include "base/log.hpp"

namespace outrider::config {
namespace detail {

constinit thread_local ThreadView thread_view;

// Where a state is current: the process, or one window. Writers take the lock, make the next state, and move the epoch.
struct Slot {
  Slot() : state(std::make_shared<const ConfigState>()) {}
  explicit Slot(std::shared_ptr<const ConfigState> opened_with) : state(opened_with), entry(std::move(opened_with)) {}

  std::mutex mutex;
  std::shared_ptr<const ConfigState> state;
  std::atomic<uint64_t> epoch{1};
  const std::shared_ptr<const ConfigState> entry;  // a window's: the state it was opened with; the process's: null
};

struct Core {
  uint64_t id;
  std::shared_ptr<Slot> process = std::make_shared<Slot>();
};

}  // namespace detail

namespace {

using detail::Core;
using detail::Slot;

// References that accessors gave out stay good while their state is among the last kKept that this thread has seen.
constexpr size_t kKept = 16;

// One thread's relation to one context: its open windows, and the states it has read.
struct ThreadContext {
  uint64_t id;
  std::weak_ptr<Core> core;
  std::vector<std::shared_ptr<Slot>> open;  // innermost last; empty: the process slot
  std::shared_ptr<Slot> read_slot;          // keeps thread_view's epoch alive
  std::shared_ptr<const ConfigState> state;
  std::array<std::shared_ptr<const ConfigState>, kKept> kept;
  size_t next_kept = 0;
};

ThreadContext& thread_context(const std::shared_ptr<Core>& core) {
  thread_local std::vector<std::unique_ptr<ThreadContext>> contexts;
  for (const auto& context : contexts) {
    if (context->id == core->id) return *context;
  }
  std::erase_if(contexts, [](const auto& context) { return context->core.expired(); });
  contexts.push_back(std::make_unique<ThreadContext>());
  contexts.back()->id = core->id;
  contexts.back()->core = core;
  return *contexts.back();
}

const std::shared_ptr<Slot>& current_slot(const std::shared_ptr<Core>& core) {
  ThreadContext& thread = thread_context(core);
  return thread.open.empty() ? core->process : thread.open.back();
}

// Brings the thread's view up to date and returns it.
ThreadContext& updated(const std::shared_ptr<Core>& core) {
  ThreadContext& thread = thread_context(core);
  const std::shared_ptr<Slot>& slot = thread.open.empty() ? core->process : thread.open.back();
  std::shared_ptr<const ConfigState> state;
  uint64_t epoch = 0;
  {
    const std::lock_guard lock(slot->mutex);
    state = slot->state;
    epoch = slot->epoch.load(std::memory_order_relaxed);
  }
  if (state != thread.state) {
    thread.kept[thread.next_kept] = std::move(thread.state);
    thread.next_kept = (thread.next_kept + 1) % kKept;
    thread.state = std::move(state);
  }
  thread.read_slot = slot;
  detail::thread_view = {core->id, &slot->epoch, epoch, thread.state->namespaces.get()};
  return thread;
}

// Replaces the slot's state by make(state), which is a Result<ConfigState>; an error changes nothing.
template <class Make>
Result<void> write(Slot& slot, const Make& make) {
  std::shared_ptr<const ConfigState> retired;  // freed after the lock is
  const std::lock_guard lock(slot.mutex);
  Result<ConfigState> next = make(*slot.state);
  if (!next) return next.error();
  retired = std::exchange(slot.state, std::make_shared<const ConfigState>(*std::move(next)));
  slot.epoch.fetch_add(1, std::memory_order_release);
  return {};
}

std::string summary(const std::vector<OverrideEntry>& entries) {
  std::string text;
  for (const OverrideEntry& entry : entries) {
    text += (text.empty() ? "" : ", ") + entry.source + '(';
    for (size_t i = 0; i < entry.fields.size(); ++i) text += (i == 0 ? "" : ", ") + field(entry.fields[i].first).path;
    text += ')';
  }
  return text;
}

std::atomic<uint64_t> next_context_id{1};  // numbers are never used twice, so a thread's view of a dead context matches no other

}  // namespace

std::string_view role_name(Role role) {
  static constexpr std::string_view kNames[] = {"none", "scheduler", "launcher", "server", "draft", "test"};
  return kNames[static_cast<size_t>(role)];
}

ContextScope::ContextScope(std::shared_ptr<Core> core, std::shared_ptr<Slot> slot) : core_(std::move(core)), slot_(slot.get()) {
  thread_context(core_).open.push_back(std::move(slot));
  detail::thread_view.context = 0;
}

ContextScope::~ContextScope() {
  ThreadContext& thread = thread_context(core_);
  if (thread.open.empty() || thread.open.back().get() != slot_) {
    log::error(
        "a configuration window was closed by another thread than its own, or before a window inside it; this is a fault in the program");
    std::terminate();
  }
  thread.open.pop_back();
  detail::thread_view.context = 0;
}

ContextScope ContextHandle::adopt() const {
  if (slot_ == nullptr) throw std::logic_error("config: this handle was never captured");
  return {core_, slot_};
}

RuntimeContext::RuntimeContext() : id_(next_context_id.fetch_add(1)), core_(std::make_shared<Core>()) { core_->id = id_; }
RuntimeContext::~RuntimeContext() = default;

Result<Published> RuntimeContext::publish(std::shared_ptr<const ServerArgs> args, Role role) {
  if (args == nullptr) throw std::invalid_argument("config: publish() was given no args");
  const std::shared_ptr<Slot> slot = current_slot(core_);
  if (const auto wrong = contradictions(args->values()); !wrong.empty()) return Error{"publishing: " + wrong.front().message};

  Published published;
  OUTRIDER_CHECK(write(*slot, [&](const ConfigState& state) -> Result<ConfigState> {
    ConfigState next;
    next.namespaces = std::shared_ptr<const Namespaces>(args, &args->values());
    next.role = role;
    next.parallel = {state.parallel.rank, static_cast<int>(args->values().parallel.ranks)};
    if (next.parallel.rank >= next.parallel.size) {
      return Error{"publishing: this process is rank " + std::to_string(state.parallel.rank) + ", and parallel.ranks is " +
                   std::to_string(next.parallel.size) + "; expected more ranks"};
    }
    // What a window found on entry comes back when it closes, so publishing inside drops only what was written inside.
    const size_t inherited = slot->entry && slot->entry->args == state.args ? slot->entry->log.size() : 0;
    if (state.log.size() > inherited) {
      published.dropped = state.log.entries();
      published.dropped.erase(published.dropped.begin(), published.dropped.begin() + static_cast<std::ptrdiff_t>(inherited));
    }
    next.args = std::move(args);
    return next;
  }));
  if (!published.dropped.empty()) log::warn("publishing a configuration again drops these overrides: {}", summary(published.dropped));
  return published;
}

Result<void> RuntimeContext::override(std::string_view source, const std::vector<Assignment>& assignments) {
  if (assignments.empty()) return {};
  const std::string where = "override '" + std::string(source) + "'";
  const std::shared_ptr<Slot>& slot = current_slot(core_);

  OverrideEntry entry{std::string(source), {}};
  entry.fields.reserve(assignments.size());
  for (const Assignment& assignment : assignments) {
    const FieldInfo* info = find_field(assignment.field);
    if (info == nullptr) {
      std::vector<std::string> names;
      for (const FieldInfo& known : fields())
        names.push_back(assignment.field.find('.') == std::string::npos ? std::string(known.key) : known.path);
      const std::string near = nearest(assignment.field, names);
      return Error{where + ": there is no field '" + assignment.field + "'" + (near.empty() ? "" : "; did you mean '" + near + "'?")};
    }
    if (auto good = check(*info, assignment.value); !good) return good.error().within(where);
    entry.fields.emplace_back(info->id, assignment.value);
  }

  return write(*slot, [&](const ConfigState& state) -> Result<ConfigState> {
    if (state.args == nullptr) return Error{where + ": config is not published; cannot override"};
    for (const auto& [id, value] : entry.fields) {
      const FieldInfo& info = field(id);
      if (info.attributes.last_stage < state.stage) {
        return Error{where + ": " + info.path + " has no effect after stage '" + std::string(stage_name(info.attributes.last_stage)) +
                     "', and the configuration is at stage '" + std::string(stage_name(state.stage)) + "'; set it before the start"};
      }
    }
    auto values = std::make_shared<Namespaces>(*state.namespaces);
    for (const auto& [id, value] : entry.fields) set(*values, id, value);
    if (const auto wrong = contradictions(*values); !wrong.empty()) return Error{where + ": " + wrong.front().message};
    ConfigState next = state;
    next.namespaces = std::move(values);
    next.log = state.log.with(std::move(entry));
    return next;
  });
}

ContextScope RuntimeContext::preserve_config() { return {core_, std::make_shared<Slot>(snapshot())}; }

ContextHandle RuntimeContext::capture() const {
  ContextHandle handle;
  handle.core_ = core_;
  handle.slot_ = current_slot(core_);
  return handle;
}

Result<void> RuntimeContext::advance(Stage stage) {
  return write(*current_slot(core_), [&](const ConfigState& state) -> Result<ConfigState> {
    if (stage < state.stage) {
      return Error{"config: stage '" + std::string(stage_name(stage)) + "' cannot follow stage '" + std::string(stage_name(state.stage)) +
                   "'"};
    }
    ConfigState next = state;
    next.stage = stage;
    return next;
  });
}

Result<void> RuntimeContext::set_parallel(Topology topology) {
  if (topology.rank < 0 || topology.rank >= topology.size) {
    return Error{"config: expected a rank from 0 to " + std::to_string(topology.size - 1) + ", found " + std::to_string(topology.rank)};
  }
  return write(*current_slot(core_), [&](const ConfigState& state) -> Result<ConfigState> {
    ConfigState next = state;
    next.parallel = topology;
    return next;
  });
}

void RuntimeContext::set_capture(bool on) {
  (void)write(*current_slot(core_), [&](const ConfigState& state) -> Result<ConfigState> {
    ConfigState next = state;
    next.capture = on;
    return next;
  });
}

void RuntimeContext::reset() {
  (void)write(*current_slot(core_), [](const ConfigState&) -> Result<ConfigState> { return ConfigState{}; });
}

std::shared_ptr<const ConfigState> RuntimeContext::snapshot() const { return updated(core_).state; }

std::shared_ptr<const ServerArgs> RuntimeContext::args() const {
  auto args = updated(core_).state->args;
  if (args == nullptr) throw std::logic_error("config args are not published");
  return args;
}

std::vector<OverrideEntry> RuntimeContext::overrides_log() const { return snapshot()->log.entries(); }
Role RuntimeContext::role() const { return snapshot()->role; }
Topology RuntimeContext::parallel() const { return snapshot()->parallel; }
bool RuntimeContext::capturing() const { return snapshot()->capture; }
Stage RuntimeContext::stage() const { return snapshot()->stage; }

const Namespaces* RuntimeContext::refresh() const { return updated(core_).state->namespaces.get(); }

void RuntimeContext::not_published(std::string_view space) {
  throw std::logic_error("config namespace '" + std::string(space) + "' is not published");
}

}  // namespace outrider::config
