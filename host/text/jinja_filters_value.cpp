// Filters on single values: defaults, numbers, JSON, attributes; and the table of all filters.
#include <algorithm>
#include <cmath>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"

namespace outrider::text::jinja {

namespace {

Value default_(Interpreter&, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "default", {"default_value", "boolean"});
  const bool missing = subject.is(Kind::undefined) || (b.truth(1, false) && !truthy(subject));
  return missing ? b.get(0, Value::string("")) : subject;
}

Value length(Interpreter&, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "length", {});
  return Value::integer(length_of(subject));
}

Value absolute(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "abs", {});
  if (subject.is(Kind::undefined)) fail(subject.undefined_message());
  if (!subject.is_number()) fail(std::string("bad operand type for abs(): '") + type_name(subject) + "'");
  if (subject.is(Kind::real)) return Value::real(std::fabs(subject.real()));
  return subject.as_integer() < 0 ? binary(in.rt, Op::subtract, Value::integer(0), subject)
                                  : Value::integer(subject.as_integer());
}

Value truncated(double d) {
  if (!(std::fabs(d) < 1.7e38)) fail("integers beyond 128 bits are not supported");
  return Value::integer(static_cast<Int>(d));
}

Value to_integer(Interpreter&, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "int", {"default", "base"});
  const Value otherwise = b.get(0, Value::integer(0));
  const Int base = b.integer(1, 10);
  if (base != 0 && (base < 2 || base > 36)) fail("int() base must be >= 2 and <= 36, or 0");
  if (subject.is(Kind::undefined)) fail(subject.undefined_message());
  if (subject.is_integral()) return Value::integer(subject.as_integer());
  if (subject.is(Kind::real)) {
    if (std::isnan(subject.real())) return otherwise;
    if (std::isinf(subject.real())) fail("cannot convert float infinity to integer");
    return truncated(subject.real());
  }
  if (!subject.is(Kind::string)) return otherwise;
  Int whole = 0;
  if (parse_integer(subject.bytes(), static_cast<int>(base), whole)) return Value::integer(whole);
  double real = 0;
  if (!parse_real(subject.bytes(), real) || std::isnan(real) || std::isinf(real)) return otherwise;
  return truncated(real);
}

Value to_real(Interpreter&, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "float", {"default"});
  if (subject.is(Kind::undefined)) fail(subject.undefined_message());
  if (subject.is_number()) return Value::real(subject.as_real());
  double real = 0;
  return subject.is(Kind::string) && parse_real(subject.bytes(), real) ? Value::real(real) : b.get(0, Value::real(0));
}

Value rounded(Interpreter&, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "round", {"precision", "method"});
  const Int precision = b.integer(0, 0);
  const std::string method = b.string(1, "common");
  if (method != "common" && method != "ceil" && method != "floor") fail("method must be common, ceil or floor");
  if (subject.is(Kind::undefined)) fail(subject.undefined_message());
  if (!subject.is_number()) fail(std::string("type ") + type_name(subject) + " doesn't define __round__ method");
  if (precision < 0 || precision > 300) fail("round to a precision that is not 0 to 300 is not supported");
  if (method == "common") {
    if (subject.is_integral()) return Value::integer(subject.as_integer());
    return round_real(subject.real(), static_cast<int>(precision));
  }
  const double scale = std::pow(10.0, static_cast<double>(precision));
  const double scaled = subject.as_real() * scale;
  if (!std::isfinite(scaled)) fail("cannot convert a float that is not finite to an integer");
  return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

Value attribute(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "attr", {"name"}, 1);
  bool found = false;
  const std::string name = b.string(0, "");
  Value v = get_own_attribute(in, subject, name, found);
  return found ? v
               : Value::undefined(std::string("'") + type_name(subject) + " object' has no attribute '" + name + "'");
}

// transformers' own tojson, not Jinja's: json.dumps without HTML escapes.
Value tojson(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "tojson", {"ensure_ascii", "indent", "separators", "sort_keys"});
  std::string indent;
  const bool indented = b.given(1) && !b[1].is(Kind::none);
  if (indented && b[1].is(Kind::string)) {
    indent = b[1].bytes();
  } else if (indented) {
    const Int width = b.integer(1, 0);
    if (width > 1000) fail("tojson with an indent above 1000 is not supported");
    indent.assign(width > 0 ? static_cast<std::size_t>(width) : 0, ' ');
  }
  std::string item = indented ? "," : ", ", key = ": ";
  if (b.given(2) && !b[2].is(Kind::none)) {
    const std::vector<Value> pair = to_vector(in.rt, b[2]);
    if (pair.size() != 2 || !pair[0].is(Kind::string) || !pair[1].is(Kind::string))
      fail("tojson's separators must be two strings");
    item = pair[0].bytes();
    key = pair[1].bytes();
  }
  std::string text =
      to_json(in.rt, subject, b.truth(0, false), indented ? &indent : nullptr, item, key, b.truth(3, false));
  return Value::string(std::move(text));
}

Value fromjson(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "from_json", {});
  if (!subject.is(Kind::string)) fail(std::string("from_json expected a string, got '") + type_name(subject) + "'");
  const auto json = nlohmann::ordered_json::parse(subject.bytes(), nullptr, false);
  if (json.is_discarded()) fail("from_json: the text is not valid JSON");
  return from_json(in.rt, json);
}

constexpr std::string_view kOthersOfJinja[] = {"filesizeformat", "groupby",  "pprint",    "random",
                                               "striptags",      "truncate", "urlencode", "urlize",
                                               "wordcount",      "wordwrap", "xmlattr"};

const std::vector<FilterEntry>& all_filters() {
  static const std::vector<FilterEntry> table = [] {
    std::vector<FilterEntry> all = {{"default", default_}, {"d", default_},        {"length", length},
                                    {"count", length},     {"abs", absolute},      {"int", to_integer},
                                    {"float", to_real},    {"round", rounded},     {"attr", attribute},
                                    {"tojson", tojson},    {"from_json", fromjson}};
    for (const auto& more : {text_filters(), sequence_filters()}) all.insert(all.end(), more.begin(), more.end());
    std::sort(all.begin(), all.end(), [](const FilterEntry& a, const FilterEntry& b) { return a.name < b.name; });
    return all;
  }();
  return table;
}

}  // namespace

FilterFunction find_filter(std::string_view name) {
  const auto& table = all_filters();
  const auto it = std::lower_bound(table.begin(), table.end(), name,
                                   [](const FilterEntry& e, std::string_view n) { return e.name < n; });
  return it != table.end() && it->name == name ? it->function : nullptr;
}

std::string no_such_filter(const std::string& name) {
  const bool known = std::find(std::begin(kOthersOfJinja), std::end(kOthersOfJinja), name) != std::end(kOthersOfJinja);
  return known ? "the filter '" + name + "' is not supported in a chat template" : "no filter named '" + name + "'";
}

}  // namespace outrider::text::jinja
