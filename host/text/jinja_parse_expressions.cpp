#include "text/jinja_builtins.hpp"
#include "text/jinja_parser.hpp"

namespace outrider::text::jinja {

namespace {

using EK = Expr::Kind;

bool comparison_op(const Token& token, Op& op) {
  if (token.kind != Token::Kind::op) return false;
  if (token.text == "==")
    op = Op::equal;
  else if (token.text == "!=")
    op = Op::not_equal;
  else if (token.text == "<")
    op = Op::less;
  else if (token.text == "<=")
    op = Op::less_equal;
  else if (token.text == ">")
    op = Op::greater;
  else if (token.text == ">=")
    op = Op::greater_equal;
  else
    return false;
  return true;
}

}  // namespace

bool Parser::tuple_ends() const {
  return now().kind == Token::Kind::variable_end || now().kind == Token::Kind::block_end || now().is_op(")");
}

const Expr* Parser::tuple_or_expression(bool with_conditional, bool parenthesised) {
  const Position at = now().at;
  std::vector<const Expr*> items;
  bool tuple = false;
  while (true) {
    if (!items.empty()) expect_op(",");
    if (tuple_ends()) break;
    items.push_back(expression(with_conditional));
    if (!now().is_op(",")) break;
    tuple = true;
  }
  if (!tuple) {
    if (!items.empty()) return items[0];
    if (!parenthesised) fail_at(now().at, "expected an expression, got " + describe(now()));
  }
  return make(EK::tuple, at, std::move(items));
}

const Expr* Parser::expression(bool with_conditional) {
  const Nesting nesting(*this, now().at);
  return with_conditional ? conditional() : logical_or();
}

const Expr* Parser::conditional() {
  const Position at = now().at;
  const std::size_t unknown_before = unknown_.size();
  const Expr* then = logical_or();
  while (skip_name("if")) {
    const Expr* condition = logical_or();
    const Expr* otherwise = nullptr;
    if (skip_name("else")) {
      const Nesting nesting(*this, now().at);
      otherwise = conditional();
    }
    then = make(EK::conditional, at, {condition, then, otherwise});
    unknown_.resize(unknown_before);  // any part may be skipped at run time, the first one too
  }
  return then;
}

const Expr* Parser::logical_or() {
  const Expr* left = logical_and();
  while (now().is_name("or")) {
    const Position at = take().at;
    left = make(EK::logical_or, at, {left, logical_and()});
  }
  return left;
}

const Expr* Parser::logical_and() {
  const Expr* left = logical_not();
  while (now().is_name("and")) {
    const Position at = take().at;
    left = make(EK::logical_and, at, {left, logical_not()});
  }
  return left;
}

const Expr* Parser::logical_not() {
  if (!now().is_name("not")) return comparison();
  const Position at = take().at;
  const Nesting nesting(*this, at);
  return make(EK::logical_not, at, {logical_not()});
}

const Expr* Parser::comparison() {
  const Expr* first = sum();
  Expr* chain = nullptr;
  while (true) {
    Op op = Op::equal;
    const Position at = now().at;
    if (comparison_op(now(), op)) {
      take();
    } else if (skip_name("in")) {
      op = Op::in;
    } else if (now().is_name("not") && after().is_name("in")) {
      take();
      take();
      op = Op::not_in;
    } else {
      break;
    }
    if (!chain) chain = make(EK::compare, at, {first});
    chain->ops.push_back(op);
    chain->children.push_back(sum());
  }
  return chain ? chain : first;
}

const Expr* Parser::sum() {
  const Expr* left = concatenation();
  while (now().is_op("+") || now().is_op("-")) {
    const Token op = take();
    Expr* e = make(EK::binary, op.at, {left, concatenation()});
    e->op = op.text == "+" ? Op::add : Op::subtract;
    left = e;
  }
  return left;
}

const Expr* Parser::concatenation() {
  const Expr* first = product();
  if (!now().is_op("~")) return first;
  Expr* e = make(EK::concatenate, now().at, {first});
  while (skip_op("~")) e->children.push_back(product());
  return e;
}

const Expr* Parser::product() {
  const Expr* left = power();
  while (now().is_op("*") || now().is_op("/") || now().is_op("//") || now().is_op("%")) {
    const Token op = take();
    Expr* e = make(EK::binary, op.at, {left, power()});
    e->op = op.text == "*" ? Op::multiply : op.text == "/" ? Op::divide : op.text == "//" ? Op::floor_divide : Op::modulo;
    left = e;
  }
  return left;
}

const Expr* Parser::power() {
  const Expr* left = unary();
  while (now().is_op("**")) {
    const Position at = take().at;
    Expr* e = make(EK::binary, at, {left, unary()});
    e->op = Op::power;
    left = e;
  }
  return left;
}

const Expr* Parser::unary(bool with_filters) {
  const Expr* e = nullptr;
  if (now().is_op("-") || now().is_op("+")) {
    const Token op = take();
    const Nesting nesting(*this, op.at);
    e = make(op.text == "-" ? EK::negate : EK::plus, op.at, {unary(false)});
  } else {
    e = primary();
  }
  e = postfix(e);
  return with_filters ? filters_and_tests(e) : e;
}

const Expr* Parser::name_expr(const Token& token) {
  Expr* e = make(EK::name, token.at);
  e->symbol = symbol(token.text);
  for (MacroUse& macro : macros_) {
    macro.caller = macro.caller || token.text == "caller";
    macro.kwargs = macro.kwargs || token.text == "kwargs";
    macro.varargs = macro.varargs || token.text == "varargs";
  }
  return e;
}

const Expr* Parser::primary() {
  const Token token = now();
  const auto constant = [&](Value value) {
    Expr* e = make(EK::constant, token.at);
    e->value = std::move(value);
    return e;
  };
  switch (token.kind) {
    case Token::Kind::name:
      take();
      if (token.text == "true" || token.text == "True") return constant(Value::boolean(true));
      if (token.text == "false" || token.text == "False") return constant(Value::boolean(false));
      if (token.text == "none" || token.text == "None") return constant(Value::none());
      return name_expr(token);
    case Token::Kind::string: {
      std::string text;
      while (now().kind == Token::Kind::string) text += take().text;  // adjacent strings are one
      return constant(Value::string(std::move(text)));
    }
    case Token::Kind::integer:
      take();
      return constant(Value::integer(token.integer));
    case Token::Kind::real:
      take();
      return constant(Value::real(token.real));
    default:
      break;
  }
  if (skip_op("(")) {
    const Nesting nesting(*this, token.at);
    const Expr* e = tuple_or_expression(true, true);
    expect_op(")");
    return e;
  }
  if (skip_op("[")) {
    Expr* e = make(EK::list, token.at);
    while (!now().is_op("]")) {
      if (!e->children.empty()) expect_op(",");
      if (now().is_op("]")) break;
      e->children.push_back(expression());
    }
    expect_op("]");
    return e;
  }
  if (skip_op("{")) {
    Expr* e = make(EK::dict, token.at);
    while (!now().is_op("}")) {
      if (!e->children.empty()) expect_op(",");
      if (now().is_op("}")) break;
      e->children.push_back(expression());
      expect_op(":");
      e->children.push_back(expression());
    }
    expect_op("}");
    return e;
  }
  fail_at(token.at, "expected an expression, got " + describe(token));
}

const Expr* Parser::postfix(const Expr* e) {
  while (true) {
    if (now().is_op(".") || now().is_op("[")) {
      e = subscript(e);
    } else if (now().is_op("(")) {
      Expr* call = make(EK::call, now().at, {e});
      call_arguments(*call);
      e = call;
    } else {
      return e;
    }
  }
}

const Expr* Parser::filters_and_tests(const Expr* e) {
  while (true) {
    if (now().is_op("|")) {
      e = filter_chain(e);
    } else if (now().is_name("is")) {
      e = test(e);
    } else if (now().is_op("(")) {
      Expr* call = make(EK::call, now().at, {e});
      call_arguments(*call);
      e = call;
    } else {
      return e;
    }
  }
}

const Expr* Parser::subscript(const Expr* e) {
  const Token open = take();
  if (open.text == ".") {
    const Token name = take();
    if (name.kind == Token::Kind::name) {
      Expr* attribute = make(EK::attribute, name.at, {e});
      attribute->text = name.text;
      return attribute;
    }
    if (name.kind != Token::Kind::integer) fail_at(name.at, "expected a name or a number after '.', got " + describe(name));
    Expr* index = make(EK::constant, name.at);
    index->value = Value::integer(name.integer);
    return make(EK::subscript, name.at, {e, index});
  }
  std::vector<const Expr*> items;
  while (!now().is_op("]")) {
    if (!items.empty()) expect_op(",");
    items.push_back(subscript_item());
  }
  expect_op("]");
  if (items.size() == 1) return make(EK::subscript, open.at, {e, items[0]});
  for (const Expr* item : items)
    if (item->kind == EK::slice) fail_at(item->at, "a slice within a tuple subscript is not supported");
  return make(EK::subscript, open.at, {e, make(EK::tuple, open.at, std::move(items))});
}

const Expr* Parser::subscript_item() {
  const Position at = now().at;
  std::vector<const Expr*> parts(3, nullptr);
  if (!now().is_op(":")) {
    const Expr* e = expression();
    if (!now().is_op(":")) return e;
    parts[0] = e;
  }
  take();
  const auto part_here = [&] { return !now().is_op(":") && !now().is_op("]") && !now().is_op(","); };
  if (part_here()) parts[1] = expression();
  if (skip_op(":") && part_here()) parts[2] = expression();
  return make(EK::slice, at, std::move(parts));
}

void Parser::call_arguments(Expr& call) {
  const Position at = now().at;
  expect_op("(");
  bool first = true;
  while (!now().is_op(")")) {
    if (!first) {
      expect_op(",");
      if (now().is_op(")")) break;
    }
    first = false;
    if (skip_op("*")) {
      if (call.star || call.double_star) fail_at(at, "invalid syntax for a call's arguments");
      call.star = expression();
    } else if (skip_op("**")) {
      if (call.double_star) fail_at(at, "invalid syntax for a call's arguments");
      call.double_star = expression();
    } else if (now().kind == Token::Kind::name && after().is_op("=")) {
      if (call.double_star) fail_at(at, "invalid syntax for a call's arguments");
      const Token name = take();
      take();
      for (const auto& [other, value] : call.named)
        if (other == name.text) fail_at(name.at, "keyword argument repeated: " + name.text);
      call.named.emplace_back(name.text, expression());
    } else {
      if (call.star || call.double_star || !call.named.empty()) fail_at(now().at, "a positional argument follows a keyword argument");
      call.children.push_back(expression());
    }
  }
  expect_op(")");
}

const Expr* Parser::filter(const Expr* subject) {
  const Token name = expect(Token::Kind::name, "a filter's name");
  Expr* e = make(EK::filter, name.at, {subject});
  e->text = name.text;
  while (skip_op(".")) e->text += "." + expect(Token::Kind::name, "a filter's name").text;
  e->filter = find_filter(e->text);
  if (!e->filter && conditions_ == 0) unknown_.push_back({no_such_filter(e->text), name.at});
  if (now().is_op("(")) call_arguments(*e);
  return e;
}

const Expr* Parser::filter_chain(const Expr* e) {
  while (skip_op("|")) e = filter(e);
  return e;
}

const Expr* Parser::test(const Expr* subject) {
  const Position at = take().at;
  const bool negated = skip_name("not");
  const Token name = expect(Token::Kind::name, "a test's name");
  Expr* e = make(EK::test, name.at, {subject});
  e->text = name.text;
  while (skip_op(".")) e->text += "." + expect(Token::Kind::name, "a test's name").text;
  e->test = find_test(e->text);
  if (!e->test && conditions_ == 0) unknown_.push_back({no_such_test(e->text), name.at});
  const Token& next = now();
  const bool begins_value = next.kind == Token::Kind::string || next.kind == Token::Kind::integer || next.kind == Token::Kind::real ||
                            next.is_op("[") || next.is_op("{") ||
                            (next.kind == Token::Kind::name && !next.is_name("else") && !next.is_name("or") && !next.is_name("and"));
  if (next.is_op("(")) {
    call_arguments(*e);
  } else if (begins_value) {
    if (next.is_name("is")) fail_at(next.at, "tests cannot be chained with 'is'");
    e->children.push_back(postfix(primary()));
  }
  return negated ? make(EK::logical_not, at, {e}) : e;
}

}  // namespace outrider::text::jinja
