// A whole GGUF file: what is written is what is read, and a question the file cannot answer gets an error that says why.
#include <catch2/catch.hpp>

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "formats/gguf.hpp"
#include "formats/gguf_types.hpp"
#include "support/gguf_samples.hpp"
#include "support/gguf_walk.hpp"

using outrider::formats::GgufFile;
using outrider::testing::GgufWriter;
using Catch::Matchers::Contains;

namespace {

GgufFile read(const std::vector<std::byte>& bytes) {
  auto file = GgufFile::from_bytes(bytes, "test.gguf");
  if (!file) FAIL(file.error().message);
  return *std::move(file);
}

template <class T>
std::string message(const outrider::Result<T>& result) {
  REQUIRE_FALSE(result.ok());
  return result.error().message;
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::vector<std::byte>& bytes)
      : path_(OUTRIDER_TEST_BINARY_DIR "/gguf_test_" + std::to_string(getpid()) + ".gguf") {
    std::ofstream out(path_, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("every kind of metadata value is read as it was written") {
  const auto bytes = outrider::testing::sample_with_everything().build();
  const GgufFile file = read(bytes);
  CHECK(file.version() == 3);
  CHECK(file.file_bytes() == bytes.size());
  CHECK(file.keys().size() == 18);
  CHECK(*file.string("general.architecture") == "llama");
  CHECK(*file.unsigned_integer("a.u8") == 200);
  CHECK(*file.integer("a.i8") == -5);
  CHECK(*file.unsigned_integer("a.u16") == 60000);
  CHECK(*file.integer("a.i16") == -300);
  CHECK(*file.unsigned_integer("a.u32") == 4000000000);
  CHECK(*file.integer("a.i32") == -70000);
  CHECK(*file.number("a.f32") == 1.5);
  CHECK(*file.boolean("a.bool"));
  CHECK(*file.unsigned_integer("a.u64") == uint64_t{1} << 63);
  CHECK(*file.integer("a.i64") == -(int64_t{1} << 40));
  CHECK(*file.number("a.f64") == 0.1);
  CHECK(*file.number("a.i32") == -70000.0);
  CHECK(*file.number("a.u64") == 0x1p63);
  CHECK(*file.strings("tokenizer.ggml.tokens") == std::vector<std::string_view>{"a", "", "b c"});
  CHECK(*file.floats("tokenizer.ggml.scores") == std::vector<float>{0, -1, -2.5});
  CHECK(*file.floats("a.f64s") == std::vector<float>{0.25, 4});
  CHECK(*file.integers("tokenizer.ggml.token_type") == std::vector<int64_t>{1, 3, -6});
  CHECK(*file.integers("a.bools") == std::vector<int64_t>{1, 0});
  CHECK(file.is_array("a.nested"));
  CHECK_FALSE(file.is_array("a.u8"));
  CHECK_FALSE(file.has("a.u9"));
}

TEST_CASE("tensors keep their order, shapes and bytes") {
  const auto bytes = outrider::testing::sample_with_everything().build();
  const GgufFile file = read(bytes);
  REQUIRE(file.tensors().size() == 2);
  const auto& a = file.tensors()[0];
  const auto& b = file.tensors()[1];
  CHECK(a.name == "a.weight");
  CHECK(a.type == outrider::kernels::TensorType::f32);
  CHECK(a.shape == std::vector<int64_t>{4, 3});
  REQUIRE(a.data.size() == 48);
  CHECK(std::memcmp(a.data.data(), outrider::testing::bytes_of(48).data(), 48) == 0);
  CHECK(b.type == outrider::kernels::TensorType::q4_1);
  REQUIRE(b.data.size() == 80);
  CHECK(std::memcmp(b.data.data(), outrider::testing::bytes_of(80).data(), 80) == 0);
  CHECK((b.data.data() - bytes.data()) % 32 == 0);
  CHECK(file.find("b.weight") == &b);
  CHECK(file.find("c.weight") == nullptr);
}

TEST_CASE("version 2 and other alignments are read too") {
  const auto two = outrider::testing::sample_version_2().build();
  CHECK(read(two).version() == 2);
  const auto aligned = outrider::testing::sample_alignment_64().build();
  const GgufFile file = read(aligned);
  CHECK((file.find("b")->data.data() - aligned.data()) % 64 == 0);
  CHECK(std::memcmp(file.find("b")->data.data(), outrider::testing::bytes_of(210).data(), 210) == 0);
}

TEST_CASE("a question of the wrong type names the key, the expected and the found type") {
  const auto bytes = outrider::testing::sample_with_everything().build();
  const GgufFile file = read(bytes);
  CHECK_THAT(message(file.string("a.u8")), Contains("test.gguf: metadata 'a.u8' at byte") && Contains("expected a string, found u8"));
  CHECK_THAT(message(file.boolean("a.i64")), Contains("'a.i64'") && Contains("expected a bool, found i64"));
  CHECK_THAT(message(file.unsigned_integer("a.f32")), Contains("expected an integer, found f32"));
  CHECK_THAT(message(file.unsigned_integer("a.i8")), Contains("expected 0 or more, found -5"));
  CHECK_THAT(message(file.integer("a.u64")), Contains("expected less than 2^63, found 9223372036854775808"));
  CHECK_THAT(message(file.number("a.bool")), Contains("expected a number, found bool"));
  CHECK_THAT(message(file.strings("tokenizer.ggml.scores")), Contains("expected an array of string, found array of f32"));
  CHECK_THAT(message(file.floats("tokenizer.ggml.tokens")), Contains("expected an array of a float type, found array of string"));
  CHECK_THAT(message(file.integers("a.nested")), Contains("expected an array of an integer type, found array of array"));
  CHECK_THAT(message(file.string("absent")), Contains("metadata 'absent'") && Contains("nothing of that name"));
}

TEST_CASE("a default stands in for a missing key but not for a wrong one") {
  const auto bytes = outrider::testing::sample_with_everything().build();
  const GgufFile file = read(bytes);
  CHECK(*file.value_or<uint32_t>("absent", 7) == 7);
  CHECK(*file.value_or<uint32_t>("a.u8", 7) == 200);
  CHECK(*file.value_or("absent", std::string_view("none")) == "none");
  CHECK(*file.value_or("a.bool", false));
  CHECK(*file.value_or("a.f32", 0.5F) == 1.5F);
  CHECK(*file.value_or("a.i64", int64_t{0}) == -(int64_t{1} << 40));
  CHECK_THAT(message(file.value_or("a.bool", 1.0F)), Contains("expected a number, found bool"));
  CHECK_THAT(message(file.value_or<int32_t>("a.i64", 1)), Contains("expected a value of at most 32 bits, found -1099511627776"));
}

TEST_CASE("a tensor is refused by name, shape or type where it is asked for") {
  GgufWriter writer;
  writer.tensor("w", 8, {64, 2}, outrider::testing::bytes_of(136));
  writer.tensor("q2", 10, {256}, outrider::testing::bytes_of(84));
  writer.tensor("iq4", 23, {256}, outrider::testing::bytes_of(136));
  writer.tensor("young", 42, {256}, outrider::testing::bytes_of(64));
  const auto bytes = writer.build();
  const GgufFile file = read(bytes);
  CHECK(*file.tensor("w", std::vector<int64_t>{64, 2}) == file.find("w"));
  CHECK_THAT(message(file.tensor("v", std::vector<int64_t>{64, 2})), Contains("tensor 'v'") && Contains("nothing of that name"));
  CHECK_THAT(message(file.tensor("w", std::vector<int64_t>{2, 64})), Contains("expected shape {2, 64}, found {64, 2}"));
  CHECK_THAT(message(file.tensor("w", std::vector<int64_t>{64})), Contains("expected shape {64}, found {64, 2}"));
  CHECK_THAT(message(file.tensor("q2", std::vector<int64_t>{256})), Contains("tensor 'q2'") && Contains("Q6_K") && Contains("found Q2_K"));
  CHECK_THAT(message(file.tensor("iq4", std::vector<int64_t>{256})), Contains("found IQ4_XS"));
  CHECK_THAT(message(file.tensor("young", std::vector<int64_t>{256})), Contains("found Q2_0"));
  CHECK(file.find("young")->data.empty());
  CHECK(file.find("q2")->data.size() == 84);
}

TEST_CASE("the reader's table of tensor types agrees with the kernels'") {
  int computable = 0;
  for (uint32_t type = 0; type < 100; ++type) {
    const auto traits = outrider::kernels::type_traits(type);
    if (!traits) continue;
    ++computable;
    const auto info = outrider::formats::tensor_type_info(type);
    REQUIRE(info);
    CHECK(info->name == traits->name);
    CHECK(info->block_elements == traits->block_elements);
    CHECK(info->block_bytes == traits->block_bytes);
  }
  CHECK(computable == 11);
  CHECK(outrider::formats::gguf_type_name(22) == "IQ2_S");
  CHECK(outrider::formats::gguf_type_name(1000) == "unknown type");
}

TEST_CASE("a file on disk is mapped, and released data can be read again") {
  GgufWriter writer;
  const auto data = outrider::testing::bytes_of(4 * 16384);
  writer.tensor("big", 0, {16384}, data);
  const TemporaryFile on_disk(writer.build());
  auto file = GgufFile::open(on_disk.path());
  REQUIRE(file.ok());
  CHECK(file->name() == on_disk.path().string());
  const auto& big = *file->find("big");
  CHECK(std::memcmp(big.data.data(), data.data(), data.size()) == 0);
  file->release(big);
  CHECK(std::memcmp(big.data.data(), data.data(), data.size()) == 0);
  const GgufFile moved = *std::move(file);
  CHECK(std::memcmp(moved.find("big")->data.data(), data.data(), data.size()) == 0);
}

TEST_CASE("a path that is no model file is an error that names it") {
  CHECK_THAT(message(GgufFile::open("/no/such/model.gguf")), Contains("/no/such/model.gguf") && Contains("scripts/fetch-model"));
  CHECK_THAT(message(GgufFile::open(OUTRIDER_TEST_DATA)), Contains("expected a regular file, found a folder"));
  CHECK_THAT(message(GgufFile::open("/dev/null")), Contains("found a special file"));
  CHECK_THAT(message(GgufFile::open(OUTRIDER_TEST_DATA "/README.md")), Contains("magic at byte 0: expected 'GGUF', found '# Te'"));
  const TemporaryFile empty({});
  CHECK_THAT(message(GgufFile::open(empty.path())), Contains("magic at byte 0") && Contains("the end of the file after 0"));
}

TEST_CASE("the default model opens, and every tensor of it can be computed with") {
  const char* folder = std::getenv("OUTRIDER_MODELS");
  const char* home = std::getenv("HOME");
  const std::filesystem::path models = folder != nullptr ? std::filesystem::path(folder)
                                                         : std::filesystem::path(home != nullptr ? home : "/") / ".cache/outrider/models";
  const auto path = models / "smollm2-135m-instruct.gguf";
  INFO("run scripts/fetch-model if " << path << " is missing");
  auto file = GgufFile::open(path);
  REQUIRE(file.ok());
  CHECK(*file->string("general.architecture") == "llama");
  CHECK(*file->unsigned_integer("llama.block_count") == 30);
  CHECK(file->strings("tokenizer.ggml.tokens")->size() == 49152);
  CHECK(file->tensors().size() == 272);
  for (const auto& tensor : file->tensors()) CHECK(file->tensor(tensor.name, tensor.shape).ok());
}
