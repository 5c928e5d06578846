// Each architecture from a tiny GGUF file of random weights, against a forward pass written here from the architecture's definition: double
// precision, one position at a time, nothing shared with the host. And what a file may not say.
#include "model/architecture.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <optional>
#include <random>

#include "model/transformer.hpp"
#include "support/gguf_writer.hpp"

using namespace outrider;
using Catch::Matchers::Contains;
using outrider::testing::GgufWriter;
using Row = std::vector<double>;

namespace {

constexpr uint32_t kHidden = 32, kFfn = 48, kVocab = 40;

// What a file says. Unset: it has no such key.
struct Form {
  std::string family;
  uint32_t layers = 2, heads = 4, kv_heads = 2, head_dim = 16;
  float rope_base = 10000;
  float rope_factor = 1;  // linear scaling where it is not 1
  std::optional<uint32_t> window = {}, pattern = {};
  std::optional<std::vector<uint8_t>> pattern_array = {};
  std::optional<float> local_rope_base = {}, attention_soft_cap = {}, logit_soft_cap = {};
  std::string left_out = {};  // a tensor that is missing
};

Form qwen3() { return {.family = "qwen3", .rope_base = 1000000}; }
Form gemma3() { return {.family = "gemma3", .layers = 7, .kv_heads = 1, .rope_base = 1000000, .window = 5}; }

struct File {
  std::vector<std::byte> bytes;
  std::map<std::string, std::vector<float>> tensors;
  [[nodiscard]] Result<formats::GgufFile> open() const { return formats::GgufFile::from_bytes(bytes, "tiny.gguf"); }
};

File write(const Form& form) {
  File file;
  GgufWriter writer;
  const std::string prefix = form.family + ".";
  const auto number = [&](const char* key, uint32_t value) { writer.value(prefix + key, GgufWriter::u32, value); };
  const auto real = [&](const char* key, float value) { writer.value(prefix + key, GgufWriter::f32, value); };
  writer.text("general.architecture", form.family);
  number("context_length", 512), number("embedding_length", kHidden), number("feed_forward_length", kFfn),
      number("block_count", form.layers);
  number("attention.head_count", form.heads), number("attention.head_count_kv", form.kv_heads);
  number("attention.key_length", form.head_dim), number("attention.value_length", form.head_dim);
  real("attention.layer_norm_rms_epsilon", 1e-6F), real("rope.freq_base", form.rope_base);
  if (form.rope_factor != 1) writer.text(prefix + "rope.scaling.type", "linear"), real("rope.scaling.factor", form.rope_factor);
  if (form.window) number("attention.sliding_window", *form.window);
  if (form.pattern) number("attention.sliding_window_pattern", *form.pattern);
  if (form.pattern_array) writer.values(prefix + "attention.sliding_window_pattern", GgufWriter::boolean, *form.pattern_array);
  if (form.local_rope_base) real("rope.freq_base_swa", *form.local_rope_base);
  if (form.attention_soft_cap) real("attn_logit_softcapping", *form.attention_soft_cap);
  if (form.logit_soft_cap) real("final_logit_softcapping", *form.logit_soft_cap);

  std::mt19937 random(7);
  std::normal_distribution<float> normal;
  const auto tensor = [&](const std::string& name, std::vector<int64_t> shape) {
    const bool norm = shape.size() == 1;
    auto& values = file.tensors[name];
    values.resize(static_cast<size_t>(norm ? shape[0] : shape[0] * shape[1]));
    const float spread = norm ? 0.2F : 1.5F / std::sqrt(static_cast<float>(shape[0]));
    for (float& value : values) value = (norm ? 1.0F : 0.0F) + spread * normal(random);
    const auto* first = reinterpret_cast<const std::byte*>(values.data());
    if (name != form.left_out) writer.tensor(name, 0, shape, {first, first + values.size() * sizeof(float)});
  };
  const int64_t q_size = form.heads * form.head_dim, kv_size = form.kv_heads * form.head_dim;
  tensor("token_embd.weight", {kHidden, kVocab});
  tensor("output_norm.weight", {kHidden});
  for (uint32_t l = 0; l < form.layers; ++l) {
    const std::string block = "blk." + std::to_string(l) + ".";
    tensor(block + "attn_norm.weight", {kHidden}), tensor(block + "ffn_norm.weight", {kHidden});
    tensor(block + "attn_q.weight", {kHidden, q_size}), tensor(block + "attn_output.weight", {q_size, kHidden});
    tensor(block + "attn_k.weight", {kHidden, kv_size}), tensor(block + "attn_v.weight", {kHidden, kv_size});
    tensor(block + "attn_q_norm.weight", {form.head_dim}), tensor(block + "attn_k_norm.weight", {form.head_dim});
    tensor(block + "ffn_gate.weight", {kHidden, kFfn}), tensor(block + "ffn_up.weight", {kHidden, kFfn});
    tensor(block + "ffn_down.weight", {kFfn, kHidden});
    if (form.family != "gemma3") continue;
    tensor(block + "post_attention_norm.weight", {kHidden}), tensor(block + "post_ffw_norm.weight", {kHidden});
  }
  file.bytes = writer.build();
  return file;
}

// ---- the architectures, written plainly --------------------------------------------------------------------------------------------

class Plain {
 public:
  Plain(const Form& form, const File& file) : form_(form), file_(file), keys_(form.layers), values_(form.layers) {}

  // Logits after one more token.
  Row next(int32_t token) {
    const bool gemma = form_.family == "gemma3";
    const int position = position_++;
    const auto& embedding = file_.tensors.at("token_embd.weight");
    Row x(embedding.begin() + token * kHidden, embedding.begin() + (token + 1) * kHidden);
    if (gemma)
      for (double& v : x) v *= std::sqrt(static_cast<double>(kHidden));
    for (uint32_t l = 0; l < form_.layers; ++l) {
      const std::string block = "blk." + std::to_string(l) + ".";
      Row h = norm(x, block + "attn_norm");
      Row q = linear(block + "attn_q", h), k = linear(block + "attn_k", h);
      values_[l].push_back(linear(block + "attn_v", h));
      const bool local =
          gemma && (form_.pattern_array ? (*form_.pattern_array)[l] != 0 : l % form_.pattern.value_or(6) != form_.pattern.value_or(6) - 1);
      heads(q, block + "attn_q_norm", position, local);
      heads(k, block + "attn_k_norm", position, local);
      keys_[l].push_back(k);
      h = linear(block + "attn_output", attend(q, l, local));
      add(x, gemma ? norm(h, block + "post_attention_norm") : h);
      h = norm(x, block + "ffn_norm");
      Row gate = linear(block + "ffn_gate", h);
      const Row up = linear(block + "ffn_up", h);
      for (size_t i = 0; i < gate.size(); ++i) gate[i] = (gemma ? gelu(gate[i]) : gate[i] / (1 + std::exp(-gate[i]))) * up[i];
      h = linear(block + "ffn_down", gate);
      add(x, gemma ? norm(h, block + "post_ffw_norm") : h);
    }
    Row logits = linear("token_embd", norm(x, "output_norm"));
    if (form_.logit_soft_cap)
      for (double& v : logits) v = *form_.logit_soft_cap * std::tanh(v / *form_.logit_soft_cap);
    return logits;
  }

 private:
  static double gelu(double z) { return 0.5 * z * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (z + 0.044715 * z * z * z))); }
  static void add(Row& x, const Row& y) {
    for (size_t i = 0; i < x.size(); ++i) x[i] += y[i];
  }

  [[nodiscard]] const std::vector<float>& weight(const std::string& name) const { return file_.tensors.at(name + ".weight"); }
  [[nodiscard]] Row norm(const Row& x, const std::string& name) const {
    double squares = 0;
    for (const double v : x) squares += v * v;
    Row out(x.size());
    for (size_t i = 0; i < x.size(); ++i) out[i] = x[i] / std::sqrt(squares / static_cast<double>(x.size()) + 1e-6) * weight(name)[i];
    return out;
  }
  [[nodiscard]] Row linear(const std::string& name, const Row& x) const {
    const auto& w = weight(name);
    Row out(w.size() / x.size());
    for (size_t o = 0; o < out.size(); ++o)
      for (size_t i = 0; i < x.size(); ++i) out[o] += w[o * x.size() + i] * x[i];
    return out;
  }
  // Norms and turns each head. Pairs are (i, i + half).
  void heads(Row& x, const std::string& name, int position, bool local) const {
    const size_t half = form_.head_dim / 2;
    const double base = local ? form_.local_rope_base.value_or(10000) : form_.rope_base, factor = local ? 1 : form_.rope_factor;
    for (size_t begin = 0; begin < x.size(); begin += 2 * half) {
      const Row head = norm(Row(x.begin() + static_cast<long>(begin), x.begin() + static_cast<long>(begin + 2 * half)), name);
      for (size_t i = 0; i < half; ++i) {
        const double angle = position / factor * std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
        x[begin + i] = head[i] * std::cos(angle) - head[i + half] * std::sin(angle);
        x[begin + i + half] = head[i] * std::sin(angle) + head[i + half] * std::cos(angle);
      }
    }
  }
  [[nodiscard]] Row attend(const Row& q, uint32_t layer, bool local) const {
    const size_t dim = form_.head_dim, seen = keys_[layer].size();
    Row out(q.size());
    for (size_t head = 0; head < form_.heads; ++head) {
      const size_t kv = head / (form_.heads / form_.kv_heads) * dim;
      Row weights(seen);
      double total = 0;
      for (size_t p = 0; p < seen; ++p) {
        if (local && seen - 1 - p >= *form_.window) continue;
        double score = 0;
        for (size_t d = 0; d < dim; ++d) score += q[head * dim + d] * keys_[layer][p][kv + d];
        score /= std::sqrt(static_cast<double>(dim));
        if (form_.attention_soft_cap) score = *form_.attention_soft_cap * std::tanh(score / *form_.attention_soft_cap);
        total += weights[p] = std::exp(score);
      }
      for (size_t p = 0; p < seen; ++p)
        for (size_t d = 0; d < dim; ++d) out[head * dim + d] += weights[p] / total * values_[layer][p][kv + d];
    }
    return out;
  }

  const Form& form_;
  const File& file_;
  std::vector<std::vector<Row>> keys_, values_;  // by layer and position
  int position_ = 0;
};

// The greatest difference of any logit at any of `positions` positions, in units of the reference logits' root mean square.
double greatest_difference(const Form& form, int32_t positions) {
  const File file = write(form);
  auto gguf = file.open();
  REQUIRE(gguf.ok());
  kernels::ThreadPool pool(1);
  auto target = model::Transformer::load(*gguf, pool, kernels::best_isa());
  INFO((target.ok() ? "" : target.error().message));
  REQUIRE(target.ok());
  model::KvCache cache((*target)->architecture(), kernels::KvType::f32, positions);
  auto sequence = cache.reserve(positions);
  Plain plain(form, file);
  std::mt19937 random(3);
  double greatest = 0, squares = 0;
  for (int32_t begin = 0; begin < positions; begin += 7) {
    model::Batch batch;
    for (int32_t p = begin; p < std::min(begin + 7, positions); ++p)
      batch.add_contiguous(static_cast<int32_t>(random() % kVocab), p, &*sequence, model::Want::logits);
    const auto logits = (*target)->forward(batch, cache).logits;
    for (size_t row = 0; row < batch.rows.size(); ++row) {
      const Row expected = plain.next(batch.rows[row].token);
      for (size_t i = 0; i < kVocab; ++i) {
        greatest = std::max(greatest, std::abs(static_cast<double>(logits[row * kVocab + i]) - expected[i]));
        squares += expected[i] * expected[i];
      }
    }
  }
  return greatest / std::sqrt(squares / (positions * kVocab));
}

std::string complaint(const Form& form) {
  const File file = write(form);
  auto gguf = file.open();
  REQUIRE(gguf.ok());
  kernels::ThreadPool pool(1);
  auto target = model::Transformer::load(*gguf, pool, kernels::best_isa());
  REQUIRE_FALSE(target.ok());
  return target.error().message;
}

constexpr double kRounding = 2e-4;  // floats through seven layers

}  // namespace

TEST_CASE("qwen3 computes what its definition says") { CHECK(greatest_difference(qwen3(), 40) < kRounding); }

TEST_CASE("qwen3's heads need not share out the hidden size") {
  Form form = qwen3();
  form.head_dim = 48;
  CHECK(greatest_difference(form, 20) < kRounding);
}

TEST_CASE("gemma3 computes what its definition says, with windows in, of and across pages and longer than the context") {
  for (const uint32_t window : {1U, 5U, 16U, 23U, 39U, 40U, 41U, 512U}) {
    Form form = gemma3();
    form.window = window;
    CAPTURE(window);
    CHECK(greatest_difference(form, 40) < kRounding);
  }
}

TEST_CASE("gemma3's window crosses the chunks of attention") {
  Form form = gemma3();
  form.layers = 2;
  form.pattern = 2;
  for (const uint32_t window : {30U, 255U, 256U, 257U}) {
    form.window = window;
    CAPTURE(window);
    CHECK(greatest_difference(form, 290) < kRounding);
  }
}

TEST_CASE("gemma3 takes from its file which layers are local, both RoPE bases, the scaling and the soft caps") {
  Form form = gemma3();
  form.layers = 4;
  form.pattern = 3;
  form.local_rope_base = 500.0F;
  form.rope_factor = 8;
  form.attention_soft_cap = 1.5F;
  form.logit_soft_cap = 2.0F;
  CHECK(greatest_difference(form, 40) < kRounding);
  form.pattern.reset();
  form.pattern_array = {1, 0, 0, 1};
  CHECK(greatest_difference(form, 40) < kRounding);
}

TEST_CASE("gemma3 of 62 layers scales scores by the hidden size's share of a head, others by the head's width") {
  Form form = gemma3();
  form.heads = 8;
  for (const uint32_t layers : {7U, 62U}) {
    form.layers = layers;
    const File file = write(form);
    const auto gguf = file.open();
    REQUIRE(gguf.ok());
    const auto architecture = model::read_architecture(*gguf);
    REQUIRE(architecture.ok());
    CHECK(architecture->attention_scale == (layers == 62 ? 0.5F : 0.25F));  // 32 / 8 = 4, and 16
  }
}

TEST_CASE("gemma3's first global layer is the sixth") {
  const File file = write(gemma3());
  const auto gguf = file.open();
  REQUIRE(gguf.ok());
  const auto architecture = model::read_architecture(*gguf);
  REQUIRE(architecture.ok());
  for (int32_t l = 0; l < 7; ++l) CHECK(architecture->is_local(l) == (l != 5));
}

TEST_CASE("metadata that gives no window, pattern, head width or cap to compute with is refused by its key") {
  const auto with = [](const std::function<void(Form&)>& change) {
    Form form = gemma3();
    change(form);
    return complaint(form);
  };
  CHECK_THAT(with([](Form& f) { f.window.reset(); }), Contains("gemma3.attention.sliding_window"));
  CHECK_THAT(with([](Form& f) { f.window = 0; }), Contains("gemma3.attention.sliding_window") && Contains("found 0"));
  CHECK_THAT(with([](Form& f) { f.pattern = 0; }), Contains("sliding_window_pattern") && Contains("found 0"));
  CHECK_THAT(with([](Form& f) { f.pattern_array = {1, 0}; }), Contains("sliding_window_pattern") && Contains("7 layers"));
  CHECK_THAT(with([](Form& f) { f.head_dim = 17; }), Contains("gemma3.attention.key_length") && Contains("found 17"));
  CHECK_THAT(with([](Form& f) { f.head_dim = 272; }), Contains("gemma3.attention.key_length"));
  CHECK_THAT(with([](Form& f) { f.local_rope_base = -1.0F; }), Contains("gemma3.rope.freq_base_swa"));
  CHECK_THAT(with([](Form& f) { f.attention_soft_cap = -1.0F; }), Contains("gemma3.attn_logit_softcapping"));
  CHECK_THAT(with([](Form& f) { f.logit_soft_cap = std::nanf(""); }), Contains("gemma3.final_logit_softcapping"));
  CHECK_THAT(with([](Form& f) { f.kv_heads = 3; }), Contains("gemma3.attention.head_count"));
}

TEST_CASE("a norm that the architecture has and the file has not is named") {
  for (const char* name : {"blk.1.attn_q_norm.weight", "blk.1.attn_k_norm.weight"}) {
    Form form = qwen3();
    form.left_out = name;
    CHECK_THAT(complaint(form), Contains(name));
  }
  for (const char* name : {"blk.1.post_attention_norm.weight", "blk.1.post_ffw_norm.weight"}) {
    Form form = gemma3();
    form.left_out = name;
    CHECK_THAT(complaint(form), Contains(name));
  }
}

TEST_CASE("an architecture that is not known is refused with those that are") {
  Form form = qwen3();
  form.family = "gemma9";
  CHECK_THAT(complaint(form), Contains("llama, qwen2, qwen3, gemma3") && Contains("gemma9"));
}
