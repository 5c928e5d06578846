// Dequantising agrees with the `gguf` Python package to the bit, for every tensor type this project computes with.
#include <catch2/catch.hpp>

#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "kernels/cpu/dequantize.hpp"
#include "kernels/types.hpp"

namespace {

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes(text.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return bytes;
}

}  // namespace

TEST_CASE("every tensor type dequantises to the floats of the gguf package, bit for bit") {
  std::ifstream stream(OUTRIDER_TEST_DATA "/golden/dequantize.json");
  const auto golden = nlohmann::json::parse(stream);
  std::set<uint32_t> seen;
  for (const auto& entry : golden.at("cases")) {
    const auto type = entry.at("gguf_type").get<uint32_t>();
    const auto elements = entry.at("elements").get<int64_t>();
    INFO("type " << entry.at("type"));
    const auto traits = outrider::kernels::type_traits(type);
    REQUIRE(traits);
    CHECK(traits->name == entry.at("type").get<std::string>());
    const auto blocks = from_hex(entry.at("blocks").get<std::string>());
    REQUIRE(static_cast<int64_t>(blocks.size()) == elements / traits->block_elements * traits->block_bytes);
    const auto expected = from_hex(entry.at("expected").get<std::string>());
    REQUIRE(expected.size() == static_cast<size_t>(elements) * sizeof(float));

    std::vector<float> values(static_cast<size_t>(elements));
    outrider::kernels::dequantize_row(static_cast<outrider::kernels::TensorType>(type), blocks.data(), elements, values.data());
    size_t different = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      if (std::memcmp(&values[i], &expected[i * sizeof(float)], sizeof(float)) == 0) continue;
      float wanted;
      std::memcpy(&wanted, &expected[i * sizeof(float)], sizeof(float));
      if (different++ == 0) UNSCOPED_INFO("first difference: element " << i << " is " << values[i] << ", expected " << wanted);
    }
    CHECK(different == 0);
    seen.insert(type);
  }
  for (uint32_t type = 0; type < 100; ++type) {
    INFO("type " << type);
    if (outrider::kernels::type_traits(type)) CHECK(seen.count(type) == 1);  // a type added to the kernels is added here too
  }
}
