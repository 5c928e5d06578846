// The configuration in force. A state {args, namespaces, overrides log, role, parallel, capture flag, stage} is immutable; a write
// makes the next state and swaps it in. So remembering a state is keeping a pointer and restoring one is assigning it.
//
// Threads: the process state is read and written from any thread. A preserve window gives the thread that opens it a state of its
// own until the window closes; other threads never see it, and what they do to the process state meanwhile is neither lost nor seen
// inside. A task sees its opener's window when it adopts the opener's captured handle.
//
//   context.publish(args, Role::scheduler)                                   Result<Published>, all or nothing
//   context.get_model().path                                                 get_device() … get_observability()
//   context.override("kv-gate", {{"memory.kv_type", "f16"}})                 Result<void>, all or nothing, logged
//   { auto window = context.preserve_config();                               everything inside is undone at the brace
//     context.publish(draft_args, Role::draft); … }
//   pool.run(context.carry([&](const kernels::Worker& worker) { … }));         tasks that see this thread's window
//   context.overrides_log()   context.args()   context.snapshot()   context.advance(Stage::load)   context.reset()
//
// A programming error (reading what is not published, a null argument) throws, and closing windows out of order ends the program; a
// wrong value or name is an Error.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "config/fields.hpp"
#include "config/overrides_log.hpp"
#include "config/server_args.hpp"

namespace outrider::config {

enum class Role : uint8_t { none, scheduler, launcher, server, draft, test };
std::string_view role_name(Role role);

// This process among the ranks.
struct Topology {
  int rank = 0;
  int size = 1;
  bool operator==(const Topology&) const = default;
};

// The configuration state. Every member is restored by a preserve window, since a window keeps the whole object; the state-coverage
// test counts the members.
struct ConfigState {
  std::shared_ptr<const ServerArgs> args;        // null: nothing is published
  std::shared_ptr<const Namespaces> namespaces;  // args with the log replayed; null exactly when args is
  OverridesLog log;
  Role role = Role::none;
  Topology parallel;
  bool capture = false;  // step graphs are being captured
  Stage stage = Stage::start;
};

struct Published {
  std::vector<OverrideEntry> dropped;  // overrides of the publication that this one replaced
};

namespace detail {
struct Slot;
struct Core;
// What a thread last read, so that reading again costs two comparisons.
struct ThreadView {
  uint64_t context = 0;                          // which RuntimeContext; 0: none yet
  const std::atomic<uint64_t>* epoch = nullptr;  // of the slot this thread reads
  uint64_t seen = 0;
  const Namespaces* namespaces = nullptr;  // null: not published
};
extern thread_local constinit ThreadView thread_view;
}  // namespace detail

// A window's, or an adopted context's, life on this thread. Closes in its destructor; neither copied nor moved, since it belongs to
// the scope and the thread that opened it.
class [[nodiscard]] ContextScope {
 public:
  ~ContextScope();
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  friend class RuntimeContext;
  friend class ContextHandle;
  ContextScope(std::shared_ptr<detail::Core> core, std::shared_ptr<detail::Slot> slot);
  std::shared_ptr<detail::Core> core_;
  detail::Slot* slot_;
};

// What a thread sees, to be handed to a task. May outlive the window it was captured in (the task then still sees the window's state).
class ContextHandle {
 public:
  // The calling thread sees what the captured one does until the scope ends, its writes included.
  [[nodiscard]] ContextScope adopt() const;

 private:
  friend class RuntimeContext;
  std::shared_ptr<detail::Core> core_;
  std::shared_ptr<detail::Slot> slot_;
};

class RuntimeContext {
 public:
  RuntimeContext();
  ~RuntimeContext();
  RuntimeContext(const RuntimeContext&) = delete;
  RuntimeContext& operator=(const RuntimeContext&) = delete;

  // Makes args the configuration: namespaces from its values, an empty log, stage start, no capture. The last publication wins; the
  // overrides it drops are returned and logged as a warning. An error (contradictory values, a rank that does not exist) changes nothing.
  Result<Published> publish(std::shared_ptr<const ServerArgs> args, Role role);

  // The only write after publication. Every field's name, type, range and last stage is checked before any is written; one log
  // entry. No assignments: nothing happens, even when nothing is published.
  Result<void> override(std::string_view source, const std::vector<Assignment>& assignments);

  // Remembers this thread's configuration; the scope's end, also by exception, makes it current again, verbatim.
  [[nodiscard]] ContextScope preserve_config();

  // What this thread sees, for a task to adopt.
  [[nodiscard]] ContextHandle capture() const;

  // `task` as one that runs, in whatever thread it is called, under what this thread sees now: for a thread pool, or the control thread.
  template <class Task>
  [[nodiscard]] auto carry(Task task) const {
    return [handle = capture(), task = std::move(task)](auto&&... arguments) -> decltype(auto) {
      const ContextScope scope = handle.adopt();
      return task(std::forward<decltype(arguments)>(arguments)...);
    };
  }

  // The stage of the current state moves on; never back (an error).
  Result<void> advance(Stage stage);
  Result<void> set_parallel(Topology topology);  // an error unless 0 <= rank < size
  void set_capture(bool on);

  // Drops everything this thread sees: args, namespaces, log, role, parallel, capture, stage.
  void reset();

  // The current state; keeps it alive for as long as the pointer is held.
  [[nodiscard]] std::shared_ptr<const ConfigState> snapshot() const;
  [[nodiscard]] std::shared_ptr<const ServerArgs> args() const;  // throws when nothing is published
  [[nodiscard]] bool published() const { return view() != nullptr; }
  [[nodiscard]] std::vector<OverrideEntry> overrides_log() const;
  [[nodiscard]] Role role() const;
  [[nodiscard]] Topology parallel() const;
  [[nodiscard]] bool capturing() const;
  [[nodiscard]] Stage stage() const;

  // get_device(), get_model(), …: the values in force. Throws std::logic_error "config namespace 'spec' is not published". About as
  // fast as a plain read. The reference stays good through this thread's next 15 calls of an accessor; use snapshot() to hold on longer.
#define OUTRIDER_ACCESSOR(space, Struct, FIELDS, text) \
  [[nodiscard]] const Struct& get_##space() const {    \
    const Namespaces* values = view();                 \
    if (values == nullptr) [[unlikely]]                \
      not_published(#space);                           \
    return values->space;                              \
  }
  OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_ACCESSOR)
#undef OUTRIDER_ACCESSOR

 private:
  [[nodiscard]] const Namespaces* view() const {
    const detail::ThreadView& view = detail::thread_view;
    if (view.context == id_ && view.epoch->load(std::memory_order_acquire) == view.seen) [[likely]]
      return view.namespaces;
    return refresh();
  }
  const Namespaces* refresh() const;
  [[noreturn]] static void not_published(std::string_view space);

  uint64_t id_;
  std::shared_ptr<detail::Core> core_;
};

}  // namespace outrider::config
