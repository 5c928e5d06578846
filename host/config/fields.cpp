#include "config/fields.hpp"

#include <algorithm>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

namespace outrider::config {
namespace {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};

template <class T>
constexpr FieldType type_of() {
  if constexpr (IsOptional<T>::value) {
    return type_of<typename T::value_type>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return FieldType::boolean;
  } else if constexpr (std::is_same_v<T, int64_t>) {
    return FieldType::integer;
  } else {
    static_assert(std::is_same_v<T, std::string>, "a field is a bool, an int64_t, a std::string, or an optional of one");
    return FieldType::text;
  }
}

template <class T>
FieldValue to_value(const T& member) {
  if constexpr (IsOptional<T>::value) {
    return member ? FieldValue(*member) : FieldValue();
  } else {
    return member;
  }
}

template <class T>
void assign(T& member, const FieldValue& value) {
  if constexpr (IsOptional<T>::value) {
    if (std::holds_alternative<std::monostate>(value)) {
      member.reset();
    } else {
      member = std::get<typename T::value_type>(value);
    }
  } else {
    member = std::get<T>(value);
  }
}

struct Row {
  FieldId id;
  std::string_view key;
  FieldType type;
  bool optional;
  FieldAttributes attributes;
};

struct Table {
  std::vector<FieldInfo> fields;
  std::vector<NamespaceInfo> namespaces;
  std::unordered_map<std::string_view, const FieldInfo*> by_name;  // paths and keys

  Table() {
#define OUTRIDER_ROW(key, type, initial, ...) Row{FieldId::key, #key, type_of<type>(), IsOptional<type>::value, {__VA_ARGS__}},
#define OUTRIDER_SPACE(space, Struct, FIELDS, text) add({Namespace::space, #space, text}, {FIELDS(OUTRIDER_ROW)});
    OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_SPACE)
#undef OUTRIDER_SPACE
#undef OUTRIDER_ROW
    for (const FieldInfo& info : fields) {
      by_name.emplace(info.path, &info);
      by_name.emplace(info.key, &info);
    }
  }

  void add(NamespaceInfo space, std::vector<Row> rows) {
    namespaces.push_back(space);
    for (Row& row : rows) {
      fields.push_back({row.id, space.space, space.name, row.key, row.type, row.optional, row.attributes,
                        std::string(space.name) + '.' + std::string(row.key)});
    }
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

std::string dashed(std::string_view key) {
  std::string text(key);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

}  // namespace

std::string_view stage_name(Stage stage) {
  static constexpr std::string_view kNames[] = {"start", "load", "draft", "plan", "serve"};
  return kNames[static_cast<size_t>(stage)];
}

std::span<const FieldInfo> fields() { return table().fields; }
std::span<const NamespaceInfo> namespaces() { return table().namespaces; }
const FieldInfo& field(FieldId id) { return table().fields[static_cast<size_t>(id)]; }

const FieldInfo* find_field(std::string_view path_or_key) {
  const auto found = table().by_name.find(path_or_key);
  return found == table().by_name.end() ? nullptr : found->second;
}

const NamespaceInfo* find_namespace(std::string_view name) {
  const auto all = namespaces();
  const auto found = std::find_if(all.begin(), all.end(), [&](const NamespaceInfo& space) { return space.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::vector<std::string_view> FieldInfo::choices() const {
  std::vector<std::string_view> used;
  for (std::string_view choice : attributes.choices) {
    if (!choice.empty()) used.push_back(choice);
  }
  return used;
}

std::string FieldInfo::option() const {
  if (attributes.secret) return {};
  return "--" + (attributes.option.empty() ? dashed(key) : std::string(attributes.option));
}

std::string FieldInfo::environment() const {
  std::string name = "OUTRIDER_" + std::string(space_name) + '_' + std::string(key);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
  return name;
}

std::string FieldInfo::expectation() const {
  switch (type) {
    case FieldType::boolean:
      return "true or false";
    case FieldType::integer: {
      std::string text = "an integer from " + std::to_string(attributes.min) + " to " + std::to_string(attributes.max);
      if (!attributes.unit.empty()) text += " (" + std::string(attributes.unit) + ')';
      return text;
    }
    case FieldType::text:
      break;
  }
  const std::vector<std::string_view> allowed = choices();
  if (allowed.empty()) return "a text that is not empty";
  std::string text = "one of";
  for (size_t i = 0; i < allowed.size(); ++i) text += (i == 0 ? " \"" : ", \"") + std::string(allowed[i]) + '"';
  return text;
}

FieldValue get(const Namespaces& namespaces, FieldId id) {
#define OUTRIDER_GET(key, type, initial, ...) \
  if (id == FieldId::key) return to_value(group.key);
#define OUTRIDER_SPACE(space, Struct, FIELDS, text) \
  {                                                 \
    const Struct& group = namespaces.space;         \
    FIELDS(OUTRIDER_GET)                            \
  }
  OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_SPACE)
#undef OUTRIDER_SPACE
#undef OUTRIDER_GET
  throw std::logic_error("config: no such field");
}

void set(Namespaces& namespaces, FieldId id, const FieldValue& value) {
#define OUTRIDER_SET(key, type, initial, ...) \
  if (id == FieldId::key) return assign(group.key, value);
#define OUTRIDER_SPACE(space, Struct, FIELDS, text) \
  {                                                 \
    Struct& group = namespaces.space;               \
    FIELDS(OUTRIDER_SET)                            \
  }
  OUTRIDER_CONFIG_NAMESPACES(OUTRIDER_SPACE)
#undef OUTRIDER_SPACE
#undef OUTRIDER_SET
  throw std::logic_error("config: no such field");
}

}  // namespace outrider::config
