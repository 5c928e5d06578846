// Which methods values have, and those of lists and dicts. Strings' are in jinja_string_methods.cpp.
#include <algorithm>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"

namespace outrider::text::jinja {

namespace {

// Python's public attributes by type: what is here, then what is not.
constexpr std::string_view kStringHas =
    " capitalize center count endswith find format index isalnum isalpha isdigit islower isspace isupper join ljust "
    "lower lstrip "
    "partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines "
    "startswith strip "
    "swapcase title upper zfill ";
constexpr std::string_view kStringLacks =
    " casefold encode expandtabs format_map isascii isdecimal isidentifier isnumeric isprintable istitle maketrans "
    "translate ";
constexpr std::string_view kMarkupLacks = " escape striptags unescape ";
constexpr std::string_view kListHas = " append clear copy count extend index insert pop remove reverse ";
constexpr std::string_view kListLacks = " sort ";
constexpr std::string_view kTupleHas = " count index ";
constexpr std::string_view kDictHas = " clear copy get items keys pop setdefault update values ";
constexpr std::string_view kDictLacks = " fromkeys popitem ";
constexpr std::string_view kIntLacks =
    " as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag numerator real to_bytes ";
constexpr std::string_view kFloatLacks = " as_integer_ratio conjugate fromhex hex imag is_integer real ";
constexpr std::string_view kRangeLacks = " count index start step stop ";
constexpr std::string_view kViewLacks = " isdisjoint mapping ";
constexpr std::string_view kGeneratorLacks = " close gi_code gi_frame gi_running gi_suspended gi_yieldfrom send throw ";

bool listed(std::string_view list, const std::string& name) {
  return list.find(" " + name + " ") != std::string_view::npos;
}

bool among(const Value& self, const std::string& name, std::string_view has, std::string_view lacks) {
  if (listed(has, name)) return true;
  if (listed(lacks, name))
    fail(std::string("the attribute '") + name + "' of '" + type_name(self) + "' is not supported");
  return false;
}

std::size_t clamp_index(Int i, std::size_t size) {  // as list.insert and list.index take bounds
  if (i < 0) i += Int(size);
  return static_cast<std::size_t>(std::clamp(i, Int(0), Int(size)));
}

}  // namespace

Bound::Bound(const Arguments& arguments, const std::string& callee, std::initializer_list<const char*> names,
             std::size_t required)
    : callee_(callee), values_(names.size()) {
  if (arguments.positional.size() > names.size())
    fail(callee + "() takes at most " + std::to_string(names.size()) + " argument(s) (" +
         std::to_string(arguments.positional.size()) + " given)");
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) values_[i] = &arguments.positional[i];
  for (const auto& [name, value] : arguments.named) {
    const auto it = std::find_if(names.begin(), names.end(), [&](const char* n) { return name == n; });
    if (it == names.end()) fail(callee + "() got an unexpected keyword argument '" + name + "'");
    const Value*& slot = values_[static_cast<std::size_t>(it - names.begin())];
    if (slot) fail(callee + "() got multiple values for argument '" + name + "'");
    slot = &value;
  }
  for (std::size_t i = 0; i < required; ++i)
    if (!values_[i]) {
      const char* name = names.begin()[i];
      fail(callee + "() is missing the argument '" + (*name == '/' ? name + 1 : name) + "'");
    }
}

std::string Bound::string(std::size_t i, const char* otherwise) const {
  if (!values_[i]) return otherwise;
  if (!values_[i]->is(Kind::string)) fail(callee_ + "() expected a string, got '" + type_name(*values_[i]) + "'");
  return values_[i]->bytes();
}

Int Bound::integer(std::size_t i, Int otherwise) const { return values_[i] ? want_integer(*values_[i]) : otherwise; }

Int want_integer(const Value& v) {
  if (v.is(Kind::undefined)) fail(v.undefined_message());
  if (!v.is_integral()) fail(std::string("'") + type_name(v) + "' object cannot be interpreted as an integer");
  return v.as_integer();
}

bool has_method(const Value& self, const std::string& name) {
  switch (self.kind()) {
    case Kind::string:
      if (self.safe()) among(self, name, {}, kMarkupLacks);
      return among(self, name, kStringHas, kStringLacks);
    case Kind::list:
      return among(self, name, kListHas, kListLacks);
    case Kind::tuple:
      return among(self, name, kTupleHas, {});
    case Kind::dict:
      return among(self, name, kDictHas, kDictLacks);
    case Kind::boolean:
    case Kind::integer:
      return among(self, name, {}, kIntLacks);
    case Kind::real:
      return among(self, name, {}, kFloatLacks);
    case Kind::range:
      return among(self, name, {}, kRangeLacks);
    case Kind::view:
      return among(self, name, {}, kViewLacks);
    case Kind::iterator:
      return among(self, name, {}, kGeneratorLacks);
    default:
      return false;
  }
}

Value call_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments) {
  if (self.is(Kind::string)) return call_string_method(in, self, name, arguments);
  if (self.is(Kind::dict)) return call_dict_method(in, self, name, arguments);
  return call_list_method(in, self, name, arguments);
}

Value call_list_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments) {
  auto& items = self.list().items;
  Runtime& rt = in.rt;
  if (name == "append") {
    const Bound b(arguments, name, {"/item"}, 1);
    rt.charge(sizeof(Value));
    items.push_back(b[0]);
    return Value::none();
  }
  if (name == "extend") {
    const Bound b(arguments, name, {"/items"}, 1);
    const std::vector<Value> more = to_vector(rt, b[0]);
    items.insert(items.end(), more.begin(), more.end());
    return Value::none();
  }
  if (name == "insert") {
    const Bound b(arguments, name, {"/index", "/item"}, 2);
    rt.charge(sizeof(Value));
    rt.step(items.size());
    items.insert(items.begin() + static_cast<std::ptrdiff_t>(clamp_index(b.integer(0, 0), items.size())), b[1]);
    return Value::none();
  }
  if (name == "pop") {
    const Bound b(arguments, name, {"/index"});
    if (items.empty()) fail("pop from empty list");
    Int i = b.integer(0, -1);
    if (i < 0) i += Int(items.size());
    if (i < 0 || i >= Int(items.size())) fail("pop index out of range");
    rt.step(items.size() - static_cast<std::size_t>(i));
    Value out = items[static_cast<std::size_t>(i)];
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    return out;
  }
  if (name == "clear") {
    const Bound b(arguments, name, {});
    items.clear();
    return Value::none();
  }
  if (name == "reverse") {
    const Bound b(arguments, name, {});
    rt.step(items.size());
    std::reverse(items.begin(), items.end());
    return Value::none();
  }
  if (name == "copy") {
    const Bound b(arguments, name, {});
    return rt.list(items);
  }
  if (name == "count") {
    const Bound b(arguments, name, {"/item"}, 1);
    Int n = 0;
    for (const Value& item : items) {
      rt.step();
      n += equal(rt, item, b[0]);
    }
    return Value::integer(n);
  }
  // index and remove
  const Bound b(arguments, name, {"/item", "/start", "/stop"}, 1);
  const std::size_t from = clamp_index(b.integer(1, 0), items.size());
  const std::size_t to = b.given(2) ? clamp_index(b.integer(2, 0), items.size()) : items.size();
  for (std::size_t i = from; i < to; ++i) {
    rt.step();
    if (!equal(rt, items[i], b[0])) continue;
    if (name == "index") return Value::integer(Int(i));
    items.erase(items.begin() + static_cast<std::ptrdiff_t>(i));
    return Value::none();
  }
  fail(name == "index" ? repr(rt, b[0]) + " is not in " + type_name(self) : "list.remove(x): x not in list");
}

Value call_dict_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments) {
  Dict& dict = self.dict();
  Runtime& rt = in.rt;
  if (name == "items" || name == "keys" || name == "values") {
    const Bound b(arguments, name, {});
    View* view = rt.make<View>();
    view->of = name == "items" ? View::Of::items : name == "keys" ? View::Of::keys : View::Of::values;
    view->dict = &dict;
    return Value::object(Kind::view, view);
  }
  if (name == "get") {
    const Bound b(arguments, name, {"/key", "/default"}, 1);
    const Value* found = dict.find(rt, b[0]);
    return found ? *found : b.get(1, Value::none());
  }
  if (name == "pop") {
    const Bound b(arguments, name, {"/key", "/default"}, 1);
    const Value* found = dict.find(rt, b[0]);
    if (!found) {
      if (!b.given(1)) fail("KeyError: " + repr(rt, b[0]));
      return b[1];
    }
    Value out = *found;
    dict.erase(rt, b[0]);
    return out;
  }
  if (name == "setdefault") {
    const Bound b(arguments, name, {"/key", "/default"}, 1);
    if (const Value* found = dict.find(rt, b[0])) return *found;
    dict.set(rt, b[0], b.get(1, Value::none()));
    return b.get(1, Value::none());
  }
  if (name == "update") {
    const Value more = call_function(in, "dict", arguments);
    for (const auto& [key, value] : std::vector(more.dict().items)) dict.set(rt, key, value);
    return Value::none();
  }
  const Bound b(arguments, name, {});
  if (name == "copy") {
    const Value out = rt.dict();
    for (const auto& [key, value] : dict.items) out.dict().set(rt, key, value);
    return out;
  }
  dict.clear();
  return Value::none();
}

}  // namespace outrider::text::jinja
