// A drafter in C++, without writing the binary contract by hand: a header-only wrapper over outrider/plugin.h. It makes the entry, the ELF
// note and the tables, turns every exception into a status with its text, and gives views for pointers. It adds nothing to the contract,
// and nothing of it crosses the border, so plugins built with different versions of it live side by side. C++17.
//
// A plugin is one class for the drafter and one for its worker; what they offer is what the plugin offers:
//
//   struct Request { … };                                                  // whatever is kept for one request
//   class EchoWorker {
//    public:
//     using Request = ::Request;
//     EchoWorker(EchoDrafter& drafter, const Config& config, uint32_t lane);
//     std::unique_ptr<Request> begin(const RequestInfo& info);             // nullptr: will not serve it
//     void propose(Request& request, const Item& item, Draft& draft);      // or: void propose(Batch& batch), for a network
//     void on_verified(Request& request, const Verified& verified);        // optional
//     void truncate(Request& request, uint32_t token_count);               // optional
//     std::vector<uint8_t> save(const Request& request);                   // optional, with load: outrider.state/1
//     std::unique_ptr<Request> load(const RequestInfo& info, View<const uint8_t> state, uint32_t version);
//   };
//   class EchoDrafter {
//    public:
//     using Worker = EchoWorker;
//     static constexpr outrider_option options[] = {integer_option("length", "4", 1, 16, "how many tokens to repeat")};   // optional
//     static constexpr char state_format[] = "echo";                       // with save and load
//     static constexpr uint32_t state_version = 1;
//     EchoDrafter(const Host& host, const Config& config, const outrider_model_info& model);
//     static void require(const Config&, const outrider_model_info&, outrider_requirements& out);   // optional
//     void add_corpus(const char* name, View<const int32_t> tokens);       // optional, with remove_corpus: outrider.corpora/1
//     bool remove_corpus(const char* name);
//     void reconfigure(const Config& config);                              // optional: outrider.reconfigure/1
//   };
//   OUTRIDER_PLUGIN(EchoDrafter, "org.example.echo", "echo", "1.0.0", OUTRIDER_CAP_TOKENS_ONLY, "Me", "MIT", "https://example.org")
#pragma once

#include "outrider/plugin.h"
#include "outrider/sdk/draft.hpp"
#include "outrider/sdk/host.hpp"
#include "outrider/sdk/tables.hpp"

// In exactly one source file of the plugin, at file scope, outside every namespace.
#define OUTRIDER_PLUGIN(Type, id_text, name_text, version_text, capability_bits, vendor_text, license_text, url_text)        \
  OUTRIDER_NOTE(id_text, version_text, capability_bits, OUTRIDER_SDK_VERSION);                                               \
  static const outrider_descriptor outrider_descriptor_of_this_plugin = {sizeof(outrider_descriptor),                        \
                                                                         ::outrider::sdk::Tables<Type>::state_version(),     \
                                                                         (capability_bits),                                  \
                                                                         id_text,                                            \
                                                                         name_text,                                          \
                                                                         vendor_text,                                        \
                                                                         version_text,                                       \
                                                                         license_text,                                       \
                                                                         url_text,                                           \
                                                                         ::outrider::sdk::Tables<Type>::state_format()};     \
  static const outrider_descriptor* outrider_descriptor_get() { return &outrider_descriptor_of_this_plugin; }                \
  static const outrider_entry_v1 outrider_entry_of_this_plugin = {sizeof(outrider_entry_v1),                                 \
                                                                  OUTRIDER_ABI_MAJOR,                                        \
                                                                  OUTRIDER_ABI_MINOR,                                        \
                                                                  0,                                                         \
                                                                  OUTRIDER_SDK_VERSION,                                      \
                                                                  outrider_descriptor_get,                                   \
                                                                  nullptr,                                                   \
                                                                  nullptr,                                                   \
                                                                  ::outrider::sdk::Tables<Type>::query};                     \
  extern "C" OUTRIDER_EXPORT const outrider_entry_v1* outrider_entry_get_v1(void) { return &outrider_entry_of_this_plugin; } \
  static_assert(true, "a semicolon may follow")
