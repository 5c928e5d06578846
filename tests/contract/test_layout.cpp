// The layout of the contract is frozen: tests/data/abi_layout.txt has every size and offset of ABI 1.0. Fields may be added at a struct's
// end, which changes its size and adds lines; nothing else may change.
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <string>

#include "layout.h"
#include "outrider/plugin.h"

namespace {

std::map<std::string, size_t> golden() {
  std::ifstream file(std::string(OUTRIDER_TEST_DATA) + "/abi_layout.txt");
  std::map<std::string, size_t> lines;
  std::string name;
  for (size_t value = 0; file >> name >> value;) lines[name] = value;
  return lines;
}

std::string printed() {
  std::string text;
  for (const layout_line* line = layout_of_the_contract; line->name != nullptr; ++line) {
    text += std::string(line->name) + " " + std::to_string(line->value) + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("every size and offset of the contract is the golden one, in C", "[layout]") {
  const auto expected = golden();
  REQUIRE_FALSE(expected.empty());
  INFO("the layout as compiled:\n" << printed());
  size_t lines = 0;
  for (const layout_line* line = layout_of_the_contract; line->name != nullptr; ++line, ++lines) {
    const auto known = expected.find(line->name);
    INFO(line->name);
    REQUIRE(known != expected.end());
    CHECK(line->value == known->second);
  }
  CHECK(lines == expected.size());
}

TEST_CASE("C and C++ agree on the layout", "[layout]") {
  const auto expected = golden();
  CHECK(sizeof(outrider_entry_v1) == expected.at("outrider_entry_v1"));
  CHECK(sizeof(outrider_drafter_1) == expected.at("outrider_drafter_1"));
  CHECK(sizeof(outrider_propose_item) == expected.at("outrider_propose_item"));
  CHECK(sizeof(outrider_note) == expected.at("outrider_note"));
  CHECK(offsetof(outrider_note, descriptor) % 4 == 0);  // what a note's reader expects
}

TEST_CASE("a field counts as absent when the other side's struct does not reach it", "[layout]") {
  outrider_host_log_1 service = {sizeof(outrider_host_log_1), [](const outrider_host*, int32_t, const char*, uint64_t) {}};
  CHECK(OUTRIDER_HAS(outrider_host_log_1, &service, write));
  service.struct_size = offsetof(outrider_host_log_1, write);
  CHECK_FALSE(OUTRIDER_HAS(outrider_host_log_1, &service, write));
  service = {sizeof(outrider_host_log_1) + 64, nullptr};
  CHECK_FALSE(OUTRIDER_HAS(outrider_host_log_1, &service, write));
}
