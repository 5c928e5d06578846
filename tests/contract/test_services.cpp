// What a plugin is lent, called the way a plugin calls it.
#include <catch2/catch.hpp>
#include <cstdint>

#include "drafting/host_services.hpp"

using namespace outrider;

namespace {

template <class Service>
const Service* service(const outrider_host* host, const char* id) {
  return static_cast<const Service*>(host->query(host, id));
}

}  // namespace

TEST_CASE("an unknown service, or a known one with something after its id, is absent") {
  config::RuntimeContext context;
  drafting::HostServices services(context, "test");
  CHECK(services.host()->query(services.host(), "outrider.host.teleport/1") == nullptr);
  CHECK(services.host()->query(services.host(), "outrider.host.log/12") == nullptr);
  CHECK(services.host()->query(services.host(), nullptr) == nullptr);
  CHECK(service<outrider_host_log_1>(services.host(), OUTRIDER_HOST_LOG_1) != nullptr);
}

TEST_CASE("lent memory is aligned as asked, accounted, and back to nothing when released") {
  config::RuntimeContext context;
  drafting::HostServices services(context, "test");
  const auto* memory = service<outrider_host_memory_1>(services.host(), OUTRIDER_HOST_MEMORY_1);
  for (const uint64_t alignment : {1, 8, 64, 4096}) {
    void* block = memory->allocate(services.host(), 100, alignment);
    REQUIRE(block != nullptr);
    CHECK(reinterpret_cast<uintptr_t>(block) % alignment == 0);
    CHECK(services.bytes_held() == 100);
    memory->release(services.host(), block);
    CHECK(services.bytes_held() == 0);
  }
  CHECK(memory->allocate(services.host(), 100, 3) == nullptr);
  CHECK(memory->allocate(services.host(), UINT64_MAX, 8) == nullptr);
  memory->release(services.host(), nullptr);
}

TEST_CASE("configuration is read by dotted name, options by bare key, and a wrong type writes nothing") {
  config::RuntimeContext context;
  auto args = std::make_shared<const config::ServerArgs>();
  REQUIRE(context.publish(args, config::Role::test).ok());
  drafting::HostServices services(context, "test");
  const outrider_config config = {args, {{"share", 0.25}, {"depth", int64_t{4}}, {"kind", std::string("fast")}, {"on", true}}};
  const auto* read = service<outrider_host_config_1>(services.host(), OUTRIDER_HOST_CONFIG_1);
  const outrider_host* host = services.host();
  int32_t flag = 0;
  int64_t whole = 77;
  double real = 0;
  const char* text = nullptr;
  CHECK((read->get_bool(host, &config, "on", &flag) == OUTRIDER_OK && flag == 1));
  CHECK((read->get_float(host, &config, "share", &real) == OUTRIDER_OK && real == 0.25));
  CHECK((read->get_float(host, &config, "depth", &real) == OUTRIDER_OK && real == 4.0));
  REQUIRE(read->get_string(host, &config, "kind", &text) == OUTRIDER_OK);
  CHECK(std::string(text) == "fast");
  CHECK(read->get_int(host, &config, "kind", &whole) == OUTRIDER_E_CONFIG);
  CHECK(read->get_int(host, &config, "absent", &whole) == OUTRIDER_E_INVALID);
  CHECK(whole == 77);
  REQUIRE(read->get_string(host, nullptr, "model.load_format", &text) == OUTRIDER_OK);
  CHECK(std::string(text) == "auto");
  CHECK(read->get_string(host, &config, "spec.draft_model_path", &text) == OUTRIDER_E_INVALID);  // not set
  CHECK(read->get_string(host, &config, "serving.api_key", &text) == OUTRIDER_E_INVALID);        // a secret is none of a plugin's business
}
