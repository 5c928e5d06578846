#include "text/jinja_interpreter.hpp"

#include <algorithm>

#include "text/jinja_builtins.hpp"

namespace outrider::text::jinja {

const Value* Scope::find(int symbol) const {
  for (const Scope* scope = this; scope; scope = scope->outer)
    for (const auto& [name, value] : scope->variables)
      if (name == symbol) return &value;
  return nullptr;
}

void Scope::set(int symbol, Value value) {
  for (auto& [name, old] : variables)
    if (name == symbol) {
      old = std::move(value);
      return;
    }
  variables.emplace_back(symbol, std::move(value));
}

std::string Interpreter::render(const nlohmann::ordered_json& input) {
  stack_base_ = static_cast<const char*>(__builtin_frame_address(0));
  std::string out;
  out_ = &out;
  try {
    if (!input.is_object())
      fail(std::string("expected the template's variables as a JSON object, found ") + input.type_name());
    // Only what the template mentions is converted.
    globals_.resize(template_.symbols.size());
    has_global_.resize(template_.symbols.size());
    for (std::size_t symbol = 0; symbol < template_.symbols.size(); ++symbol) {
      const auto member = input.find(template_.symbols[symbol]);
      if (member == input.end()) continue;
      try {
        globals_[symbol] = from_json(rt, *member);
      } catch (TemplateError& error) {
        error.message = "the variable '" + template_.symbols[symbol] + "': " + error.message;
        throw;
      }
      has_global_[symbol] = true;
    }
    Scope* top = rt.make<Scope>();
    run(template_.body, *top);
  } catch (TemplateError& error) {
    if (error.at.line == 0) error.at = at_;
    throw;
  }
  return out;
}

void Interpreter::check_stack() {
  rt.step();
  const auto used = stack_base_ - static_cast<const char*>(__builtin_frame_address(0));
  if (static_cast<std::size_t>(used < 0 ? -used : used) > rt.limits.stack)
    fail("the template's expressions and calls are nested too deep; it was stopped");
}

Scope* Interpreter::make_scope(Scope& outer) {
  Scope* scope = rt.make<Scope>();
  scope->outer = &outer;
  return scope;
}

Scope* Interpreter::capture(Scope& scope) {
  for (Scope* s = &scope; s && !s->captured; s = s->outer) s->captured = true;
  return &scope;
}

void Interpreter::write(const std::string& text) {
  if (out_->size() + text.size() > rt.limits.output)
    fail("the rendered text exceeds " + std::to_string(rt.limits.output) + " bytes; it was stopped");
  *out_ += text;
}

// What `body` writes, as a string instead of output.
std::string Interpreter::captured(const Body& body, Scope& scope) {
  std::string text;
  std::string* outer = std::exchange(out_, &text);
  try {
    run(body, scope);
  } catch (...) {
    out_ = outer;
    throw;
  }
  out_ = outer;
  rt.charge(text.size());
  return text;
}

Interpreter::Flow Interpreter::run(const Body& body, Scope& scope) {
  for (const Stmt* s : body)
    if (const Flow flow = run(*s, scope); flow != Flow::normal) return flow;
  return Flow::normal;
}

Interpreter::Flow Interpreter::run(const Stmt& s, Scope& scope) {
  check_stack();
  at_ = s.at;
  switch (s.kind) {
    case Stmt::Kind::text:
      write(s.text);
      break;
    case Stmt::Kind::output: {
      const Value v = evaluate(*s.expr, scope);
      at_ = s.expr->at;
      v.is(Kind::string) ? write(v.bytes()) : write(to_text(rt, v));
      break;
    }
    case Stmt::Kind::condition:
      return run_condition(s, scope);
    case Stmt::Kind::loop:
      run_loop(s, scope, evaluate(*s.expr, scope), 0);
      break;
    case Stmt::Kind::set:
      assign(*s.target, evaluate(*s.expr, scope), scope);
      break;
    case Stmt::Kind::set_block: {
      const Value text = rt.string(captured(s.body, *make_scope(scope)));
      assign(*s.target, apply_filters(s.filter, scope, text), scope);
      break;
    }
    case Stmt::Kind::macro: {
      Macro* macro = rt.make<Macro>();
      macro->definition = &s;
      macro->closure = capture(scope);
      scope.set(s.symbol, Value::object(Kind::macro, macro));
      break;
    }
    case Stmt::Kind::call_block:
      run_call_block(s, scope);
      break;
    case Stmt::Kind::filter_block:
      write(to_text(rt, apply_filters(s.filter, scope, rt.string(captured(s.body, *make_scope(scope))))));
      break;
    case Stmt::Kind::with:
      run_with(s, scope);
      break;
    case Stmt::Kind::scope:
      run(s.body, *make_scope(scope));
      break;
    case Stmt::Kind::break_:
      return Flow::broke;
    case Stmt::Kind::continue_:
      return Flow::continued;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::run_condition(const Stmt& s, Scope& scope) {
  for (const auto& [condition, body] : s.branches)
    if (!condition || truthy(evaluate(*condition, scope))) return run(body, scope);
  return Flow::normal;
}

void Interpreter::run_call_block(const Stmt& s, Scope& scope) {
  Macro* caller = rt.make<Macro>();
  caller->definition = &s;
  caller->closure = capture(*make_scope(scope));
  const Value callee = evaluate(*s.expr->children[0], scope);
  Arguments arguments = evaluate_arguments(*s.expr, scope);
  arguments.named.emplace_back("caller", Value::object(Kind::macro, caller));
  at_ = s.expr->at;
  write(to_text(rt, call(callee, arguments)));
}

void Interpreter::run_with(const Stmt& s, Scope& scope) {
  Scope* inner = make_scope(scope);
  for (const auto& [target, value] : s.pairs) assign(*target, evaluate(*value, scope), *inner);
  run(s.body, *inner);
}

void Interpreter::run_loop(const Stmt& s, Scope& outer, const Value& iterable, Int depth0) {
  at_ = s.expr->at;
  Loop* loop = rt.make<Loop>();
  loop->definition = &s;
  loop->outer = &outer;
  loop->source = iterate(rt, iterable);
  loop->depth0 = depth0;
  loop->sized = !s.filter && !iterable.is(Kind::iterator);
  if (s.recursive) capture(outer);
  Scope* inner = nullptr;
  bool any = false;
  for (Value item; advance(*loop, item);) {
    any = true;
    // One scope serves every iteration unless a macro made in an earlier one may still read it.
    if (!inner || inner->captured)
      inner = make_scope(outer);
    else
      inner->variables.clear();
    assign(*s.target, item, *inner);
    inner->set(template_.loop_symbol, Value::object(Kind::loop, loop));
    if (run(s.body, *inner) == Flow::broke) return;
  }
  if (!any && !s.otherwise.empty()) run(s.otherwise, *make_scope(outer));
}

bool Interpreter::pull(Loop& loop, Value& out) {
  const Stmt& s = *loop.definition;
  while (loop.source->next(rt, out)) {
    if (!s.filter) return true;
    Scope* scope = make_scope(*loop.outer);
    assign(*s.target, out, *scope);
    if (truthy(evaluate(*s.filter, *scope))) return true;
  }
  return false;
}

bool Interpreter::advance(Loop& loop, Value& out) {
  if (!loop.ahead.empty()) {
    out = loop.ahead.back();
    loop.ahead.pop_back();
  } else if (!pull(loop, out)) {
    return false;
  }
  ++loop.index0;
  loop.before = std::move(loop.current);
  loop.current = out;
  return true;
}

Value Interpreter::loop_attribute(Loop& loop, const std::string& name, bool& found) {
  found = true;
  const auto length = [&]() -> Int {
    if (loop.length >= 0) return loop.length;
    if (loop.sized) return loop.length = length_of(loop.source->over);
    std::vector<Value> rest;
    for (Value v; pull(loop, v);) {
      rt.charge(sizeof(Value));
      rest.push_back(v);
    }
    std::reverse(rest.begin(), rest.end());
    rest.insert(rest.end(), loop.ahead.begin(), loop.ahead.end());
    loop.ahead = std::move(rest);
    return loop.length = Int(loop.ahead.size()) + loop.index0 + 1;
  };
  const auto peek = [&] {
    if (!loop.ahead.empty()) return true;
    Value next;
    if (!pull(loop, next)) return false;
    loop.ahead.push_back(std::move(next));
    return true;
  };
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(!peek());
  if (name == "length") return Value::integer(length());
  if (name == "revindex") return Value::integer(length() - loop.index0);
  if (name == "revindex0") return Value::integer(length() - loop.index0 - 1);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "previtem") return loop.index0 == 0 ? Value::undefined("there is no previous item") : loop.before;
  if (name == "nextitem") return peek() ? loop.ahead.back() : Value::undefined("there is no next item");
  if (name == "cycle" || name == "changed") {
    Function* f = rt.make<Function>();
    f->self = Value::object(Kind::loop, &loop);
    f->name = name;
    return Value::object(Kind::function, f);
  }
  found = false;
  return {};
}

void Interpreter::assign(const Expr& target, const Value& value, Scope& scope) {
  at_ = target.at;
  if (target.kind == Expr::Kind::name) return scope.set(target.symbol, value);
  if (target.kind == Expr::Kind::namespace_item) {
    const Value object = evaluate_name(target, scope);
    if (!object.is(Kind::name_space))
      fail("cannot assign attribute on non-namespace object '" + template_.name(target.symbol) + "'");
    return object.as<Namespace>().attributes->set(rt, rt.string(target.text), value);
  }
  if (!is_iterable(value)) fail(std::string("cannot unpack non-iterable ") + type_name(value) + " object");
  const std::vector<Value> items = to_vector(rt, value);
  const std::size_t wanted = target.children.size();
  if (items.size() != wanted)
    fail(items.size() < wanted ? "not enough values to unpack (expected " + std::to_string(wanted) + ", got " +
                                     std::to_string(items.size()) + ")"
                               : "too many values to unpack (expected " + std::to_string(wanted) + ")");
  for (std::size_t i = 0; i < wanted; ++i) assign(*target.children[i], items[i], scope);
}

}  // namespace outrider::text::jinja
