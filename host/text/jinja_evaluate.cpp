// The interpreter's half that evaluates expressions and calls.
#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"

namespace outrider::text::jinja {

using EK = Expr::Kind;

// Macros and recursive loops within one another.
struct CallDepth {
  explicit CallDepth(Interpreter& i) : in(i) {
    if (++in.calls_ > in.rt.limits.calls)
      fail("macros call one another deeper than " + std::to_string(in.rt.limits.calls) + " levels");
  }
  ~CallDepth() { --in.calls_; }
  CallDepth(const CallDepth&) = delete;
  CallDepth& operator=(const CallDepth&) = delete;
  Interpreter& in;
};

Value Interpreter::evaluate(const Expr& e, Scope& scope) {
  check_stack();
  at_ = e.at;
  switch (e.kind) {
    case EK::constant:
      return e.value;
    case EK::name:
      return evaluate_name(e, scope);
    case EK::list:
    case EK::tuple: {
      std::vector<Value> items;
      for (const Expr* child : e.children) items.push_back(evaluate(*child, scope));
      return e.kind == EK::list ? rt.list(std::move(items)) : rt.tuple(std::move(items));
    }
    case EK::dict:
      return evaluate_dict(e, scope);
    case EK::attribute: {
      const Value object = evaluate(*e.children[0], scope);
      at_ = e.at;
      return get_attribute(*this, object, e.text);
    }
    case EK::subscript:
      return evaluate_subscript(e, scope);
    case EK::slice:
      fail("a slice is not supported here");
    case EK::call: {
      const Value callee = evaluate(*e.children[0], scope);
      const Arguments arguments = evaluate_arguments(e, scope);
      at_ = e.at;
      return call(callee, arguments);
    }
    case EK::filter:
      return evaluate_filter(e, scope, evaluate(*e.children[0], scope));
    case EK::test: {
      const Value subject = evaluate(*e.children[0], scope);
      const Arguments arguments = evaluate_arguments(e, scope);
      at_ = e.at;
      if (!e.test) fail(no_such_test(e.text));
      return Value::boolean(e.test(*this, subject, arguments));
    }
    case EK::negate:
    case EK::plus: {
      const Value v = evaluate(*e.children[0], scope);
      at_ = e.at;
      if (v.is(Kind::undefined)) fail(v.undefined_message());
      if (!v.is_number())
        fail(std::string("bad operand type for unary ") + (e.kind == EK::negate ? "-" : "+") + ": '" + type_name(v) +
             "'");
      if (v.is(Kind::real)) return Value::real(e.kind == EK::negate ? -v.real() : v.real());
      return e.kind == EK::negate ? binary(rt, Op::subtract, Value::integer(0), v) : Value::integer(v.as_integer());
    }
    case EK::logical_not:
      return Value::boolean(!truthy(evaluate(*e.children[0], scope)));
    case EK::logical_and:
    case EK::logical_or: {
      Value left = evaluate(*e.children[0], scope);
      return truthy(left) == (e.kind == EK::logical_and) ? evaluate(*e.children[1], scope) : left;
    }
    case EK::conditional: {
      const bool yes = truthy(evaluate(*e.children[0], scope));
      if (yes) return evaluate(*e.children[1], scope);
      if (e.children[2]) return evaluate(*e.children[2], scope);
      return Value::undefined("the inline if-expression evaluated to false and no else section was defined");
    }
    case EK::concatenate:
      return evaluate_concatenation(e, scope);
    case EK::binary: {
      const Value a = evaluate(*e.children[0], scope);
      const Value b = evaluate(*e.children[1], scope);
      at_ = e.at;
      if (e.op == Op::modulo && a.is(Kind::string)) return format_printf(*this, a, b);
      return binary(rt, e.op, a, b);
    }
    case EK::compare:
      return evaluate_compare(e, scope);
    case EK::namespace_item:
      break;  // a target, never evaluated
  }
  return {};
}

Value Interpreter::evaluate_name(const Expr& e, Scope& scope) {
  if (const Value* v = scope.find(e.symbol)) return *v;
  const auto symbol = static_cast<std::size_t>(e.symbol);
  if (has_global_[symbol]) return globals_[symbol];
  const std::string& name = template_.symbols[symbol];
  if (is_function(name)) {
    Function* f = rt.make<Function>();
    f->name = name;
    return Value::object(Kind::function, f);
  }
  if (is_unsupported_function(name)) fail("the function '" + name + "' is not supported in a chat template");
  return Value::undefined("'" + name + "' is undefined");
}

Value Interpreter::evaluate_dict(const Expr& e, Scope& scope) {
  const Value out = rt.dict();
  for (std::size_t i = 0; i < e.children.size(); i += 2) {
    const Value key = evaluate(*e.children[i], scope);
    const Value value = evaluate(*e.children[i + 1], scope);
    at_ = e.at;
    out.dict().set(rt, key, value);
  }
  return out;
}

Value Interpreter::evaluate_subscript(const Expr& e, Scope& scope) {
  const Value object = evaluate(*e.children[0], scope);
  const Expr& index = *e.children[1];
  if (index.kind != EK::slice) {
    const Value key = evaluate(index, scope);
    at_ = e.at;
    return get_item(*this, object, key);
  }
  Value parts[3] = {Value::none(), Value::none(), Value::none()};
  for (std::size_t i = 0; i < 3; ++i)
    if (index.children[i]) parts[i] = evaluate(*index.children[i], scope);
  at_ = e.at;
  return get_slice(rt, object, parts[0], parts[1], parts[2]);
}

Value Interpreter::evaluate_compare(const Expr& e, Scope& scope) {
  Value left = evaluate(*e.children[0], scope);
  for (std::size_t i = 0; i < e.ops.size(); ++i) {
    Value right = evaluate(*e.children[i + 1], scope);
    at_ = e.at;
    if (!compare(rt, e.ops[i], left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_concatenation(const Expr& e, Scope& scope) {
  std::string text;
  for (const Expr* child : e.children) {
    const Value v = evaluate(*child, scope);
    at_ = child->at;
    v.is(Kind::string) ? text += v.bytes() : text += to_text(rt, v);
  }
  return rt.string(std::move(text));
}

Value Interpreter::evaluate_filter(const Expr& e, Scope& scope, const Value& subject) {
  const Arguments arguments = evaluate_arguments(e, scope);
  at_ = e.at;
  if (!e.filter) fail(no_such_filter(e.text));
  return e.filter(*this, subject, arguments);
}

Value Interpreter::apply_filters(const Expr* chain, Scope& scope, const Value& subject) {
  check_stack();
  if (!chain) return subject;
  return evaluate_filter(*chain, scope, apply_filters(chain->children[0], scope, subject));
}

Arguments Interpreter::evaluate_arguments(const Expr& e, Scope& scope) {
  Arguments out;
  for (std::size_t i = 1; i < e.children.size(); ++i) out.positional.push_back(evaluate(*e.children[i], scope));
  for (const auto& [name, value] : e.named) out.named.emplace_back(name, evaluate(*value, scope));
  if (e.star)
    for (Value& v : to_vector(rt, evaluate(*e.star, scope))) out.positional.push_back(std::move(v));
  if (e.double_star) {
    const Value more = evaluate(*e.double_star, scope);
    if (!more.is(Kind::dict)) fail(std::string("argument after ** must be a mapping, not ") + type_name(more));
    for (const auto& [key, value] : more.dict().items) {
      if (!key.is(Kind::string)) fail("keywords must be strings");
      for (const auto& [name, other] : out.named)
        if (name == key.bytes()) fail("got multiple values for keyword argument '" + name + "'");
      out.named.emplace_back(key.bytes(), value);
    }
  }
  return out;
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  switch (callee.kind()) {
    case Kind::macro:
      return call_macro(callee.as<Macro>(), arguments);
    case Kind::loop:
      return call_loop(callee.as<Loop>(), arguments);
    case Kind::function: {
      const auto& f = callee.as<Function>();
      if (f.self.is(Kind::loop)) return loop_cycle(f.self.as<Loop>(), arguments, f.name == "changed");
      return f.self.is(Kind::undefined) ? call_function(*this, f.name, arguments)
                                        : call_method(*this, f.self, f.name, arguments);
    }
    case Kind::undefined:
      fail(callee.undefined_message());
    default:
      fail(std::string("'") + type_name(callee) + "' object is not callable");
  }
}

Value Interpreter::call_macro(const Macro& macro, const Arguments& arguments) {
  const CallDepth depth(*this);
  const Position called_at = at_;
  const Stmt& m = *macro.definition;
  const auto& symbols = m.parameters.symbols;
  Scope* scope = make_scope(*macro.closure);
  std::vector<bool> used(arguments.named.size());
  const std::size_t first_default = symbols.size() - m.parameters.defaults.size();

  for (std::size_t i = 0; i < symbols.size(); ++i) {
    const std::string& name = template_.name(symbols[i]);
    if (i < arguments.positional.size()) {
      scope->set(symbols[i], arguments.positional[i]);
      continue;
    }
    bool given = false;
    for (std::size_t k = 0; k < arguments.named.size(); ++k) {
      if (arguments.named[k].first != name) continue;
      scope->set(symbols[i], arguments.named[k].second);
      used[k] = given = true;
    }
    if (given) continue;
    if (i >= first_default)
      scope->set(symbols[i], evaluate(*m.parameters.defaults[i - first_default], *scope));
    else
      scope->set(symbols[i], Value::undefined("parameter '" + name + "' was not provided"));
  }

  const Value rest = rt.dict();
  bool has_caller = false;
  for (const int symbol : symbols) has_caller = has_caller || symbol == template_.caller_symbol;
  for (std::size_t k = 0; k < arguments.named.size(); ++k) {
    const auto& [name, value] = arguments.named[k];
    if (used[k]) continue;
    if (name == "caller" && m.uses_caller && !has_caller) {
      scope->set(template_.caller_symbol, value);
      has_caller = true;
    } else if (m.uses_kwargs) {
      rest.dict().set(rt, rt.string(name), value);
    } else {
      at_ = called_at;
      fail("macro '" + m.text + "' takes no keyword argument '" + name + "'");
    }
  }
  if (m.uses_caller && !has_caller) scope->set(template_.caller_symbol, Value::undefined("no caller defined"));
  if (m.uses_kwargs) scope->set(template_.kwargs_symbol, rest);
  std::vector<Value> extra;
  for (std::size_t i = symbols.size(); i < arguments.positional.size(); ++i) extra.push_back(arguments.positional[i]);
  if (m.uses_varargs) {
    scope->set(template_.varargs_symbol, rt.tuple(std::move(extra)));
  } else if (!extra.empty()) {
    at_ = called_at;
    fail("macro '" + m.text + "' takes not more than " + std::to_string(symbols.size()) + " argument(s)");
  }
  Value text = rt.string(captured(m.body, *scope));
  at_ = called_at;
  return text;
}

// loop(children) in a recursive loop: the loop's text for other elements.
Value Interpreter::call_loop(Loop& loop, const Arguments& arguments) {
  const CallDepth depth(*this);
  if (!loop.definition->recursive) fail("the loop must have the 'recursive' marker to be called recursively");
  const Bound bound(arguments, "loop", {"iterable"}, 1);
  std::string text;
  std::string* outer = std::exchange(out_, &text);
  try {
    run_loop(*loop.definition, *loop.outer, bound[0], loop.depth0 + 1);
  } catch (...) {
    out_ = outer;
    throw;
  }
  out_ = outer;
  return rt.string(std::move(text));
}

Value Interpreter::loop_cycle(Loop& loop, const Arguments& arguments, bool changed) {
  if (!arguments.named.empty()) fail("loop.cycle and loop.changed take no keyword arguments");
  if (!changed) {
    if (arguments.positional.empty()) fail("no items for cycling given");
    return arguments.positional[static_cast<std::size_t>(loop.index0 % Int(arguments.positional.size()))];
  }
  const Value now = rt.tuple(arguments.positional);
  if (loop.has_changed && equal(rt, loop.last_changed, now)) return Value::boolean(false);
  loop.last_changed = now;
  loop.has_changed = true;
  return Value::boolean(true);
}

}  // namespace outrider::text::jinja
