// What the field table becomes: one typed struct a namespace, a description of each field, and reading and writing by field. Checks
// of a single value (type, range, choice) live here too, so that files, options and overrides are judged alike. Nothing here holds
// state; everything may be called from any thread.
//
//   Namespaces n;                      n.spec.draft_tokens            typed reads
//   find_field("spec.draft_tokens")    find_field("draft_tokens")     by path or by flat name; null when unknown
//   get(n, FieldId::draft_tokens)      set(n, id, FieldValue{…})
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "config/field_table.hpp"

namespace outrider::config {

// A start-up goes through these in order. A field's last stage is the last one at which writing it still has an effect.
enum class Stage : uint8_t {
  start,  // published; nothing is built yet
  load,   // the target's weights are being read, what they decide is written (context length, KV type)
  draft,  // the drafter is being built
  plan,   // KV pools, attention back ends and graphs are being set up
  serve,  // steps run
};
std::string_view stage_name(Stage stage);

enum class DraftRule : uint8_t {
  inherit,  // a draft's configuration has the target's value
  own,      // the draft copy may set it (draft_copy.hpp says how)
};

enum class FieldType : uint8_t { boolean, integer, text };

struct FieldAttributes {
  int64_t min = std::numeric_limits<int64_t>::min();  // integers
  int64_t max = std::numeric_limits<int64_t>::max();
  std::array<std::string_view, 8> choices{};  // texts; unused ones are empty
  std::string_view unit{};
  std::string_view option{};       // command-line option without dashes; empty: the key with - for _
  std::string_view environment{};  // a second environment variable
  bool reloadable = false;         // may change while requests run
  bool secret = false;             // never printed, and not taken from the command line, which other users can read
  Stage last_stage = Stage::serve;
  DraftRule draft = DraftRule::inherit;
  std::string_view help{};
};

// --- the typed namespaces -----------------------------------------------------------------------------------------------------
#define OUTRIDER_MEMBER(key, type, initial, ...) type key = initial;
#define OUTRIDER_STRUCT(space, Struct, FIELDS, text) \
  struct Struct {                                    \
    FIELDS(OUTRIDER_MEMBER)                          \
    bool operator==(const Struct&) const = default;  \
  };
OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_STRUCT)
#undef OUTRIDER_STRUCT
#undef OUTRIDER_MEMBER

struct Namespaces {
#define OUTRIDER_SPACE(space, Struct, FIELDS, text) Struct space;
  OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_SPACE)
#undef OUTRIDER_SPACE
  bool operator==(const Namespaces&) const = default;
};

enum class Namespace : uint8_t {
#define OUTRIDER_SPACE(space, Struct, FIELDS, text) space,
  OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_SPACE)
#undef OUTRIDER_SPACE
};

enum class FieldId : uint8_t {
#define OUTRIDER_ID(key, type, initial, ...) key,
#define OUTRIDER_SPACE(space, Struct, FIELDS, text) FIELDS(OUTRIDER_ID)
  OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_SPACE)
#undef OUTRIDER_SPACE
#undef OUTRIDER_ID
};

// --- descriptions -------------------------------------------------------------------------------------------------------------
struct FieldInfo {
  FieldId id;
  Namespace space;
  std::string_view space_name;  // "spec"
  std::string_view key;         // "draft_tokens"
  FieldType type;
  bool optional;  // may be absent
  FieldAttributes attributes;
  std::string path;  // "spec.draft_tokens"

  [[nodiscard]] std::vector<std::string_view> choices() const;
  [[nodiscard]] std::string option() const;       // "--draft-tokens"; empty for a secret
  [[nodiscard]] std::string environment() const;  // "OUTRIDER_SPEC_DRAFT_TOKENS"
  [[nodiscard]] std::string expectation() const;  // "an integer from 1 to 1024 (tokens)"
};

struct NamespaceInfo {
  Namespace space;
  std::string_view name;
  std::string_view help;
};

std::span<const FieldInfo> fields();  // in the table's order; index = FieldId
std::span<const NamespaceInfo> namespaces();
const FieldInfo& field(FieldId id);
const FieldInfo* find_field(std::string_view path_or_key);
const NamespaceInfo* find_namespace(std::string_view name);

// --- values -------------------------------------------------------------------------------------------------------------------
// A plugin's option: what TOML can say that a plugin can be given.
using OptionValue = std::variant<bool, int64_t, double, std::string, std::vector<std::string>>;

// A field's value; monostate is "absent", which only optional fields can be.
using FieldValue = std::variant<std::monostate, bool, int64_t, std::string>;

struct Assignment {
  std::string field;  // "spec.draft_tokens" or "draft_tokens"
  FieldValue value;
};

FieldValue get(const Namespaces& namespaces, FieldId id);

// Writes a value that check() accepts; another type throws std::logic_error.
void set(Namespaces& namespaces, FieldId id, const FieldValue& value);

// Type, range and choice. The error is "expected …, found …".
Result<void> check(const FieldInfo& info, const FieldValue& value);

// Reads a value from an option's or environment variable's text: booleans are true, false, 1 or 0, texts stand as they are,
// and the word "unset" makes an optional field absent. The result has been checked.
Result<FieldValue> parse(const FieldInfo& info, std::string_view text);

// In TOML's notation: true, 8, "auto"; "unset" when absent. Long texts are cut. shown() hides secrets as ***.
std::string to_text(const FieldValue& value);
std::string to_text(const OptionValue& value);
std::string shown(const FieldInfo& info, const FieldValue& value);

// The candidate nearest to a mistyped word by Damerau-Levenshtein distance, at most a third of its length (at least 1, at most 3)
// away; empty when none is.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

// What no value of one field alone shows: the pairs that contradict each other.
struct Contradiction {
  FieldId first, second;
  std::string message;
};
std::vector<Contradiction> contradictions(const Namespaces& namespaces);

}  // namespace outrider::config
