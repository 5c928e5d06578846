#include <algorithm>

#include "small_vocabularies.hpp"
#include "support/gguf_writer.hpp"
#include "text/detokenizer.hpp"

using namespace outrider;
using namespace outrider::text;
using namespace outrider::text::testing;
using outrider::testing::GgufWriter;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using Ids = std::vector<int32_t>;

namespace {

// Bytes, then 256 <|im_start|> · 257 <|im_end|> · 258 "\n\n" · 259 "\n\n\n" · 260 <|im_start|>x (user-defined from 258)
TokenizerData with_specials() {
  TokenizerData data = byte_vocabulary();
  add_token(data, "<|im_start|>", TokenType::control);
  add_token(data, "<|im_end|>", TokenType::control);
  add_token(data, "\n\n", TokenType::user_defined);
  add_token(data, "\n\n\n", TokenType::user_defined);
  add_token(data, "<|im_start|>x", TokenType::user_defined);
  data.bos = 256;
  data.eos = 257;
  return data;
}

void check_reference(const std::string& model, const std::string& reference) {
  const auto tokenizer = model_tokenizer(model);
  if (!tokenizer) return;
  for (const auto& [text, ids] : reference_lines(reference)) {
    INFO(nlohmann::json(text).dump());
    int unknown = -1;
    CHECK(tokenizer->encode(text, false, true, &unknown) == ids);
    CHECK(unknown == 0);
    CHECK(tokenizer->decode(ids) == text);
    DetokenizerStream stream(*tokenizer, DetokenizerStream::Options{.show_special = true});
    std::string streamed;
    for (const int32_t id : ids) {
      const std::string piece = stream.push(id);
      CHECK(valid_utf8_prefix(piece) == piece.size());
      streamed += piece;
    }
    streamed += stream.finish();
    CHECK(streamed == text);
  }
}

}  // namespace

TEST_CASE("SmolLM2's tokenizer gives the reference's ids, and the text back") {
  check_reference("smollm2-135m-instruct", "smollm2");
}

TEST_CASE("Qwen2.5-Coder's tokenizer gives the reference's ids, and the text back") {
  check_reference("qwen2.5-coder-0.5b-instruct", "qwen2.5-coder");
}

TEST_CASE("Gemma 3's tokenizer gives the reference's ids, and the text back") { check_reference("gemma-3-270m", "gemma3"); }

TEST_CASE("SmolLM2 reads every byte: those its vocabulary lacks become the unknown token") {
  const auto tokenizer = model_tokenizer("smollm2-135m-instruct");
  if (!tokenizer) return;
  CHECK(tokenizer->vocab_size() == 49152);
  CHECK(tokenizer->end_of_generation() == Ids{0, 2});
  CHECK_FALSE(tokenizer->adds_bos());
  const Ids lacking = {4, 6, 19, 20, 22, 29, 192, 193, 241, 242, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255};
  for (int byte = 0; byte < 256; ++byte) {
    const std::string text(1, static_cast<char>(byte));
    const bool lacks = std::find(lacking.begin(), lacking.end(), byte) != lacking.end();
    int unknown = -1;
    const Ids ids = tokenizer->encode(text, false, true, &unknown);
    CHECK(ids.size() == 1);
    CHECK(unknown == (lacks ? 1 : 0));
    CHECK((lacks ? ids.front() == *tokenizer->unknown() : tokenizer->decode(ids) == text));
  }
  const std::string line(1u << 20, 'a');
  CHECK(tokenizer->decode(tokenizer->encode(line, false, true)) == line);
}

TEST_CASE("control tokens are found only when asked for, user-defined ones always, the longest first") {
  const auto tokenizer = make(with_specials());
  CHECK(tokenizer->encode("<|im_end|>", false, true) == Ids{257});
  CHECK(tokenizer->encode("<|im_end|>", false, false).size() == 10);
  CHECK(tokenizer->encode("a<|im_end|>b<|im_end|>", false, true) == Ids{'a', 257, 'b', 257});
  CHECK(tokenizer->encode("<|im_end|", false, true).size() == 9);
  CHECK(tokenizer->encode("a\n\nb", false, false) == Ids{'a', 258, 'b'});
  CHECK(tokenizer->encode("\n\n\n\n\n", false, false) == Ids{259, 258});
  CHECK(tokenizer->encode("<|im_start|>x", false, true) == Ids{260});
  CHECK(tokenizer->encode("<|im_start|>y", false, true) == Ids{256, 'y'});
  CHECK(tokenizer->encode("<|im_start|>x", false, false) == Ids{260});
  CHECK(tokenizer->encode("<|im_<|im_end|>", false, true) == Ids{'<', '|', 'i', 'm', '_', 257});
}

TEST_CASE("BOS and EOS are added as the vocabulary says, BOS not twice") {
  TokenizerData data = with_specials();
  CHECK(make(data)->encode("a", true, true) == Ids{'a'});
  data.add_bos = true;
  data.add_eos = true;
  const auto tokenizer = make(data);
  CHECK(tokenizer->encode("a", true, true) == Ids{256, 'a', 257});
  CHECK(tokenizer->encode("a", false, true) == Ids{'a'});
  CHECK(tokenizer->encode("", true, true) == Ids{256, 257});
  CHECK(tokenizer->encode("<|im_start|>a", true, true) == Ids{256, 'a', 257});
}

TEST_CASE("decoding leaves out special tokens when asked to, and ids that do not exist always") {
  const auto tokenizer = make(with_specials());
  const Ids ids = {256, 'h', 258, 'i', 257, -1, 1 << 30};
  CHECK(tokenizer->decode(ids) == "<|im_start|>h\n\ni<|im_end|>");
  CHECK(tokenizer->decode(ids, false) == "h\n\ni");
  CHECK(tokenizer->piece(257) == "<|im_end|>");
  CHECK(tokenizer->piece(-1).empty());
  CHECK(tokenizer->piece(261).empty());
}

TEST_CASE("tokens that end a generation are known by the file and by name") {
  TokenizerData data = with_specials();
  data.eot = 'x';
  add_token(data, "<|endoftext|>");                          // 261: ordinary to the file, a control token to the model
  add_token(data, "</s>", TokenType::user_defined);          // 262: a tag of HTML here
  const auto tokenizer = make(data);
  CHECK(tokenizer->end_of_generation() == Ids{'x', 257, 261});
  CHECK(tokenizer->is_end_of_generation(257));
  CHECK_FALSE(tokenizer->is_end_of_generation(256));
  CHECK_FALSE(tokenizer->is_end_of_generation(262));
  CHECK(tokenizer->is_special(256));
  CHECK(tokenizer->is_special(261));
  CHECK_FALSE(tokenizer->is_special(258));
  CHECK_FALSE(tokenizer->is_special(-1));
  CHECK(tokenizer->special_id("<|im_start|>") == 256);
  CHECK_FALSE(tokenizer->special_id("<|im_").has_value());
  CHECK_FALSE(tokenizer->special_id("").has_value());
  data.types[262] = static_cast<int32_t>(TokenType::control);
  CHECK(make(data)->is_end_of_generation(262));
}

TEST_CASE("the fingerprint tells vocabularies apart by what their ids mean") {
  const TokenizerData data = byte_vocabulary({"th", "the"});
  const std::string fingerprint = make(data)->fingerprint();
  CHECK(fingerprint == "cf5671d05d79310b");  // pinned: files written by one version are compared by another
  TokenizerData same = data;
  same.merges.clear();
  same.pre = "qwen2";
  CHECK(make(same)->fingerprint() == fingerprint);
  TokenizerData renamed = data;
  renamed.tokens[256] = "tx";
  CHECK(make(renamed)->fingerprint() != fingerprint);
  TokenizerData retyped = data;
  retyped.types[256] = static_cast<int32_t>(TokenType::control);
  CHECK(make(retyped)->fingerprint() != fingerprint);
  TokenizerData longer = data;
  add_token(longer, "x");
  CHECK(make(longer)->fingerprint() != fingerprint);
}

TEST_CASE("a vocabulary whose parts disagree is refused with the reason") {
  TokenizerData data = byte_vocabulary();
  data.model = "wordpiece";
  CHECK_THAT(error_of(data), StartsWith("tokenizer.ggml.model") && Contains("\"wordpiece\"") && Contains("gpt2") && Contains("llama"));
  data = byte_vocabulary();
  data.types.pop_back();
  CHECK_THAT(error_of(data), StartsWith("tokenizer.ggml.token_type") && Contains("256") && Contains("255"));
  data = byte_vocabulary();
  data.types[7] = 9;
  CHECK_THAT(error_of(data), StartsWith("tokenizer.ggml.token_type[7]") && Contains("found 9"));
  data = byte_vocabulary();
  data.eos = 256;
  CHECK_THAT(error_of(data), StartsWith("tokenizer.ggml.eos_token_id") && Contains("0 to 255") && Contains("found 256"));
  data.eos.reset();
  data.tokens.clear();
  data.types.clear();
  CHECK_THAT(error_of(data), StartsWith("tokenizer.ggml.tokens"));
  data = byte_vocabulary();
  data.types.clear();  // allowed: all normal
  CHECK(error_of(data).empty());
}

TEST_CASE("a tokenizer is read from a model's file, with the format's defaults") {
  const auto read = [](GgufWriter& writer) {
    const auto bytes = writer.build();
    auto file = formats::GgufFile::from_bytes(bytes, "test.gguf");
    REQUIRE(file.ok());
    return read_tokenizer(*file);
  };
  GgufWriter pieces;
  pieces.text("tokenizer.ggml.model", "llama");
  pieces.texts("tokenizer.ggml.tokens", {"<unk>", "<s>", "</s>", "\u2581a"});
  pieces.values<float>("tokenizer.ggml.scores", GgufWriter::f32, {0, 0, 0, -1});
  pieces.values<int32_t>("tokenizer.ggml.token_type", GgufWriter::i32, {2, 3, 3, 1});
  pieces.value<uint32_t>("tokenizer.ggml.padding_token_id", GgufWriter::u32, UINT32_MAX);  // "none"
  const auto data = read(pieces);
  REQUIRE(data.ok());
  CHECK(data->bos == 1);
  CHECK(data->eos == 2);
  CHECK(data->unknown == 0);
  CHECK_FALSE(data->padding.has_value());
  CHECK(data->add_bos);
  CHECK(data->add_space_prefix);
  CHECK(data->scores == std::vector<float>{0, 0, 0, -1});
  CHECK(make(*data)->encode("a", true, false) == Ids{1, 3});

  for (const auto& [pre, adds_bos] : {std::pair{"llama-bpe", true}, std::pair{"qwen2", false}}) {
    GgufWriter bpe;
    bpe.text("tokenizer.ggml.model", "gpt2");
    bpe.text("tokenizer.ggml.pre", pre);
    bpe.texts("tokenizer.ggml.tokens", {"a", "b", "ab"});
    bpe.texts("tokenizer.ggml.merges", {"a b"});
    bpe.value<uint32_t>("tokenizer.ggml.bos_token_id", GgufWriter::u32, 1);
    bpe.value<uint8_t>("tokenizer.ggml.add_space_prefix", GgufWriter::boolean, 1);
    const auto bpe_data = read(bpe);
    REQUIRE(bpe_data.ok());
    CHECK(bpe_data->bos == 1);
    CHECK_FALSE(bpe_data->eos.has_value());
    CHECK(bpe_data->add_bos == adds_bos);
    CHECK_FALSE(bpe_data->add_space_prefix);
    CHECK(make(*bpe_data)->encode("ab", false, false) == Ids{2});
  }

  GgufWriter none;
  none.text("general.architecture", "llama");
  const auto missing = read(none);
  REQUIRE_FALSE(missing.ok());
  CHECK_THAT(missing.error().message, Contains("tokenizer.ggml.model"));
}
