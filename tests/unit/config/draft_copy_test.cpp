#include "config/draft_copy.hpp"

#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;
using Catch::Contains;

namespace {

std::shared_ptr<const ServerArgs> copy_of(const RuntimeContext& context, int64_t context_length = 4096) {
  auto copy = draft_args_copy(context, {context_length});
  if (!copy) FAIL(copy.error().message);
  return *std::move(copy);
}

std::string origin_of(const ServerArgs& args, FieldId id) { return args.step(id).origin.text(); }

const FieldValue* assigned(const std::vector<Assignment>& fields, const std::string& path) {
  for (const Assignment& one : fields) {
    if (one.field == path) return &one.value;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("the draft copy takes the target's resolved args and its context length, and leaves the target untouched") {
  RuntimeContext context;
  const auto target = make_args({{"spec.draft_tokens", 5}});
  const Namespaces before = target->values();
  must(context.publish(target, Role::scheduler));
  const auto state = context.snapshot();
  const auto copy = copy_of(context);
  CHECK(copy != target);
  CHECK(copy->values().spec.draft_tokens == 5);
  CHECK(copy->values().model.context_length == 4096);
  CHECK(target->values() == before);
  CHECK(target->values().model.context_length == 0);
  CHECK(context.snapshot() == state);
}

TEST_CASE("nothing but the context length changes when no draft field is configured") {
  RuntimeContext context;
  must(context.publish(make_args({{"model.load_format", "gguf"}, {"memory.kv_type", "f32"}}), Role::scheduler));
  Namespaces expected = context.args()->values();
  expected.model.context_length = 4096;
  CHECK(copy_of(context)->values() == expected);
}

TEST_CASE("the overrides log is replayed in order, so load-time decisions reach the draft") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  must(context.override("first", {{"memory.kv_type", "f16"}, {"model.load_format", "gguf"}}));
  must(context.override("gate", {{"memory.kv_type", "f32"}, {"schedule.disable_chunked_prefix_cache", true}}));
  const auto copy = copy_of(context);
  CHECK(copy->values().memory.kv_type == "f32");
  CHECK(copy->values().model.load_format == "gguf");  // without a draft format of its own, the replayed one
  CHECK(copy->values().schedule.disable_chunked_prefix_cache);
  CHECK(origin_of(*copy, FieldId::kv_type) == "override gate");
  CHECK(origin_of(*copy, FieldId::load_format) == "override first");
}

TEST_CASE("the context length is the target's always, even where one is configured or overridden") {
  RuntimeContext context;
  must(context.publish(make_args({{"model.context_length", 100}}), Role::scheduler));
  must(context.override("x", {{"model.context_length", 200}}));
  const auto copy = copy_of(context, 2048);
  CHECK(copy->values().model.context_length == 2048);
  CHECK(origin_of(*copy, FieldId::context_length) == "draft copy: the target's context length");
  CHECK(copy->history(FieldId::context_length).size() == 4);  // default, option, override, copy
}

TEST_CASE("the load format is the draft's own only when configured") {
  RuntimeContext context;
  must(context.publish(make_args({{"model.load_format", "safetensors"}}), Role::scheduler));
  CHECK(copy_of(context)->values().model.load_format == "safetensors");
  must(context.override("late", {{"spec.draft_load_format", "gguf"}}));  // an override of it counts
  const auto copy = copy_of(context);
  CHECK(copy->values().model.load_format == "gguf");
  CHECK(origin_of(*copy, FieldId::load_format) == "draft copy: spec.draft_load_format");
  CHECK(context.get_model().load_format == "safetensors");
}

TEST_CASE("a draft load format beats a replayed load format") {
  RuntimeContext context;
  must(context.publish(make_args({{"spec.draft_load_format", "safetensors"}}), Role::scheduler));
  must(context.override("gate", {{"model.load_format", "gguf"}}));
  CHECK(copy_of(context)->values().model.load_format == "safetensors");
}

TEST_CASE("a draft load format of auto is told from the draft's own path") {
  const Folder folder;
  folder.write("model.safetensors", "x");
  const auto format_for = [](const std::string& path) {
    RuntimeContext context;
    must(context.publish(make_args({{"model.load_format", "gguf"}, {"spec.draft_load_format", "auto"}, {"spec.draft_model_path", path}}),
                         Role::scheduler));
    return copy_of(context)->values().model.load_format;
  };
  CHECK(format_for("/nowhere/draft.gguf") == "gguf");
  CHECK(format_for("/nowhere/draft.safetensors") == "safetensors");
  CHECK(format_for(folder / "") == "safetensors");
  CHECK(format_for("smollm2-135m-instruct") == "auto");  // a name: the loader looks into the file
  CHECK(resolve_load_format("gguf", "x.safetensors") == "gguf");
}

TEST_CASE("each of the draft's own fields is inherited unless configured, and beats a resolved one when it is") {
  struct Case {
    const char *draft_field, *field;
    FieldId id;
    const char *target, *draft;
  };
  const Case one = GENERATE(Case{"spec.draft_quantization", "model.quantization", FieldId::quantization, "q8_0", "q4_0"},
                            Case{"spec.draft_kv_type", "memory.kv_type", FieldId::kv_type, "f16", "f32"},
                            Case{"spec.draft_attention_backend", "exec.attention_backend", FieldId::attention_backend, "cpu", "auto"},
                            Case{"spec.draft_device", "device.kind", FieldId::kind, "cpu", "cuda"});
  INFO(one.draft_field);
  RuntimeContext context;
  must(context.publish(make_args({{one.field, one.target}}), Role::scheduler));
  CHECK(get(copy_of(context)->values(), one.id) == FieldValue(one.target));
  if (one.id != FieldId::kind) must(context.override("resolved", {{one.field, one.target}}));
  must(context.override("draft", {{one.draft_field, one.draft}}));
  const auto copy = copy_of(context);
  CHECK(get(copy->values(), one.id) == FieldValue(one.draft));
  CHECK(origin_of(*copy, one.id) == std::string("draft copy: ") + one.draft_field);
  CHECK(get(*context.snapshot()->namespaces, one.id) == FieldValue(one.target));
}

TEST_CASE("a draft attention back end takes effect although the target has one for a phase alone") {
  RuntimeContext context;
  must(context.publish(make_args({{"exec.prefill_attention_backend", "cpu"}, {"spec.draft_attention_backend", "cpu"}}), Role::scheduler));
  const auto copy = copy_of(context);
  CHECK(copy->values().exec.attention_backend == "cpu");
  CHECK_FALSE(copy->values().exec.prefill_attention_backend.has_value());
  CHECK_FALSE(copy->values().exec.decode_attention_backend.has_value());
}

TEST_CASE("the copy writes only fields that the table calls the draft's own") {
  RuntimeContext context;
  must(context.publish(make_args({{"spec.draft_quantization", "q8_0"},
                                  {"spec.draft_kv_type", "f32"},
                                  {"spec.draft_attention_backend", "cpu"},
                                  {"spec.draft_device", "cpu"},
                                  {"spec.draft_load_format", "gguf"}}),
                       Role::scheduler));
  const auto copy = copy_of(context);
  for (const FieldInfo& info : fields()) {
    INFO(info.path);
    const bool written = copy->step(info.id).origin.kind == Origin::Kind::draft_copy;
    if (written) CHECK(info.attributes.draft == DraftRule::own);
  }
}

TEST_CASE("a value that is no draft copy's says where the target had it from") {
  RuntimeContext context;
  must(context.publish(make_args({{"spec.draft_tokens", 5}}), Role::scheduler));
  const auto copy = copy_of(context);
  CHECK(origin_of(*copy, FieldId::draft_tokens) == "option --set spec.draft_tokens");
  CHECK(origin_of(*copy, FieldId::port) == "default");
}

TEST_CASE("a copy without a publication or a context length is refused") {
  RuntimeContext context;
  CHECK_FALSE(draft_args_copy(context, {4096}).ok());
  must(context.publish(make_args(), Role::scheduler));
  const auto refused = draft_args_copy(context, {0});
  REQUIRE_FALSE(refused.ok());
  CHECK_THAT(refused.error().message, Contains("context length, found 0"));
}

TEST_CASE("a nested runner's overrides skip the tokenizer and set one attention back end for every phase") {
  RuntimeContext context;
  must(context.publish(make_args(), Role::scheduler));
  must(context.override("gate", {{"schedule.disable_chunked_prefix_cache", true}}));
  const auto fields = draft_args_overrides(context, {4096}, {.fallback = "cpu"});
  REQUIRE(assigned(fields, "model.skip_tokenizer") != nullptr);
  CHECK(*assigned(fields, "model.skip_tokenizer") == FieldValue(true));
  CHECK(*assigned(fields, "exec.attention_backend") == FieldValue("cpu"));
  CHECK(*assigned(fields, "exec.prefill_attention_backend") == FieldValue());
  CHECK(*assigned(fields, "exec.decode_attention_backend") == FieldValue());
  CHECK(*assigned(fields, "model.context_length") == FieldValue(4096));
  CHECK(*assigned(fields, "schedule.disable_chunked_prefix_cache") == FieldValue(true));
  CHECK(assigned(fields, "model.load_format") == nullptr);
  must(context.override("x", {{"spec.draft_load_format", "gguf"}}));
  CHECK(*assigned(draft_args_overrides(context, {4096}, {}), "model.load_format") == FieldValue("gguf"));
}

TEST_CASE(
    "a nested runner's attention back end: the caller's, else the draft's, else the target's, else the default; unsupported falls back") {
  const auto backend = [](const std::vector<Assignment>& configured, const DraftRunnerOptions& options) {
    RuntimeContext context;
    must(context.publish(make_args(configured), Role::scheduler));
    return std::get<std::string>(*assigned(draft_args_overrides(context, {4096}, options), "exec.attention_backend"));
  };
  const std::vector<Assignment> both{
      {"device.kind", "cuda"}, {"spec.draft_attention_backend", "cuda"}, {"exec.prefill_attention_backend", "auto"}};
  CHECK(backend(both, {.attention_backend = "special"}) == "special");
  CHECK(backend(both, {}) == "cuda");
  CHECK(backend({{"exec.prefill_attention_backend", "cpu"}}, {}) == "cpu");
  CHECK(backend({{"exec.attention_backend", "cpu"}}, {}) == "cpu");
  CHECK(backend({}, {.fallback = "cpu"}) == "cpu");
  CHECK(backend(both, {.supported = {"cpu"}, .fallback = "cpu"}) == "cpu");
  CHECK(backend(both, {.attention_backend = "special", .supported = {"cuda"}, .fallback = "cuda"}) == "cuda");
}

TEST_CASE("a nested runner: the second copy is current inside the first, then the first, then the target") {
  RuntimeContext context;
  const auto target = make_args();
  must(context.publish(target, Role::scheduler));
  must(context.override("gate", {{"memory.kv_type", "f32"}}));
  const auto before = context.snapshot();
  const auto copy = copy_of(context);
  {
    const auto window = context.preserve_config();
    must(context.publish(copy, Role::draft));
    CHECK(context.args() == copy);
    CHECK(context.get_memory().kv_type == "f32");
    {
      const auto second = draft_runner_args(context, {4096}, {});
      REQUIRE(second.ok());
      const auto inner = context.preserve_config();
      must(context.publish(*second, Role::draft));
      CHECK(context.args() == *second);
      CHECK(context.get_model().skip_tokenizer);
      CHECK(context.args()->step(FieldId::skip_tokenizer).origin.text() == "draft copy: nested runner");
    }
    CHECK(context.args() == copy);
    CHECK_FALSE(context.get_model().skip_tokenizer);
  }
  CHECK(context.snapshot() == before);
  CHECK(context.args() == target);
}
