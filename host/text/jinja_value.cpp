#include "text/jinja_value.hpp"

#include <cmath>
#include <functional>

#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

constexpr std::size_t kIndexFrom = 16;  // below, comparing the keys one by one is quicker than a hash

int compare_numbers(const Value& a, const Value& b) {  // -1, 0, 1; 2 when one is NaN
  if (a.is_integral() && b.is_integral()) {
    const Int x = a.as_integer(), y = b.as_integer();
    return x < y ? -1 : x > y;
  }
  // long double has 64 bits of mantissa, so every 64-bit integer compares exactly with every double.
  const auto widen = [](const Value& v) {
    return v.is(Kind::real) ? static_cast<long double>(v.real()) : static_cast<long double>(v.as_integer());
  };
  const long double x = widen(a), y = widen(b);
  if (std::isnan(x) || std::isnan(y)) return 2;
  return x < y ? -1 : x > y;
}

[[noreturn]] void not_ordered(const Value& a, const Value& b) {
  for (const Value* v : {&a, &b})
    if (v->is(Kind::undefined)) fail(v->undefined_message());
  fail(std::string("'<' not supported between instances of '") + type_name(a) + "' and '" + type_name(b) + "'");
}

}  // namespace

Value Value::string(std::string bytes, bool safe) {
  Value v(Kind::string);
  v.safe_ = safe;
  const std::size_t length = code_points(bytes);
  v.text_ = std::make_shared<const Text>(Text{std::move(bytes), length});
  return v;
}

Value Value::undefined(std::string message) {
  Value v(Kind::undefined);
  v.text_ = std::make_shared<const Text>(Text{std::move(message), 0});
  return v;
}

List& Value::list() const { return as<List>(); }
Dict& Value::dict() const { return as<Dict>(); }

Value Runtime::list(std::vector<Value> items) {
  charge(items.size() * sizeof(Value));
  List* l = make<List>();
  l->items = std::move(items);
  return Value::object(Kind::list, l);
}

Value Runtime::tuple(std::vector<Value> items) { return Value::object(Kind::tuple, list(std::move(items)).object()); }

Value Runtime::iterator(std::vector<Value> items) {
  Cursor* c = make<Cursor>();
  c->over = list(std::move(items));
  return Value::object(Kind::iterator, c);
}

Value Runtime::dict() { return Value::object(Kind::dict, make<Dict>()); }

std::ptrdiff_t Dict::position(Runtime& rt, const Value& key) {
  const std::size_t hash = hash_of(rt, key);
  if (by_hash_.empty()) {
    for (std::size_t i = 0; i < items.size(); ++i)
      if (equal(rt, items[i].first, key)) return static_cast<std::ptrdiff_t>(i);
    return -1;
  }
  const auto [from, to] = by_hash_.equal_range(hash);
  for (auto it = from; it != to; ++it)
    if (equal(rt, items[it->second].first, key)) return static_cast<std::ptrdiff_t>(it->second);
  return -1;
}

Value* Dict::find(Runtime& rt, const Value& key) {
  const std::ptrdiff_t at = position(rt, key);
  return at < 0 ? nullptr : &items[static_cast<std::size_t>(at)].second;
}

void Dict::set(Runtime& rt, const Value& key, Value value) {
  if (Value* found = find(rt, key)) {
    *found = std::move(value);
    return;
  }
  rt.charge(2 * sizeof(Value));
  items.emplace_back(key, std::move(value));
  if (items.size() == kIndexFrom) {
    for (std::size_t i = 0; i < items.size(); ++i) by_hash_.emplace(hash_of(rt, items[i].first), i);
  } else if (items.size() > kIndexFrom) {
    by_hash_.emplace(hash_of(rt, key), items.size() - 1);
  }
}

bool Dict::erase(Runtime& rt, const Value& key) {
  const std::ptrdiff_t at = position(rt, key);
  if (at < 0) return false;
  rt.step(items.size());
  items.erase(items.begin() + at);
  by_hash_.clear();
  if (items.size() >= kIndexFrom)
    for (std::size_t i = 0; i < items.size(); ++i) by_hash_.emplace(hash_of(rt, items[i].first), i);
  return true;
}

Int Range::length() const {
  if (step > 0) return start < stop ? (stop - start - 1) / step + 1 : Int(0);
  return start > stop ? (start - stop - 1) / -step + 1 : Int(0);
}

bool Cursor::next(Runtime& rt, Value& out) {
  rt.step();
  switch (over.kind()) {
    case Kind::list:
    case Kind::tuple:
      if (position >= over.list().items.size()) return false;
      out = over.list().items[position++];
      return true;
    case Kind::string: {
      const std::string& bytes = over.bytes();
      if (position >= bytes.size()) return false;
      const std::size_t size = code_point_size(bytes, position);
      out = rt.string(bytes.substr(position, size), over.safe());
      position += size;
      return true;
    }
    case Kind::dict:
    case Kind::view: {
      const auto of = over.is(Kind::dict) ? View::Of::keys : over.as<View>().of;
      Dict& dict = over.is(Kind::dict) ? over.dict() : *over.as<View>().dict;
      if (dict.items.size() != expected_size) fail("dictionary changed size during iteration");
      if (position >= dict.items.size()) return false;
      const auto& [key, value] = dict.items[position++];
      out = of == View::Of::keys ? key : of == View::Of::values ? value : rt.tuple({key, value});
      return true;
    }
    case Kind::range: {
      const auto& range = over.as<Range>();
      if (Int(position) >= range.length()) return false;
      out = Value::integer(range.start + Int(position++) * range.step);
      return true;
    }
    default:
      return false;  // undefined: nothing to walk
  }
}

const char* type_name(const Value& v) {
  switch (v.kind()) {
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return v.safe() ? "Markup" : "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::range:
      return "range";
    case Kind::view:
      switch (v.as<View>().of) {
        case View::Of::keys:
          return "dict_keys";
        case View::Of::values:
          return "dict_values";
        case View::Of::items:
          return "dict_items";
      }
      return "dict_keys";
    case Kind::iterator:
      return "generator";
    case Kind::name_space:
      return "Namespace";
    case Kind::macro:
      return "Macro";
    case Kind::loop:
      return "LoopContext";
    case Kind::function:
      return v.as<Function>().self.is(Kind::undefined) ? "function" : "builtin_function_or_method";
  }
  return "object";
}

bool truthy(const Value& v) {
  switch (v.kind()) {
    case Kind::undefined:
    case Kind::none:
      return false;
    case Kind::boolean:
      return v.boolean();
    case Kind::integer:
      return v.integer() != 0;
    case Kind::real:
      return v.real() != 0;
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::range:
    case Kind::view:
      return length_of(v) != 0;
    default:
      return true;  // generators, namespaces, callables
  }
}

bool is_iterable(const Value& v) {
  switch (v.kind()) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::range:
    case Kind::view:
    case Kind::iterator:
    case Kind::loop:
      return true;
    default:
      return false;
  }
}

Cursor* iterate(Runtime& rt, const Value& v) {
  if (v.is(Kind::iterator)) return &v.as<Cursor>();
  if (v.is(Kind::loop)) fail("iterating over `loop` itself is not supported");
  if (!is_iterable(v)) fail(std::string("'") + type_name(v) + "' object is not iterable");
  Cursor* c = rt.make<Cursor>();
  c->over = v;
  if (v.is(Kind::dict)) c->expected_size = v.dict().items.size();
  if (v.is(Kind::view)) c->expected_size = v.as<View>().dict->items.size();
  return c;
}

std::vector<Value> to_vector(Runtime& rt, const Value& v) {
  std::vector<Value> items;
  Cursor* c = iterate(rt, v);
  for (Value item; c->next(rt, item);) {
    rt.charge(sizeof(Value));
    items.push_back(item);
  }
  return items;
}

Int length_of(const Value& v) {
  switch (v.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return Int(v.text().length);
    case Kind::list:
    case Kind::tuple:
      return Int(v.list().items.size());
    case Kind::dict:
      return Int(v.dict().items.size());
    case Kind::range:
      return v.as<Range>().length();
    case Kind::view:
      return Int(v.as<View>().dict->items.size());
    default:
      fail(std::string("object of type '") + type_name(v) + "' has no len()");
  }
}

bool equal(Runtime& rt, const Value& a, const Value& b, int depth) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == 0;
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::undefined:
    case Kind::none:
      return true;
    case Kind::string:
      return a.bytes() == b.bytes();
    case Kind::list:
    case Kind::tuple: {
      const auto &x = a.list().items, &y = b.list().items;
      if (a.object() == b.object()) return true;
      if (x.size() != y.size()) return false;
      rt.check_depth(depth);
      for (std::size_t i = 0; i < x.size(); ++i) {
        rt.step();
        if (!equal(rt, x[i], y[i], depth + 1)) return false;
      }
      return true;
    }
    case Kind::dict: {
      if (a.object() == b.object()) return true;
      if (a.dict().items.size() != b.dict().items.size()) return false;
      rt.check_depth(depth);
      for (const auto& [key, value] : a.dict().items) {
        rt.step();
        const Value* other = b.dict().find(rt, key);
        if (!other || !equal(rt, value, *other, depth + 1)) return false;
      }
      return true;
    }
    case Kind::range: {
      const auto &x = a.as<Range>(), &y = b.as<Range>();
      if (x.length() != y.length()) return false;
      return x.length() == 0 || (x.start == y.start && (x.length() == 1 || x.step == y.step));
    }
    case Kind::view:
      fail("comparing dict views is not supported; make lists of them with |list");
    default:
      return a.object() == b.object();
  }
}

bool less(Runtime& rt, const Value& a, const Value& b, int depth) {
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) == -1;
  // UTF-8 sorts by byte as its code points sort.
  if (a.is(Kind::string) && b.is(Kind::string)) return a.bytes() < b.bytes();
  if ((a.is(Kind::list) && b.is(Kind::list)) || (a.is(Kind::tuple) && b.is(Kind::tuple))) {
    rt.check_depth(depth);
    const auto &x = a.list().items, &y = b.list().items;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      rt.step();
      if (!equal(rt, x[i], y[i], depth + 1)) return less(rt, x[i], y[i], depth + 1);
    }
    return x.size() < y.size();
  }
  not_ordered(a, b);
}

bool contains(Runtime& rt, const Value& container, const Value& item) {
  switch (container.kind()) {
    case Kind::string:
      if (!item.is(Kind::string)) fail(std::string("'in <string>' requires string as left operand, not ") + type_name(item));
      rt.step(1 + container.bytes().size() / 64);
      return container.bytes().find(item.bytes()) != std::string::npos;
    case Kind::dict:
      return container.dict().find(rt, item) != nullptr;
    case Kind::view:
      if (container.as<View>().of == View::Of::keys) return container.as<View>().dict->find(rt, item) != nullptr;
      break;
    case Kind::range:
      if (item.is_integral()) {
        if (!in_range_bounds(item.as_integer())) return false;
        const auto& r = container.as<Range>();
        const Int offset = item.as_integer() - r.start;
        return offset % r.step == 0 && offset / r.step >= 0 && offset / r.step < r.length();
      }
      break;
    default:
      break;
  }
  if (!is_iterable(container)) fail(std::string("argument of type '") + type_name(container) + "' is not iterable");
  Cursor* c = iterate(rt, container);
  for (Value v; c->next(rt, v);)
    if (equal(rt, v, item)) return true;
  return false;
}

std::size_t hash_of(Runtime& rt, const Value& v, int depth) {
  switch (v.kind()) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return std::hash<double>()(v.as_real());  // equal numbers of any type hash alike
    case Kind::string:
      return std::hash<std::string>()(v.bytes());
    case Kind::tuple: {
      rt.check_depth(depth);
      std::size_t h = 17;
      for (const Value& item : v.list().items) {
        rt.step();
        h = h * 31 + hash_of(rt, item, depth + 1);
      }
      return h;
    }
    case Kind::list:
    case Kind::dict:
    case Kind::view:
      fail(std::string("unhashable type: '") + type_name(v) + "'");
    case Kind::undefined:
    case Kind::none:
      return static_cast<std::size_t>(v.kind());
    case Kind::range:
      return static_cast<std::size_t>(v.as<Range>().length());
    case Kind::function:
      return std::hash<std::string>()(v.as<Function>().name);
    default:
      return std::hash<const void*>()(v.object());
  }
}

}  // namespace outrider::text::jinja
