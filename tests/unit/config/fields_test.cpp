#include "config/fields.hpp"

#include <set>

#include "config/fault.hpp"
#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using Catch::Contains;

TEST_CASE("every field has a help text, a default that its own rule accepts, and a name, option and variable of its own") {
  std::set<std::string> names, options, variables;
  for (const FieldInfo& info : fields()) {
    INFO(info.path);
    CHECK(info.attributes.help.size() > 15);
    CHECK(info.attributes.help.ends_with('.'));
    CHECK(check(info, get(Namespaces{}, info.id)).ok());
    CHECK(names.insert(std::string(info.key)).second);
    CHECK(variables.insert(info.environment()).second);
    if (!info.attributes.environment.empty()) CHECK(variables.insert(std::string(info.attributes.environment)).second);
    if (!info.attributes.secret) CHECK(options.insert(info.option()).second);
    CHECK(find_field(info.path) == &info);
    CHECK(find_field(info.key) == &info);
    CHECK(&field(info.id) == &info);
  }
}

TEST_CASE("a reloadable field matters at every stage") {
  for (const FieldInfo& info : fields()) {
    INFO(info.path);
    if (info.attributes.reloadable) CHECK(info.attributes.last_stage == Stage::serve);
  }
}

TEST_CASE("the defaults contradict each other nowhere") { CHECK(contradictions(Namespaces{}).empty()); }

TEST_CASE("what is set by field is read by field, and by the typed member") {
  Namespaces values;
  set(values, FieldId::draft_tokens, 17);
  set(values, FieldId::tree, false);
  set(values, FieldId::law, "greedy");
  set(values, FieldId::draft_kv_type, "f32");
  CHECK(values.spec.draft_tokens == 17);
  CHECK_FALSE(values.spec.tree);
  CHECK(values.spec.law == "greedy");
  CHECK(values.spec.draft_kv_type == "f32");
  CHECK(get(values, FieldId::draft_tokens) == FieldValue(17));
  CHECK(get(values, FieldId::draft_kv_type) == FieldValue("f32"));
  set(values, FieldId::draft_kv_type, FieldValue());
  CHECK(get(values, FieldId::draft_kv_type) == FieldValue());
}

TEST_CASE("text becomes a value of the field's type, or says what was expected") {
  const auto text_of = [](const char* name, const std::string& text) {
    const auto value = parse(*find_field(name), text);
    return value ? to_text(*value) : value.error().message;
  };
  CHECK(text_of("spec.tree", "true") == "true");
  CHECK(text_of("spec.tree", "0") == "false");
  CHECK(text_of("spec.tree", "yes") == "expected true or false for spec.tree, found \"yes\"");
  CHECK(text_of("spec.draft_tokens", "12") == "12");
  CHECK_THAT(text_of("spec.draft_tokens", "12x"), Contains("found \"12x\""));
  CHECK_THAT(text_of("spec.draft_tokens", ""), Contains("found \"\""));
  CHECK_THAT(text_of("spec.draft_tokens", "99999999999999999999"), Contains("expected an integer"));
  CHECK_THAT(text_of("spec.draft_tokens", " 4"), Contains("expected an integer"));
  CHECK(text_of("model.path", "unset") == "\"unset\"");  // not optional: a text like any other
  CHECK(text_of("model.chat_template", "unset") == "unset");
  CHECK_THAT(text_of("model.path", ""), Contains("a text that is not empty"));
  CHECK_THAT(text_of("model.path", std::string("a\0b", 3)), Contains("\\u0000"));
  CHECK_THAT(text_of("memory.kv_type", "f17"), Contains("one of \"auto\", \"f16\", \"f32\", \"q8_0\""));
}

TEST_CASE("a secret shows neither in values nor in messages") {
  const FieldInfo& info = *find_field("serving.api_key");
  CHECK(shown(info, "s3cret") == "***");
  CHECK(shown(info, FieldValue()) == "unset");
  CHECK_THAT(check(info, std::string("s3\0cret", 7)).error().message, !Contains("s3"));
  CHECK(is_sensitive("api_key"));
  CHECK(is_sensitive("upstream_password"));
  CHECK_FALSE(is_sensitive("draft_tokens"));
  CHECK_FALSE(is_sensitive("mask_token"));
}

TEST_CASE("the nearest name forgives one slip in a short word, three in a long one, and swapped letters") {
  const std::vector<std::string> names{"tree", "draft_tokens", "draft_depth", "law"};
  CHECK(nearest("draft_tokns", names) == "draft_tokens");
  CHECK(nearest("drfat_tokens", names) == "draft_tokens");
  CHECK(nearest("tere", names) == "tree");
  CHECK(nearest("laws", names) == "law");
  CHECK(nearest("low", names) == "law");
  CHECK(nearest("zebra", names).empty());
  CHECK(nearest("", names).empty());
  CHECK(nearest(std::string(100000, 'x'), names).empty());
}

TEST_CASE("contradictory fields are named as a pair") {
  struct Case {
    std::vector<std::pair<FieldId, FieldValue>> values;
    FieldId first, second;
  };
  const Case one = GENERATE(Case{{{FieldId::require_drafter, true}}, FieldId::algorithm, FieldId::require_drafter},
                            Case{{{FieldId::draft_tokens, 4}, {FieldId::draft_depth, 5}}, FieldId::draft_tokens, FieldId::draft_depth},
                            Case{{{FieldId::algorithm, "x"}, {FieldId::max_batch_rows, 8}}, FieldId::max_batch_rows, FieldId::draft_tokens},
                            Case{{{FieldId::ranks, 2}}, FieldId::backend, FieldId::ranks},
                            Case{{{FieldId::backend, "nccl"}}, FieldId::kind, FieldId::backend},
                            Case{{{FieldId::backend, "mpi"}, {FieldId::kind, "cuda"}}, FieldId::kind, FieldId::backend},
                            Case{{{FieldId::attention_backend, "cuda"}}, FieldId::kind, FieldId::attention_backend},
                            Case{{{FieldId::prefill_attention_backend, "cuda"}}, FieldId::kind, FieldId::prefill_attention_backend},
                            Case{{{FieldId::decode_attention_backend, "cuda"}}, FieldId::kind, FieldId::decode_attention_backend},
                            Case{{{FieldId::draft_attention_backend, "cuda"}}, FieldId::draft_device, FieldId::draft_attention_backend});
  Namespaces values;
  for (const auto& [id, value] : one.values) set(values, id, value);
  const auto found = contradictions(values);
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == one.first);
  CHECK(found[0].second == one.second);
  CHECK_THAT(found[0].message, Contains(std::string(field(one.second).key)));
}
