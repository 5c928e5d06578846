// From a drafter class to the contract's tables. Every function here is noexcept: whatever the class throws becomes a status and a text.
#pragma once

#include <cstdio>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "outrider/plugin.h"
#include "outrider/sdk/draft.hpp"
#include "outrider/sdk/host.hpp"

#pragma GCC visibility push(hidden)
namespace outrider {
namespace sdk {
inline namespace v0_1 {

inline outrider_status fail(outrider_error* error, outrider_status status, const char* message) noexcept {
  if (error != nullptr && error->struct_size >= sizeof(outrider_error)) {
    error->code = status;
    std::snprintf(error->message, sizeof error->message, "%s", message);
  }
  return status;
}

// Runs `work`, which returns a status or throws.
template <class Work>
outrider_status guarded(outrider_error* error, Work&& work) noexcept {
  try {
    return work();
  } catch (const Error& e) {
    return fail(error, e.status(), e.what());
  } catch (const std::bad_alloc&) {
    return fail(error, OUTRIDER_E_NO_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return fail(error, OUTRIDER_E_EXCEPTION, e.what());
  } catch (...) {
    return fail(error, OUTRIDER_E_EXCEPTION, "an exception that is no std::exception");
  }
}

// Which of the optional members a class has.
template <class T>
using options_of = decltype(T::options);
template <class T>
using require_of =
    decltype(T::require(std::declval<const Config&>(), std::declval<const outrider_model_info&>(), std::declval<outrider_requirements&>()));
template <class T>
using corpora_of = decltype(std::declval<T&>().remove_corpus(""));
template <class T>
using reconfigure_of = decltype(std::declval<T&>().reconfigure(std::declval<const Config&>()));
template <class W>
using save_of = decltype(std::declval<W&>().save(std::declval<const typename W::Request&>()));
template <class W>
using truncate_of = decltype(std::declval<W&>().truncate(std::declval<typename W::Request&>(), 0U));
template <class W>
using verified_of = decltype(std::declval<W&>().on_verified(std::declval<typename W::Request&>(), std::declval<const Verified&>()));
template <class W>
using batch_of = decltype(std::declval<W&>().propose(std::declval<BatchOf<typename W::Request>&>()));

template <template <class> class Member, class T, class = void>
struct has : std::false_type {};
template <template <class> class Member, class T>
struct has<Member, T, std::void_t<Member<T>>> : std::true_type {};

template <class D>
class Tables {
  using Worker = typename D::Worker;
  using Request = typename Worker::Request;
  static constexpr bool kState = has<save_of, Worker>::value;

  // What stands behind the handles. The host is kept since worker_create needs it to read the configuration.
  struct DrafterBox {
    DrafterBox(const outrider_host* h, const outrider_config* c, const outrider_model_info& m)
        : host(h), drafter(host, Config(host, c), m) {}
    Host host;
    D drafter;
  };

  static D& drafter(outrider_drafter* handle) { return reinterpret_cast<DrafterBox*>(handle)->drafter; }
  static Worker& worker(outrider_worker* handle) { return *reinterpret_cast<Worker*>(handle); }
  static Request& request(outrider_request* handle) { return *reinterpret_cast<Request*>(handle); }
  static RequestInfo info_of(const outrider_request_info& info) {
    return {info.id, {info.prompt, info.prompt_count}, info.max_new_tokens, info.temperature, info.seed};
  }

  static const outrider_option* const* options(uint32_t* count) noexcept {
    if constexpr (has<options_of, D>::value) {
      return option_pointers(count, std::make_index_sequence<std::size(D::options)>());
    } else {
      *count = 0;
      return nullptr;
    }
  }
  template <size_t... I>
  static const outrider_option* const* option_pointers(uint32_t* count, std::index_sequence<I...>) noexcept {
    static constexpr const outrider_option* pointers[] = {&D::options[I]...};
    *count = sizeof...(I);
    return pointers;
  }

  static outrider_status require(const outrider_host* host, const outrider_config* config, const outrider_model_info* model,
                                 outrider_requirements* out, outrider_error* error) noexcept {
    return guarded(error, [&] {
      if constexpr (has<require_of, D>::value)
        D::require(Config(Host(host), config), *model, *out);
      else
        static_cast<void>(host), static_cast<void>(config), static_cast<void>(model), static_cast<void>(out);
      return OUTRIDER_OK;
    });
  }

  static outrider_status create(const outrider_host* host, const outrider_config* config, const outrider_model_info* model,
                                outrider_drafter** out, outrider_error* error) noexcept {
    return guarded(error, [&] {
      *out = reinterpret_cast<outrider_drafter*>(new DrafterBox(host, config, *model));
      return OUTRIDER_OK;
    });
  }
  static void destroy(outrider_drafter* handle) noexcept { delete reinterpret_cast<DrafterBox*>(handle); }

  static outrider_status worker_create(outrider_drafter* handle, const outrider_config* config, uint32_t lane, outrider_worker** out,
                                       outrider_error* error) noexcept {
    return guarded(error, [&] {
      auto* box = reinterpret_cast<DrafterBox*>(handle);
      *out = reinterpret_cast<outrider_worker*>(new Worker(box->drafter, Config(box->host, config), lane));
      return OUTRIDER_OK;
    });
  }
  static void worker_destroy(outrider_worker* handle) noexcept { delete reinterpret_cast<Worker*>(handle); }

  static outrider_status request_begin(outrider_worker* handle, const outrider_request_info* info, outrider_request** out,
                                       outrider_error* error) noexcept {
    return guarded(error, [&]() -> outrider_status {
      std::unique_ptr<Request> made = worker(handle).begin(info_of(*info));
      if (!made) return OUTRIDER_NO_DRAFT;
      *out = reinterpret_cast<outrider_request*>(made.release());
      return OUTRIDER_OK;
    });
  }
  static void request_end(outrider_worker*, outrider_request* handle, int32_t) noexcept { delete reinterpret_cast<Request*>(handle); }

  static outrider_status propose(outrider_worker* handle, outrider_propose_batch* batch, outrider_error* error) noexcept {
    return guarded(error, [&] {
      BatchOf<Request> items(*batch);
      if constexpr (has<batch_of, Worker>::value) {
        worker(handle).propose(items);
      } else {
        for (size_t i = 0; i < items.size(); ++i) {
          // One request's trouble is not the others'.
          const outrider_status status = guarded(error, [&] {
            Draft draft = items.draft(i);
            worker(handle).propose(items.request(i), items.item(i), draft);
            return draft.size() == 0 ? OUTRIDER_NO_DRAFT : OUTRIDER_OK;
          });
          items.raw(i).status = status;
        }
      }
      return OUTRIDER_OK;
    });
  }

  static outrider_status on_verified(outrider_worker* handle, const void* items, uint32_t count, uint32_t item_size,
                                     outrider_error* error) noexcept {
    return guarded(error, [&] {
      if constexpr (has<verified_of, Worker>::value) {
        for (uint32_t i = 0; i < count; ++i) {
          const auto* item = OUTRIDER_ITEM(const outrider_verified_item, const_cast<void*>(items), item_size, i);
          worker(handle).on_verified(request(item->request), Verified{{item->accepted, item->accepted_count}, item->bonus_token});
        }
      } else {
        static_cast<void>(handle), static_cast<void>(items), static_cast<void>(count), static_cast<void>(item_size);
      }
      return OUTRIDER_OK;
    });
  }

  static outrider_status truncate(outrider_worker* handle, outrider_request* req, uint32_t count, outrider_error* error) noexcept {
    return guarded(error, [&] {
      if constexpr (has<truncate_of, Worker>::value)
        worker(handle).truncate(request(req), count);
      else
        static_cast<void>(handle), static_cast<void>(req), static_cast<void>(count);
      return OUTRIDER_OK;
    });
  }

  static outrider_status save(outrider_worker* handle, outrider_request* req, void* buffer, uint64_t capacity, uint64_t* used,
                              outrider_error* error) noexcept {
    return guarded(error, [&]() -> outrider_status {
      if constexpr (kState) {
        const std::vector<uint8_t> bytes = worker(handle).save(request(req));
        *used = bytes.size();
        if (bytes.size() > capacity) return fail(error, OUTRIDER_E_NO_MEMORY, "the buffer is too small for the state");
        if (!bytes.empty()) std::memcpy(buffer, bytes.data(), bytes.size());
        return OUTRIDER_OK;
      } else {
        static_cast<void>(handle), static_cast<void>(req), static_cast<void>(buffer), static_cast<void>(capacity), static_cast<void>(used);
        return OUTRIDER_E_UNSUPPORTED;
      }
    });
  }
  static int32_t can_load(const char* format, uint32_t version) noexcept {
    return std::strcmp(format, state_format()) == 0 && version == state_version() ? 1 : 0;
  }
  static outrider_status load(outrider_worker* handle, const outrider_request_info* info, const char* format, uint32_t version,
                              const void* data, uint64_t size, outrider_request** out, outrider_error* error) noexcept {
    return guarded(error, [&]() -> outrider_status {
      if constexpr (kState) {
        if (can_load(format, version) == 0) return fail(error, OUTRIDER_E_UNSUPPORTED, "a state of another format or version");
        auto made = worker(handle).load(info_of(*info), {static_cast<const uint8_t*>(data), static_cast<size_t>(size)}, version);
        if (!made) return fail(error, OUTRIDER_E_INVALID, "not a state of this drafter, or damaged");
        *out = reinterpret_cast<outrider_request*>(made.release());
        return OUTRIDER_OK;
      } else {
        static_cast<void>(handle), static_cast<void>(info), static_cast<void>(format), static_cast<void>(version);
        static_cast<void>(data), static_cast<void>(size), static_cast<void>(out);
        return OUTRIDER_E_UNSUPPORTED;
      }
    });
  }

  static outrider_status add_corpus(outrider_drafter* handle, const char* name, const int32_t* tokens, uint64_t count,
                                    outrider_error* error) noexcept {
    return guarded(error, [&] {
      if constexpr (has<corpora_of, D>::value)
        drafter(handle).add_corpus(name, View<const int32_t>(tokens, static_cast<size_t>(count)));
      else
        static_cast<void>(handle), static_cast<void>(name), static_cast<void>(tokens), static_cast<void>(count);
      return OUTRIDER_OK;
    });
  }
  static outrider_status remove_corpus(outrider_drafter* handle, const char* name, outrider_error* error) noexcept {
    return guarded(error, [&]() -> outrider_status {
      if constexpr (has<corpora_of, D>::value) {
        return drafter(handle).remove_corpus(name) ? OUTRIDER_OK : fail(error, OUTRIDER_E_INVALID, "no corpus of that name");
      } else {
        static_cast<void>(handle), static_cast<void>(name);
        return OUTRIDER_E_UNSUPPORTED;
      }
    });
  }

  // The contract asks for all or nothing: `reconfigure` of the class must not change anything before it can no longer throw.
  static outrider_status reconfigure(outrider_drafter* handle, const outrider_config* config,
                                     const outrider_diagnostics* diagnostics) noexcept {
    outrider_error error = {sizeof(outrider_error), OUTRIDER_OK, {}};
    const outrider_status status = guarded(&error, [&] {
      if constexpr (has<reconfigure_of, D>::value) {
        auto* box = reinterpret_cast<DrafterBox*>(handle);
        box->drafter.reconfigure(Config(box->host, config));
      } else {
        static_cast<void>(handle), static_cast<void>(config);
      }
      return OUTRIDER_OK;
    });
    if (status != OUTRIDER_OK && OUTRIDER_HAS(outrider_diagnostics, diagnostics, report)) {
      diagnostics->report(diagnostics->context, "", error.message, nullptr);
    }
    return status;
  }

  static constexpr outrider_drafter_1 kDrafter = {sizeof(outrider_drafter_1),
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
                                                  has<verified_of, Worker>::value ? on_verified : nullptr,
                                                  has<truncate_of, Worker>::value ? truncate : nullptr,
                                                  request_end};
  static constexpr outrider_state_1 kStateTable = {sizeof(outrider_state_1), 0, save, can_load, load};
  static constexpr outrider_corpora_1 kCorpora = {sizeof(outrider_corpora_1), 0, add_corpus, remove_corpus};
  static constexpr outrider_reconfigure_1 kReconfigure = {sizeof(outrider_reconfigure_1), 0, reconfigure};

 public:
  static constexpr const char* state_format() {
    if constexpr (kState)
      return D::state_format;
    else
      return "";
  }
  static constexpr uint32_t state_version() {
    if constexpr (kState)
      return D::state_version;
    else
      return 0;
  }

  static const void* query(const char* id) noexcept {
    if (std::strcmp(id, OUTRIDER_DRAFTER_1) == 0) return &kDrafter;
    if (kState && std::strcmp(id, OUTRIDER_STATE_1) == 0) return &kStateTable;
    if (has<corpora_of, D>::value && std::strcmp(id, OUTRIDER_CORPORA_1) == 0) return &kCorpora;
    if (has<reconfigure_of, D>::value && std::strcmp(id, OUTRIDER_RECONFIGURE_1) == 0) return &kReconfigure;
    return nullptr;
  }
};

}  // namespace v0_1
}  // namespace sdk
}  // namespace outrider
#pragma GCC visibility pop
