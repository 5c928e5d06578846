// Operators, attributes and subscripts, with Python's results and refusals.
#include <algorithm>
#include <cmath>
#include <limits>

#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

const char* sign_of(Op op) {
  switch (op) {
    case Op::add:
      return "+";
    case Op::subtract:
      return "-";
    case Op::multiply:
      return "*";
    case Op::divide:
      return "/";
    case Op::floor_divide:
      return "//";
    case Op::modulo:
      return "%";
    case Op::power:
      return "** or pow()";
    default:
      return "?";
  }
}

[[noreturn]] void unsupported(Op op, const Value& a, const Value& b) {
  fail(std::string("unsupported operand type(s) for ") + sign_of(op) + ": '" + type_name(a) + "' and '" + type_name(b) + "'");
}

[[noreturn]] void overflow() { fail("the result is an integer beyond 128 bits, which is not supported"); }

Int power_of(Int base, Int exponent) {
  Int result = 1;
  while (exponent > 0) {
    if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) overflow();
    exponent >>= 1;
    if (exponent && __builtin_mul_overflow(base, base, &base)) overflow();
  }
  return result;
}

Value on_integers(Op op, Int a, Int b) {
  Int result = 0;
  switch (op) {
    case Op::add:
      if (__builtin_add_overflow(a, b, &result)) overflow();
      return Value::integer(result);
    case Op::subtract:
      if (__builtin_sub_overflow(a, b, &result)) overflow();
      return Value::integer(result);
    case Op::multiply:
      if (__builtin_mul_overflow(a, b, &result)) overflow();
      return Value::integer(result);
    case Op::divide:
      if (b == 0) fail("division by zero");
      return Value::real(static_cast<double>(static_cast<long double>(a) / static_cast<long double>(b)));
    case Op::floor_divide:
    case Op::modulo: {
      if (b == 0) fail("integer division or modulo by zero");
      if (b == -1) return op == Op::modulo ? Value::integer(0) : on_integers(Op::subtract, 0, a);
      // C++ rounds towards zero, Python down.
      Int quotient = a / b, remainder = a % b;
      if (remainder != 0 && (remainder < 0) != (b < 0)) {
        --quotient;
        remainder += b;
      }
      return Value::integer(op == Op::modulo ? remainder : quotient);
    }
    default:
      if (b >= 0) return Value::integer(power_of(a, b));
      if (a == 0) fail("0.0 cannot be raised to a negative power");
      return Value::real(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
}

Value on_reals(Op op, double a, double b) {
  switch (op) {
    case Op::add:
      return Value::real(a + b);
    case Op::subtract:
      return Value::real(a - b);
    case Op::multiply:
      return Value::real(a * b);
    case Op::divide:
      if (b == 0) fail("float division by zero");
      return Value::real(a / b);
    case Op::floor_divide:
    case Op::modulo: {
      if (b == 0) fail(op == Op::modulo ? "float modulo" : "float floor division by zero");
      double remainder = std::fmod(a, b);
      double quotient = (a - remainder) / b;
      if (remainder != 0 && (remainder < 0) != (b < 0)) {
        remainder += b;
        quotient -= 1;
      } else if (remainder == 0) {
        remainder = std::copysign(0.0, b);
      }
      if (op == Op::modulo) return Value::real(remainder);
      if (quotient == 0) return Value::real(std::copysign(0.0, a / b));
      double whole = std::floor(quotient);
      if (quotient - whole > 0.5) whole += 1;
      return Value::real(whole);
    }
    default: {
      if (a == 0 && b < 0) fail("0.0 cannot be raised to a negative power");
      if (a < 0 && std::floor(b) != b) fail("complex numbers are not supported");
      const double result = std::pow(a, b);
      if (std::isinf(result) && !std::isinf(a) && !std::isinf(b)) fail("(34, 'Numerical result out of range')");
      return Value::real(result);
    }
  }
}

Value repeat(Runtime& rt, const Value& sequence, Int times) {
  if (times < 0) times = 0;
  const Int size = sequence.is(Kind::string) ? Int(sequence.bytes().size()) : Int(sequence.list().items.size() * sizeof(Value));
  if (size > 0 && times > Int(std::numeric_limits<std::int32_t>::max())) fail("repeating a value that often exceeds the memory limit");
  if (size == 0) times = 0;
  rt.charge(static_cast<std::uint64_t>(size * times));
  if (sequence.is(Kind::string)) {
    std::string text;
    text.reserve(static_cast<std::size_t>(size * times));
    for (Int i = 0; i < times; ++i) text += sequence.bytes();
    return Value::string(std::move(text), sequence.safe());
  }
  std::vector<Value> items;
  for (Int i = 0; i < times; ++i) items.insert(items.end(), sequence.list().items.begin(), sequence.list().items.end());
  return sequence.is(Kind::list) ? rt.list(std::move(items)) : rt.tuple(std::move(items));
}

Value add_sequences(Runtime& rt, const Value& a, const Value& b) {
  if (a.is(Kind::string) && b.is(Kind::string)) {
    // A string marked safe takes the other in escaped, as Markup does.
    const bool safe = a.safe() || b.safe();
    std::string text = safe && !a.safe() ? escape_html(a.bytes()) : a.bytes();
    text += safe && !b.safe() ? escape_html(b.bytes()) : b.bytes();
    return rt.string(std::move(text), safe);
  }
  if ((a.is(Kind::list) || a.is(Kind::tuple)) && a.kind() == b.kind()) {
    std::vector<Value> items = a.list().items;
    items.insert(items.end(), b.list().items.begin(), b.list().items.end());
    return a.is(Kind::list) ? rt.list(std::move(items)) : rt.tuple(std::move(items));
  }
  if (a.is(Kind::string) || a.is(Kind::list) || a.is(Kind::tuple)) {
    const std::string type = a.safe() ? "str" : type_name(a);
    fail("can only concatenate " + type + " (not \"" + type_name(b) + "\") to " + type);
  }
  unsupported(Op::add, a, b);
}

std::string described(const Value& object) {
  return object.is(Kind::none) ? "None" : std::string(object.safe() ? "Markup" : type_name(object)) + " object";
}

Value no_attribute(const Value& object, const std::string& name) {
  std::string message = "'";
  return Value::undefined(message.append(described(object)).append("' has no attribute '").append(name).append("'"));
}

// An index or slice bound as an Int; false when Python would refuse the type.
bool as_index(const Value& v, Int& out) {
  if (!v.is_integral()) return false;
  out = v.as_integer();
  return true;
}

Value element(Runtime& rt, const Value& object, Int index) {
  switch (object.kind()) {
    case Kind::string: {
      const Text& text = object.text();
      const auto i = static_cast<std::size_t>(index);
      if (text.ascii()) return rt.string(text.bytes.substr(i, 1), object.safe());
      rt.step(1 + i / 64);
      const std::size_t at = byte_offset(text.bytes, i);
      return rt.string(text.bytes.substr(at, code_point_size(text.bytes, at)), object.safe());
    }
    case Kind::range:
      return Value::integer(object.as<Range>().start + index * object.as<Range>().step);
    default:
      return object.list().items[static_cast<std::size_t>(index)];
  }
}

bool indexable(const Value& v) { return v.is(Kind::string) || v.is(Kind::list) || v.is(Kind::tuple) || v.is(Kind::range); }

}  // namespace

Value binary(Runtime& rt, Op op, const Value& a, const Value& b) {
  for (const Value* v : {&a, &b})
    if (v->is(Kind::undefined)) fail(v->undefined_message());
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) return on_integers(op, a.as_integer(), b.as_integer());
    return on_reals(op, a.as_real(), b.as_real());
  }
  if (op == Op::add) return add_sequences(rt, a, b);
  if (op == Op::multiply) {
    const auto repeatable = [](const Value& v) { return v.is(Kind::string) || v.is(Kind::list) || v.is(Kind::tuple); };
    if (repeatable(a) && b.is_integral()) return repeat(rt, a, b.as_integer());
    if (repeatable(b) && a.is_integral()) return repeat(rt, b, a.as_integer());
  }
  unsupported(op, a, b);
}

bool compare(Runtime& rt, Op op, const Value& a, const Value& b) {
  switch (op) {
    case Op::equal:
      return equal(rt, a, b);
    case Op::not_equal:
      return !equal(rt, a, b);
    case Op::in:
      return contains(rt, b, a);
    case Op::not_in:
      return !contains(rt, b, a);
    case Op::less:
      return less(rt, a, b);
    case Op::greater:
      return less(rt, b, a);
    // Not "not greater": neither holds for NaN.
    case Op::less_equal:
      return less(rt, a, b) || equal(rt, a, b);
    case Op::greater_equal:
      return less(rt, b, a) || equal(rt, a, b);
    default:
      return false;
  }
}

Value get_own_attribute(Interpreter& in, const Value& object, const std::string& name, bool& found) {
  if (object.is(Kind::undefined)) fail(object.undefined_message());
  found = true;
  if (object.is(Kind::name_space)) {
    if (const Value* v = object.as<Namespace>().attributes->find(in.rt, Value::string(name))) return *v;
  } else if (object.is(Kind::loop)) {
    const Value v = in.loop_attribute(object.as<Loop>(), name, found);
    if (found) return v;
  } else if (object.is(Kind::macro)) {
    const Stmt& m = *object.as<Macro>().definition;
    if (name == "name") return Value::string(m.text);
    if (name == "caller") return Value::boolean(m.uses_caller);
    if (name == "catch_kwargs") return Value::boolean(m.uses_kwargs);
    if (name == "catch_varargs") return Value::boolean(m.uses_varargs);
    if (name == "arguments" || name == "explicit_caller") fail("the attribute '" + name + "' of a macro is not supported");
  } else if (name.starts_with("__") && name.ends_with("__")) {
    fail("access to attribute '" + name + "' of '" + type_name(object) + "' object is unsafe");
  } else if (has_method(object, name)) {
    Function* f = in.rt.make<Function>();
    f->self = object;
    f->name = name;
    return Value::object(Kind::function, f);
  }
  found = false;
  return {};
}

Value get_attribute(Interpreter& in, const Value& object, const std::string& name) {
  bool found = false;
  Value v = get_own_attribute(in, object, name, found);
  if (found) return v;
  if (object.is(Kind::dict))
    if (const Value* item = object.dict().find(in.rt, Value::string(name))) return *item;
  return no_attribute(object, name);
}

Value get_item(Interpreter& in, const Value& object, const Value& key) {
  if (object.is(Kind::undefined)) fail(object.undefined_message());
  if (object.is(Kind::dict)) {
    // Jinja takes an unhashable key for a missing one.
    if (!key.is(Kind::list) && !key.is(Kind::dict) && !key.is(Kind::view) && !key.is(Kind::tuple)) {
      if (const Value* item = object.dict().find(in.rt, key)) return *item;
    } else if (key.is(Kind::tuple)) {
      try {
        if (const Value* item = object.dict().find(in.rt, key)) return *item;
      } catch (const TemplateError& error) {
        if (!error.message.starts_with("unhashable")) throw;
      }
    }
  }
  Int index = 0;
  if (indexable(object) && as_index(key, index)) {
    const Int length = length_of(object);
    if (index < 0) index += length;
    if (index >= 0 && index < length) return element(in.rt, object, index);
  }
  if (key.is(Kind::string)) {
    bool found = false;
    Value v = get_own_attribute(in, object, key.bytes(), found);
    return found ? v : no_attribute(object, key.bytes());
  }
  return Value::undefined(described(object) + " has no element " + repr(in.rt, key));
}

Value get_slice(Runtime& rt, const Value& object, const Value& start, const Value& stop, const Value& step) {
  if (object.is(Kind::undefined)) fail(object.undefined_message());
  // Unlike a single subscript, which gives undefined, a slice of the wrong thing is an error in Jinja too.
  if (object.is(Kind::dict)) fail("unhashable type: 'slice'");
  if (!indexable(object)) fail(std::string("'") + type_name(object) + "' object is not subscriptable");
  const auto want_index = [](const Value& v, Int& out) {
    if (!as_index(v, out)) fail("slice indices must be integers or None or have an __index__ method");
  };
  const Int length = length_of(object);
  Int by = 1;
  if (!step.is(Kind::none)) want_index(step, by);
  if (by == 0) fail("slice step cannot be zero");
  // Python's rules (slice.indices): a bound below -length or above length is the nearest end of the walk.
  const Int lowest = by < 0 ? -1 : 0, highest = by < 0 ? length - 1 : length;
  const auto bound = [&](const Value& v, Int otherwise) {
    if (v.is(Kind::none)) return otherwise;
    Int i = 0;
    want_index(v, i);
    if (i < 0) i = i < -length ? lowest : std::max(i + length, lowest);
    return std::min(i, highest);
  };
  const Int from = bound(start, by < 0 ? highest : lowest), to = bound(stop, by < 0 ? lowest : highest);

  if (object.is(Kind::range)) {
    const auto& r = object.as<Range>();
    Range* out = rt.make<Range>();
    // Through the checked operators: repeated slices multiply the step without bound.
    const auto at = [&](Int i) { return on_integers(Op::add, r.start, on_integers(Op::multiply, i, r.step).integer()).integer(); };
    out->start = at(from);
    out->stop = at(to);
    out->step = on_integers(Op::multiply, r.step, by).integer();
    if (!in_range_bounds(out->start) || !in_range_bounds(out->stop) || !in_range_bounds(out->step)) overflow();
    return Value::object(Kind::range, out);
  }
  by = std::clamp(by, -length - 1, length + 1);  // a longer step walks no further, and cannot overflow
  if (object.is(Kind::string)) {
    const std::string& bytes = object.bytes();
    const bool ascii = object.text().ascii();
    rt.step(1 + bytes.size() / 64);
    if (by == 1) {
      if (to <= from) return Value::string("", object.safe());
      const auto offset = [&](Int i) { return ascii ? static_cast<std::size_t>(i) : byte_offset(bytes, static_cast<std::size_t>(i)); };
      const std::size_t begin = offset(from);
      return rt.string(bytes.substr(begin, offset(to) - begin), object.safe());
    }
    std::vector<std::size_t> starts;  // of each code point, and the end
    for (std::size_t i = 0; i < bytes.size(); i += code_point_size(bytes, i)) starts.push_back(i);
    starts.push_back(bytes.size());
    rt.charge(starts.size() * sizeof(std::size_t));
    std::string out;
    for (Int i = from; by > 0 ? i < to : i > to; i += by) {
      const auto at = static_cast<std::size_t>(i);
      out.append(bytes, starts[at], starts[at + 1] - starts[at]);
    }
    return rt.string(std::move(out), object.safe());
  }
  std::vector<Value> items;
  for (Int i = from; by > 0 ? i < to : i > to; i += by) items.push_back(object.list().items[static_cast<std::size_t>(i)]);
  return object.is(Kind::list) ? rt.list(std::move(items)) : rt.tuple(std::move(items));
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&#34;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace outrider::text::jinja
