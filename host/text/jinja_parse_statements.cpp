#include <algorithm>

#include "text/jinja_parser.hpp"

namespace outrider::text::jinja {

namespace {

std::string listed(std::initializer_list<std::string_view> names) {
  std::string out;
  for (const std::string_view name : names) out += (out.empty() ? "'" : " or '") + std::string(name) + "'";
  return out;
}

// What Jinja knows and chat templates have no use for.
constexpr std::string_view kUnsupported[] = {"extends",    "include", "import", "from",  "block",
                                             "autoescape", "do",      "trans",  "debug", "print"};

}  // namespace

bool Parser::skip_op(std::string_view op) {
  if (!now().is_op(op)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!now().is_name(name)) return false;
  take();
  return true;
}

void Parser::expect_op(std::string_view op) {
  if (!skip_op(op)) fail_at(now().at, "expected '" + std::string(op) + "', got " + describe(now()));
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) fail_at(now().at, "expected '" + std::string(name) + "', got " + describe(now()));
}

const Token& Parser::expect(Token::Kind kind, const char* what) {
  if (now().kind != kind) fail_at(now().at, std::string("expected ") + what + ", got " + describe(now()));
  return take();
}

Expr* Parser::make(Expr::Kind kind, Position at, std::vector<const Expr*> children) {
  auto& e = out_.exprs.emplace_back(std::make_unique<Expr>());
  e->kind = kind;
  e->at = at;
  e->children = std::move(children);
  return e.get();
}

Stmt* Parser::make(Stmt::Kind kind, Position at) {
  auto& s = out_.stmts.emplace_back(std::make_unique<Stmt>());
  s->kind = kind;
  s->at = at;
  return s.get();
}

int Parser::symbol(const std::string& name) {
  const auto [it, added] = symbols_.emplace(name, static_cast<int>(out_.symbols.size()));
  if (added) out_.symbols.push_back(name);
  return it->second;
}

Template Parser::parse() {
  out_.loop_symbol = symbol("loop");
  out_.caller_symbol = symbol("caller");
  out_.kwargs_symbol = symbol("kwargs");
  out_.varargs_symbol = symbol("varargs");
  out_.body = body_until({});
  if (!unknown_.empty()) throw unknown_.front();
  return std::move(out_);
}

Body Parser::body_until(std::initializer_list<std::string_view> ends) {
  Body body;
  while (true) {
    const Token& token = now();
    switch (token.kind) {
      case Token::Kind::data: {
        Stmt* s = make(Stmt::Kind::text, token.at);
        s->text = token.text;
        body.push_back(s);
        take();
        break;
      }
      case Token::Kind::variable_begin: {
        take();
        Stmt* s = make(Stmt::Kind::output, token.at);
        s->expr = tuple_or_expression();
        body.push_back(s);
        expect(Token::Kind::variable_end, "end of print statement '}}'");
        break;
      }
      case Token::Kind::block_begin: {
        take();
        if (std::any_of(ends.begin(), ends.end(), [&](std::string_view end) { return now().is_name(end); })) return body;
        if (now().kind != Token::Kind::name) fail_at(now().at, "expected a statement's name, got " + describe(now()));
        const std::string tag = now().text;
        const Position at = now().at;
        if (tag.starts_with("end") || tag == "else" || tag == "elif")
          fail_at(at, "unexpected '" + tag + "'" + (ends.size() ? ": this block needs " + listed(ends) : ": no block is open"));
        body.push_back(statement());
        expect(Token::Kind::block_end, "end of statement block '%}'");
        break;
      }
      case Token::Kind::end:
        if (ends.size()) fail_at(token.at, "unexpected end of template: the innermost open block needs " + listed(ends));
        return body;
      default:
        fail_at(token.at, "unexpected " + describe(token));
    }
  }
}

Body Parser::block_body(std::initializer_list<std::string_view> ends) {
  skip_op(":");
  expect(Token::Kind::block_end, "end of statement block '%}'");
  return body_until(ends);
}

const Stmt* Parser::statement() {
  const Token tag = take();
  const Nesting nesting(*this, tag.at);
  if (tag.text == "if") return if_statement(tag.at);
  if (tag.text == "for") return for_statement(tag.at);
  if (tag.text == "set") return set_statement(tag.at);
  if (tag.text == "macro") return macro_statement(tag.at);
  if (tag.text == "call") return call_statement(tag.at);
  if (tag.text == "filter") return filter_statement(tag.at);
  if (tag.text == "with") return with_statement(tag.at);
  if (tag.text == "generation") return generation_statement(tag.at);
  if (tag.text == "break" || tag.text == "continue") {
    if (loops_ == 0) fail_at(tag.at, "'" + tag.text + "' outside a loop");
    return make(tag.text == "break" ? Stmt::Kind::break_ : Stmt::Kind::continue_, tag.at);
  }
  if (std::find(std::begin(kUnsupported), std::end(kUnsupported), tag.text) != std::end(kUnsupported))
    fail_at(tag.at, "the statement '" + tag.text + "' is not supported in a chat template");
  fail_at(tag.at, "unknown statement '" + tag.text + "'");
}

const Stmt* Parser::if_statement(Position at) {
  Stmt* s = make(Stmt::Kind::condition, at);
  ++conditions_;
  while (true) {
    const Expr* condition = tuple_or_expression(false);
    s->branches.emplace_back(condition, block_body({"elif", "else", "endif"}));
    const Token end = take();
    if (end.text == "elif") continue;
    if (end.text == "else") {
      s->branches.emplace_back(nullptr, block_body({"endif"}));
      take();
    }
    break;
  }
  --conditions_;
  return s;
}

const Stmt* Parser::for_statement(Position at) {
  Stmt* s = make(Stmt::Kind::loop, at);
  s->target = target(false);
  refuse_loop_target(*s->target);
  expect_name("in");
  s->expr = tuple_or_expression(false);
  if (skip_name("if")) s->filter = expression();
  s->recursive = skip_name("recursive");
  ++loops_;
  s->body = block_body({"endfor", "else"});
  --loops_;
  if (take().text == "else") {
    s->otherwise = block_body({"endfor"});
    take();
  }
  return s;
}

void Parser::refuse_loop_target(const Expr& target) const {
  if (target.kind == Expr::Kind::name && target.symbol == out_.loop_symbol)
    fail_at(target.at, "cannot assign to the special variable 'loop' in a loop's target");
  for (const Expr* part : target.children) refuse_loop_target(*part);
}

const Stmt* Parser::set_statement(Position at) {
  const Expr* to = target(true);
  if (skip_op("=")) {
    Stmt* s = make(Stmt::Kind::set, at);
    s->target = to;
    s->expr = tuple_or_expression();
    return s;
  }
  Stmt* s = make(Stmt::Kind::set_block, at);
  s->target = to;
  s->filter = filter_chain(nullptr);
  s->body = block_body({"endset"});
  take();
  return s;
}

Parameters Parser::parameters() {
  Parameters out;
  expect_op("(");
  while (!now().is_op(")")) {
    if (!out.symbols.empty()) expect_op(",");
    const Token& name = expect(Token::Kind::name, "a parameter's name");
    out.symbols.push_back(symbol(name.text));
    if (skip_op("="))
      out.defaults.push_back(expression());
    else if (!out.defaults.empty())
      fail_at(name.at, "the parameter '" + name.text + "' without a default follows one that has a default");
  }
  expect_op(")");
  return out;
}

// A macro's body is a function: no loop around it counts, and the special names it reads decide what it may be called
// with.
Body Parser::macro_body(Stmt& macro, std::string_view end) {
  const int loops = std::exchange(loops_, 0);
  const int conditions = std::exchange(conditions_, 0);
  macros_.emplace_back();
  Body body = block_body({end});
  take();
  const MacroUse use = macros_.back();
  macros_.pop_back();
  macro.uses_caller = use.caller;
  macro.uses_kwargs = use.kwargs;
  macro.uses_varargs = use.varargs;
  loops_ = loops;
  conditions_ = conditions;
  return body;
}

const Stmt* Parser::macro_statement(Position at) {
  Stmt* s = make(Stmt::Kind::macro, at);
  s->text = expect(Token::Kind::name, "the macro's name").text;
  s->symbol = symbol(s->text);
  s->parameters = parameters();
  s->body = macro_body(*s, "endmacro");
  return s;
}

const Stmt* Parser::call_statement(Position at) {
  Stmt* s = make(Stmt::Kind::call_block, at);
  s->text = "caller";
  if (now().is_op("(")) s->parameters = parameters();
  s->expr = expression();
  if (s->expr->kind != Expr::Kind::call) fail_at(at, "expected a call after 'call'");
  s->body = macro_body(*s, "endcall");
  return s;
}

const Stmt* Parser::filter_statement(Position at) {
  Stmt* s = make(Stmt::Kind::filter_block, at);
  s->filter = filter_chain(filter(nullptr));
  s->body = block_body({"endfilter"});
  take();
  return s;
}

const Stmt* Parser::with_statement(Position at) {
  Stmt* s = make(Stmt::Kind::with, at);
  while (now().kind != Token::Kind::block_end && !now().is_op(":")) {
    if (!s->pairs.empty()) expect_op(",");
    const Expr* to = target(false);
    expect_op("=");
    s->pairs.emplace_back(to, expression());
  }
  s->body = block_body({"endwith"});
  take();
  return s;
}

// transformers marks the assistant's tokens with this tag; the text is its body's. Its body is a function there, so
// that what it sets stays inside.
const Stmt* Parser::generation_statement(Position at) {
  Stmt* s = make(Stmt::Kind::scope, at);
  const int loops = std::exchange(loops_, 0);
  s->body = block_body({"endgeneration"});
  loops_ = loops;
  take();
  return s;
}

const Expr* Parser::target(bool with_namespace) {
  const Position at = now().at;
  const auto one = [&]() -> const Expr* {
    if (skip_op("(")) {
      const Nesting nesting(*this, at);
      const Expr* inner = target(with_namespace);
      expect_op(")");
      return inner;
    }
    const Token name = expect(Token::Kind::name, "a variable's name to assign to");
    static constexpr std::string_view kConstants[] = {"true", "false", "none", "True", "False", "None"};
    if (std::find(std::begin(kConstants), std::end(kConstants), name.text) != std::end(kConstants))
      fail_at(name.at, "cannot assign to '" + name.text + "'");
    Expr* e = make(Expr::Kind::name, name.at);
    e->symbol = symbol(name.text);
    if (with_namespace && skip_op(".")) {
      e->kind = Expr::Kind::namespace_item;
      e->text = expect(Token::Kind::name, "an attribute's name").text;
    }
    return e;
  };
  const Expr* first = one();
  if (!now().is_op(",")) return first;
  Expr* tuple = make(Expr::Kind::tuple, at, {first});
  while (skip_op(",")) {
    if (now().is_op(")") || now().kind == Token::Kind::block_end) break;
    tuple->children.push_back(one());
  }
  return tuple;
}

}  // namespace outrider::text::jinja
