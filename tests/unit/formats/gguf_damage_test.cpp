// A damaged GGUF file: empty, cut short, with any field changed. Each gives an error that names the field and its byte offset, or a
// file that is valid after all; none reads outside the bytes (the reader here is built with the address sanitizer).
#include <catch2/catch.hpp>

#include <functional>

#include "formats/gguf.hpp"
#include "support/gguf_samples.hpp"
#include "support/gguf_walk.hpp"

using outrider::formats::GgufFile;
using outrider::testing::GgufWriter;
using Catch::Matchers::Contains;

namespace {

// The error's text; empty when the file is valid, after every byte it leads to was read. The bytes are copied to memory of exactly
// their size, so that the sanitizer knows their end.
std::string error_of(const std::vector<std::byte>& bytes) {
  const auto exact = std::make_unique<std::byte[]>(bytes.size());
  std::copy(bytes.begin(), bytes.end(), exact.get());
  const auto file = GgufFile::from_bytes({exact.get(), bytes.size()}, "test.gguf");
  if (!file) return file.error().message;
  outrider::testing::walk(*file);
  return "";
}

std::string error_of(GgufWriter writer) { return error_of(writer.build()); }

std::string error_with(GgufWriter writer, const std::string& field, uint64_t bits) {
  auto bytes = writer.build();
  GgufWriter::overwrite(bytes, writer.field(field), bits);
  return error_of(bytes);
}

// Where the error text says the fault is: "… at byte N: expected …, found …; remedy".
void check_names_field_and_offset(const std::string& error) {
  CHECK_THAT(error, Contains("test.gguf: ") && Contains(" at byte ") && Contains(": expected ") && Contains(", found ") && Contains("; "));
}

}  // namespace

TEST_CASE("an empty file says that it has no magic") {
  CHECK_THAT(error_of(std::vector<std::byte>{}), Contains("magic at byte 0: expected 4 bytes, found the end of the file after 0"));
}

TEST_CASE("a file cut at any of 200 places names the field that is missing") {
  const auto whole = outrider::testing::sample_with_everything().build();
  REQUIRE(whole.size() > 200);
  REQUIRE(error_of(whole).empty());
  for (size_t i = 0; i < 200; ++i) {
    const size_t cut = i * whole.size() / 200;
    INFO("cut at byte " << cut << " of " << whole.size());
    check_names_field_and_offset(error_of(std::vector<std::byte>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(cut))));
  }
}

TEST_CASE("a file cut one byte short names the tensor that is not whole") {
  auto bytes = outrider::testing::sample_with_everything().build();
  bytes.pop_back();
  CHECK_THAT(error_of(bytes), Contains("tensor 1 'b.weight' offset") && Contains("80 bytes of data within the file's"));
}

TEST_CASE("every field changed to 0, -1 and 2^63-1 gives a named error or a valid file") {
  for (auto& [name, writer] : outrider::testing::all_gguf_samples()) {
    const auto whole = writer.build();
    REQUIRE(error_of(whole).empty());
    for (const auto& field : writer.fields()) {
      for (const uint64_t bits : {uint64_t{0}, ~uint64_t{0}, ~uint64_t{0} >> 1}) {
        INFO(name << ": field '" << field.name << "' at byte " << field.at << " set to " << bits);
        auto bytes = whole;
        GgufWriter::overwrite(bytes, field, bits);
        const std::string error = error_of(bytes);
        if (!error.empty()) check_names_field_and_offset(error);
      }
    }
  }
}

TEST_CASE("a damaged header field is named with its offset") {
  const auto sample = outrider::testing::sample_with_everything();
  CHECK_THAT(error_with(sample, "magic", 0), Contains("magic at byte 0: expected 'GGUF'") && Contains("not a GGUF file"));
  CHECK_THAT(error_with(sample, "version", 0), Contains("version at byte 4: expected 2 or 3, found 0"));
  CHECK_THAT(error_with(sample, "version", 1), Contains("found 1 (the first layout"));
  CHECK_THAT(error_with(sample, "version", 4), Contains("expected 2 or 3, found 4"));
  CHECK_THAT(error_with(sample, "version", 0x03000000), Contains("a big-endian file"));
  CHECK_THAT(error_with(sample, "tensor count", ~uint64_t{0}), Contains("tensor count at byte 8: expected at most"));
  CHECK_THAT(error_with(sample, "metadata count", ~uint64_t{0} >> 1), Contains("metadata count at byte 16: expected at most"));
}

TEST_CASE("a damaged metadata field is named with its offset") {
  auto sample = outrider::testing::sample_with_everything();
  sample.build();
  const auto check = [&](const std::string& field, uint64_t bits, const std::string& expected) {
    INFO(field << " set to " << bits);
    const std::string error = error_with(sample, field, bits);
    CHECK_THAT(error, Contains(expected));
    CHECK_THAT(error, Contains("at byte " + std::to_string(sample.field(field).at) + ":"));
  };
  check("metadata a.u8 key length", ~uint64_t{0}, "metadata 1 key at byte");
  check("metadata a.u8 key length", 0, "metadata 1 key length at byte");
  check("metadata a.u8 type", 13, "metadata 1 'a.u8' type");
  check("metadata a.bool value", 2, "'a.bool' value at byte");
  check("metadata general.architecture value length", uint64_t{1} << 63, "'general.architecture' value at byte");
  check("metadata tokenizer.ggml.tokens element type", 99, "'tokenizer.ggml.tokens' element type");
  check("metadata tokenizer.ggml.tokens element count", uint64_t{1} << 60, "'tokenizer.ggml.tokens' element count");
  check("metadata tokenizer.ggml.scores element count", uint64_t{1} << 62, "'tokenizer.ggml.scores' element count");  // times 4 wraps
  check("metadata tokenizer.ggml.tokens element length", ~uint64_t{0}, "'tokenizer.ggml.tokens' at byte");
  check("metadata a.bools element", 2, "'a.bools' at byte");
}

TEST_CASE("a damaged tensor field is named with its offset") {
  auto sample = outrider::testing::sample_with_everything();
  sample.build();
  const auto check = [&](const std::string& field, uint64_t bits, const std::string& expected) {
    INFO(field << " set to " << bits);
    const std::string error = error_with(sample, field, bits);
    CHECK_THAT(error, Contains(expected));
    CHECK_THAT(error, Contains("at byte " + std::to_string(sample.field(field).at) + ":"));
  };
  check("tensor a.weight name length", 0, "tensor 0 name length at byte");
  check("tensor a.weight name length", 65, "tensor 0 name length at byte");
  check("tensor a.weight dimension count", 0, "tensor 0 'a.weight' dimension count");
  check("tensor a.weight dimension count", 5, "expected 1 to 4, found 5");
  check("tensor a.weight dimension 1", 0, "'a.weight' dimension 1");
  check("tensor a.weight dimension 1", ~uint64_t{0}, "expected 1 or more, found -1");
  check("tensor b.weight dimension 0", 65, "expected a multiple of 32 for type Q4_1, found 65");
  check("tensor a.weight dimension 0", ~uint64_t{0} >> 1, "less than 2^64 bytes");
  check("tensor a.weight type", 43, "a tensor type of the GGUF format, found 43");
  check("tensor a.weight offset", 7, "expected a multiple of the alignment 32, found 7");
  check("tensor b.weight offset", uint64_t{1} << 63, "80 bytes of data within");
  check("tensor b.weight offset", ~uint64_t{0} - 31, "80 bytes of data within");  // offset plus size wraps
  check("tensor b.weight offset", 32, "'b.weight' offset");                        // on top of a.weight
  CHECK_THAT(error_with(sample, "tensor b.weight offset", 32), Contains("expected 48 or more, the end of tensor 0 'a.weight'"));
}

TEST_CASE("the alignment must be a power of two of at least 8") {
  for (const uint64_t alignment : {uint64_t{0}, uint64_t{4}, uint64_t{48}, uint64_t{0xffffffff}}) {
    CHECK_THAT(error_with(outrider::testing::sample_alignment_64(), "metadata general.alignment value", alignment),
               Contains("'general.alignment' value at byte") && Contains("found " + std::to_string(alignment)));
  }
  GgufWriter text;
  text.text("general.alignment", "32");
  CHECK_THAT(error_of(text), Contains("'general.alignment'") && Contains("expected an integer, found string"));
}

TEST_CASE("a key or a tensor name that comes twice is an error") {
  GgufWriter keys;
  keys.text("general.name", "x");
  keys.text("general.name", "y");
  CHECK_THAT(error_of(keys), Contains("metadata 1 key at byte") && Contains("'general.name' again"));
  GgufWriter names;
  names.tensor("w", 0, {8}, outrider::testing::bytes_of(32));
  names.tensor("w", 0, {8}, outrider::testing::bytes_of(32));
  CHECK_THAT(error_of(names), Contains("tensor 1 name at byte") && Contains("'w' again"));
}

TEST_CASE("arrays may nest four deep, not five") {
  GgufWriter four;
  four.nested("deep", 4);
  CHECK(error_of(four).empty());
  GgufWriter five;
  five.nested("deep", 5);
  CHECK_THAT(error_of(five), Contains("metadata 0 'deep' at byte") && Contains("nested at most 4 deep"));
}

TEST_CASE("one file of a split model is refused with the remedy") {
  GgufWriter writer;
  writer.value("split.count", GgufWriter::u16, uint16_t{3});
  CHECK_THAT(error_of(writer), Contains("'split.count'") && Contains("one of 3 parts") && Contains("join"));
  GgufWriter whole;
  whole.value("split.count", GgufWriter::u16, uint16_t{1});
  CHECK(error_of(whole).empty());
}

TEST_CASE("control characters of a file's names do not reach the message") {
  GgufWriter writer;
  writer.tensor("a\x1b[2J\nb", 0, {8}, outrider::testing::bytes_of(32));
  const std::string error = error_with(writer, "tensor a\x1b[2J\nb type", 43);
  CHECK_THAT(error, Contains("'a?[2J?b'") && !Contains("\x1b") && !Contains("\n"));
}
