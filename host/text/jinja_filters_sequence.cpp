// Filters over sequences. Where Jinja gives a generator the result is one too (consumed once, always true, no length),
// but its elements are computed at once.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

// The dotted path of `attribute=`: "function.name", "0", 0. None or absent is the element itself.
class AttributeGetter {
 public:
  AttributeGetter(Interpreter& in, const Value& attribute, bool ignore_case, Value otherwise = Value::none())
      : in_(in), ignore_case_(ignore_case), otherwise_(std::move(otherwise)) {
    if (attribute.is(Kind::none)) return;
    if (!attribute.is(Kind::string)) {
      path_.push_back(attribute);
      return;
    }
    std::string_view rest = attribute.bytes();
    while (true) {
      const std::size_t dot = rest.find('.');
      const std::string_view part = rest.substr(0, dot);
      Int index = 0;
      const bool digits = !part.empty() && std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
      path_.push_back(digits && parse_integer(part, 10, index) ? Value::integer(index) : Value::string(std::string(part)));
      if (dot == std::string_view::npos) break;
      rest.remove_prefix(dot + 1);
    }
  }

  Value operator()(const Value& item) const {
    Value v = item;
    for (const Value& part : path_) {
      v = get_item(in_, v, part);
      if (v.is(Kind::undefined) && !otherwise_.is(Kind::none)) v = otherwise_;
    }
    if (ignore_case_ && v.is(Kind::string)) v = in_.rt.string(to_lower(v.bytes()));
    return v;
  }

 private:
  Interpreter& in_;
  bool ignore_case_;
  Value otherwise_;
  std::vector<Value> path_;
};

struct Keyed {
  Value key, item;
};

void refuse_nan(const Value& v) {
  if (v.is(Kind::real) && std::isnan(v.real())) fail("sorting NaN is not supported");
}

void sort_keyed(Interpreter& in, std::vector<Keyed>& items, bool reverse) {
  for (const Keyed& k : items) refuse_nan(k.key);
  in.rt.step(items.size() * 8);
  const auto before = [&](const Keyed& a, const Keyed& b) { return less(in.rt, a.key, b.key); };
  // Python's reverse keeps equal elements in their order, so it is not the reverse of the sorted list.
  if (reverse) std::reverse(items.begin(), items.end());
  std::stable_sort(items.begin(), items.end(), before);
  if (reverse) std::reverse(items.begin(), items.end());
}

std::vector<Value> items_of(std::vector<Keyed> keyed) {
  std::vector<Value> out;
  for (Keyed& k : keyed) out.push_back(std::move(k.item));
  return out;
}

Value sort(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "sort", {"reverse", "case_sensitive", "attribute"});
  const bool ignore_case = !b.truth(1, false);
  const Value attribute = b.get(2, Value::none());
  std::vector<AttributeGetter> getters;  // "a,b" sorts by a, then by b
  if (attribute.is(Kind::string)) {
    std::string_view rest = attribute.bytes();
    for (std::size_t comma = 0; comma != std::string_view::npos;
         rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1)) {
      comma = rest.find(',');
      getters.emplace_back(in, in.rt.string(std::string(rest.substr(0, comma))), ignore_case);
    }
  } else {
    getters.emplace_back(in, attribute, ignore_case);
  }
  std::vector<Keyed> keyed;
  for (const Value& item : to_vector(in.rt, subject)) {
    if (getters.size() == 1) {
      keyed.push_back({getters[0](item), item});
      continue;
    }
    std::vector<Value> keys;
    for (const auto& getter : getters) keys.push_back(getter(item));
    keyed.push_back({in.rt.list(std::move(keys)), item});
  }
  sort_keyed(in, keyed, b.integer(0, 0) != 0);
  return in.rt.list(items_of(std::move(keyed)));
}

Value dictsort(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "dictsort", {"case_sensitive", "by", "reverse"});
  const std::string by = b.string(1, "key");
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  if (subject.is(Kind::undefined)) fail(subject.undefined_message());
  if (!subject.is(Kind::dict)) fail(std::string("'") + type_name(subject) + "' object has no attribute 'items'");
  const AttributeGetter key(in, Value::none(), !b.truth(0, false));
  std::vector<Keyed> keyed;
  for (const auto& [name, value] : subject.dict().items) keyed.push_back({key(by == "key" ? name : value), in.rt.tuple({name, value})});
  sort_keyed(in, keyed, b.integer(2, 0) != 0);
  return in.rt.list(items_of(std::move(keyed)));
}

template <bool Max>
Value extreme(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, Max ? "max" : "min", {"case_sensitive", "attribute"});
  const AttributeGetter getter(in, b.get(1, Value::none()), !b.truth(0, false));
  const std::vector<Value> items = to_vector(in.rt, subject);
  if (items.empty()) return Value::undefined("No aggregated item, sequence was empty.");
  Keyed best{getter(items[0]), items[0]};
  for (std::size_t i = 1; i < items.size(); ++i) {
    Value key = getter(items[i]);
    if (Max ? less(in.rt, best.key, key) : less(in.rt, key, best.key)) best = {std::move(key), items[i]};
  }
  return best.item;
}

Value unique(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "unique", {"case_sensitive", "attribute"});
  const AttributeGetter getter(in, b.get(1, Value::none()), !b.truth(0, false));
  Dict* seen = in.rt.make<Dict>();
  std::vector<Value> out;
  for (const Value& item : to_vector(in.rt, subject)) {
    const Value key = getter(item);
    if (seen->find(in.rt, key)) continue;
    seen->set(in.rt, key, Value::none());
    out.push_back(item);
  }
  return in.rt.iterator(std::move(out));
}

Value sum(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "sum", {"attribute", "start"});
  const AttributeGetter getter(in, b.get(0, Value::none()), false);
  Value total = b.get(1, Value::integer(0));
  if (total.is(Kind::string)) fail("sum() can't sum strings [use ''.join(seq) instead]");
  for (const Value& item : to_vector(in.rt, subject)) total = binary(in.rt, Op::add, total, getter(item));
  return total;
}

Value join(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "join", {"d", "attribute"});
  const std::string separator = b.given(0) ? to_text(in.rt, b[0]) : "";
  const AttributeGetter getter(in, b.get(1, Value::none()), false);
  std::string out;
  bool first = true;
  for (const Value& item : to_vector(in.rt, subject)) {
    if (!first) out += separator;
    first = false;
    const Value v = getter(item);
    const std::size_t before = out.size();
    v.is(Kind::string) ? out += v.bytes() : out += to_text(in.rt, v);
    in.rt.charge(out.size() - before + separator.size());
  }
  return Value::string(std::move(out));
}

Value list(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "list", {});
  return in.rt.list(to_vector(in.rt, subject));
}

Value first(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "first", {});
  Value v;
  return iterate(in.rt, subject)->next(in.rt, v) ? v : Value::undefined("No first item, sequence was empty.");
}

Value last(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "last", {});
  if (subject.is(Kind::iterator) || !is_iterable(subject)) fail(std::string("'") + type_name(subject) + "' object is not reversible");
  if (subject.is(Kind::string) || subject.is(Kind::list) || subject.is(Kind::tuple)) {
    if (length_of(subject) > 0) return get_item(in, subject, Value::integer(-1));
    return Value::undefined("No last item, sequence was empty.");
  }
  const std::vector<Value> items = to_vector(in.rt, subject);
  return items.empty() ? Value::undefined("No last item, sequence was empty.") : items.back();
}

Value reverse(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "reverse", {});
  if (subject.is(Kind::string)) return get_slice(in.rt, subject, Value::none(), Value::none(), Value::integer(-1));
  if (!is_iterable(subject)) fail("argument must be iterable");
  std::vector<Value> items = to_vector(in.rt, subject);
  std::reverse(items.begin(), items.end());
  return subject.is(Kind::iterator) ? in.rt.list(std::move(items)) : in.rt.iterator(std::move(items));
}

Value items(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "items", {});
  std::vector<Value> out;
  if (!subject.is(Kind::undefined)) {
    if (!subject.is(Kind::dict)) fail("Can only get item pairs from a mapping.");
    for (const auto& [key, value] : subject.dict().items) out.push_back(in.rt.tuple({key, value}));
  }
  return in.rt.iterator(std::move(out));
}

Value batch(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "batch", {"linecount", "fill_with"}, 1);
  const Int size = b.integer(0, 1);
  std::vector<Value> out, row;
  for (const Value& item : to_vector(in.rt, subject)) {
    if (Int(row.size()) == size) out.push_back(in.rt.list(std::exchange(row, {})));
    row.push_back(item);
  }
  if (!row.empty()) {
    if (b.given(1) && !b[1].is(Kind::none) && size < 1'000'000)
      while (Int(row.size()) < size) row.push_back(b[1]);
    out.push_back(in.rt.list(std::move(row)));
  }
  return in.rt.iterator(std::move(out));
}

Value slices(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "slice", {"slices", "fill_with"}, 1);
  const Int count = b.integer(0, 1);
  if (count == 0) fail("integer division or modulo by zero");
  if (count > 1'000'000) fail("slice into more than 1000000 lists is not supported");
  const std::vector<Value> all = to_vector(in.rt, subject);
  const std::size_t n = count > 0 ? static_cast<std::size_t>(count) : 0;
  std::vector<Value> out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const bool extra = i < all.size() % n;
    const std::size_t size = all.size() / n + (extra ? 1 : 0);
    std::vector<Value> part(all.begin() + static_cast<std::ptrdiff_t>(at), all.begin() + static_cast<std::ptrdiff_t>(at + size));
    if (!extra && b.given(1) && !b[1].is(Kind::none)) part.push_back(b[1]);
    at += size;
    out.push_back(in.rt.list(std::move(part)));
  }
  return in.rt.iterator(std::move(out));
}

Value map(Interpreter& in, const Value& subject, const Arguments& arguments) {
  std::vector<Value> out;
  if (!truthy(subject)) return in.rt.iterator({});
  if (arguments.positional.empty() && !arguments.named.empty() &&
      std::any_of(arguments.named.begin(), arguments.named.end(), [](const auto& n) { return n.first == "attribute"; })) {
    const Bound b(arguments, "map", {"attribute", "default"}, 1);
    const AttributeGetter getter(in, b[0], false, b.get(1, Value::none()));
    for (const Value& item : to_vector(in.rt, subject)) out.push_back(getter(item));
    return in.rt.iterator(std::move(out));
  }
  if (arguments.positional.empty()) fail("map requires a filter argument");
  const Value& name = arguments.positional[0];
  const FilterFunction filter = name.is(Kind::string) ? find_filter(name.bytes()) : nullptr;
  if (!filter) fail(no_such_filter(to_text(in.rt, name)));
  const Arguments rest{{arguments.positional.begin() + 1, arguments.positional.end()}, arguments.named};
  for (const Value& item : to_vector(in.rt, subject)) out.push_back(filter(in, item, rest));
  return in.rt.iterator(std::move(out));
}

// select, reject and their …attr forms, which look the attribute up first.
template <bool Keep, bool ByAttribute>
Value chosen(Interpreter& in, const Value& subject, const Arguments& arguments) {
  std::vector<Value> out;
  if (!truthy(subject)) return in.rt.iterator({});
  const auto& positional = arguments.positional;
  if (ByAttribute && positional.empty()) fail("Missing parameter for attribute name");
  const AttributeGetter getter(in, ByAttribute ? positional[0] : Value::none(), false);
  const std::size_t named = ByAttribute ? 1 : 0;
  TestFunction test = nullptr;
  Arguments rest;
  if (positional.size() > named) {
    test = positional[named].is(Kind::string) ? find_test(positional[named].bytes()) : nullptr;
    if (!test) fail(no_such_test(to_text(in.rt, positional[named])));
    rest = {{positional.begin() + static_cast<std::ptrdiff_t>(named) + 1, positional.end()}, arguments.named};
  }
  for (const Value& item : to_vector(in.rt, subject)) {
    const Value v = getter(item);
    if ((test ? test(in, v, rest) : truthy(v)) == Keep) out.push_back(item);
  }
  return in.rt.iterator(std::move(out));
}

}  // namespace

std::vector<FilterEntry> sequence_filters() {
  return {{"sort", sort},
          {"dictsort", dictsort},
          {"max", extreme<true>},
          {"min", extreme<false>},
          {"unique", unique},
          {"sum", sum},
          {"join", join},
          {"list", list},
          {"first", first},
          {"last", last},
          {"reverse", reverse},
          {"items", items},
          {"batch", batch},
          {"slice", slices},
          {"map", map},
          {"select", chosen<true, false>},
          {"reject", chosen<false, false>},
          {"selectattr", chosen<true, true>},
          {"rejectattr", chosen<false, true>}};
}

}  // namespace outrider::text::jinja
