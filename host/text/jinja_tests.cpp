// What may follow `is`.
#include <algorithm>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"

namespace outrider::text::jinja {

namespace {

template <bool (*Holds)(const Value&)>
bool plain(Interpreter&, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "this test", {});
  return Holds(v);
}

template <Op Compare>
bool compared(Interpreter& in, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "this test", {"other"}, 1);
  return compare(in.rt, Compare, v, b[0]);
}

bool remainder_is(Interpreter& in, const Value& v, const Value& divisor, Int wanted) {
  if (v.is(Kind::string)) fail("not all arguments converted during string formatting");
  return equal(in.rt, binary(in.rt, Op::modulo, v, divisor), Value::integer(wanted));
}

template <int Wanted>
bool parity(Interpreter& in, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "this test", {});
  return remainder_is(in, v, Value::integer(2), Wanted);
}

bool divisible_by(Interpreter& in, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "divisibleby", {"num"}, 1);
  return remainder_is(in, v, b[0], 0);
}

// Python's `is`. Whether equal numbers or strings are one object is Python's private affair.
bool same_as(Interpreter&, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "sameas", {"other"}, 1);
  const Value& w = b[0];
  if (v.kind() != w.kind()) return false;
  switch (v.kind()) {
    case Kind::none:
      return true;
    case Kind::boolean:
      return v.boolean() == w.boolean();
    case Kind::undefined:
    case Kind::integer:
    case Kind::real:
    case Kind::string:
      fail(std::string("'is sameas' of two '") + type_name(v) + "' values is not supported; use ==");
    default:
      return v.object() == w.object();
  }
}

template <bool Upper>
bool letter_case(Interpreter& in, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "this test", {});
  return truthy(call_string_method(in, in.rt.string(to_text(in.rt, v)), Upper ? "isupper" : "islower", {}));
}

bool element_of(Interpreter& in, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "in", {"seq"}, 1);
  return contains(in.rt, b[0], v);
}

template <bool Filter>
bool names_known(Interpreter&, const Value& v, const Arguments& arguments) {
  const Bound b(arguments, "this test", {});
  if (!v.is(Kind::string)) return false;
  return Filter ? find_filter(v.bytes()) != nullptr : find_test(v.bytes()) != nullptr;
}

bool is_defined(const Value& v) { return !v.is(Kind::undefined); }
bool is_undefined(const Value& v) { return v.is(Kind::undefined); }
bool is_none(const Value& v) { return v.is(Kind::none); }
bool is_boolean(const Value& v) { return v.is(Kind::boolean); }
bool is_true(const Value& v) { return v.is(Kind::boolean) && v.boolean(); }
bool is_false(const Value& v) { return v.is(Kind::boolean) && !v.boolean(); }
bool is_integer(const Value& v) { return v.is(Kind::integer); }
bool is_real(const Value& v) { return v.is(Kind::real); }
bool is_number(const Value& v) { return v.is_number(); }
bool is_string(const Value& v) { return v.is(Kind::string); }
bool is_mapping(const Value& v) { return v.is(Kind::dict); }
bool is_safe(const Value& v) { return v.safe(); }
// Jinja asks for a length and a subscript, which undefined has too.
bool is_sequence(const Value& v) {
  return v.is(Kind::undefined) || v.is(Kind::string) || v.is(Kind::list) || v.is(Kind::tuple) || v.is(Kind::dict) ||
         v.is(Kind::range);
}
bool is_callable(const Value& v) {
  return v.is(Kind::undefined) || v.is(Kind::macro) || v.is(Kind::function) || v.is(Kind::loop);
}

struct TestEntry {
  std::string_view name;
  TestFunction function;
};

constexpr TestEntry kTests[] = {{"defined", plain<is_defined>},
                                {"undefined", plain<is_undefined>},
                                {"none", plain<is_none>},
                                {"boolean", plain<is_boolean>},
                                {"true", plain<is_true>},
                                {"false", plain<is_false>},
                                {"integer", plain<is_integer>},
                                {"float", plain<is_real>},
                                {"number", plain<is_number>},
                                {"string", plain<is_string>},
                                {"mapping", plain<is_mapping>},
                                {"iterable", plain<is_iterable>},
                                {"sequence", plain<is_sequence>},
                                {"callable", plain<is_callable>},
                                {"escaped", plain<is_safe>},
                                {"odd", parity<1>},
                                {"even", parity<0>},
                                {"divisibleby", divisible_by},
                                {"sameas", same_as},
                                {"lower", letter_case<false>},
                                {"upper", letter_case<true>},
                                {"in", element_of},
                                {"filter", names_known<true>},
                                {"test", names_known<false>},
                                {"==", compared<Op::equal>},
                                {"eq", compared<Op::equal>},
                                {"equalto", compared<Op::equal>},
                                {"!=", compared<Op::not_equal>},
                                {"ne", compared<Op::not_equal>},
                                {"<", compared<Op::less>},
                                {"lt", compared<Op::less>},
                                {"lessthan", compared<Op::less>},
                                {"<=", compared<Op::less_equal>},
                                {"le", compared<Op::less_equal>},
                                {">", compared<Op::greater>},
                                {"gt", compared<Op::greater>},
                                {"greaterthan", compared<Op::greater>},
                                {">=", compared<Op::greater_equal>},
                                {"ge", compared<Op::greater_equal>}};

}  // namespace

TestFunction find_test(std::string_view name) {
  const auto it =
      std::find_if(std::begin(kTests), std::end(kTests), [&](const TestEntry& e) { return e.name == name; });
  return it != std::end(kTests) ? it->function : nullptr;
}

std::string no_such_test(const std::string& name) { return "no test named '" + name + "'"; }

}  // namespace outrider::text::jinja
