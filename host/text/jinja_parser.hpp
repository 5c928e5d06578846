// Jinja's grammar: tokens to a Template. Follows Jinja's precedence and its compile-time refusals; statements outside a
// chat template's subset (extends, include, import, block, …) and unknown filters and tests are errors naming them,
// with their place.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/jinja_ast.hpp"
#include "text/jinja_lexer.hpp"

namespace outrider::text::jinja {

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Template parse();  // throws TemplateError

 private:
  // Tokens.
  [[nodiscard]] const Token& now() const { return tokens_[at_]; }
  [[nodiscard]] const Token& after() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  const Token& take() { return at_ + 1 < tokens_.size() ? tokens_[at_++] : tokens_[at_]; }
  bool skip_op(std::string_view op);
  bool skip_name(std::string_view name);
  void expect_op(std::string_view op);
  void expect_name(std::string_view name);
  const Token& expect(Token::Kind kind, const char* what);

  // Statements (jinja_parse_statements.cpp).
  Body body_until(std::initializer_list<std::string_view> ends);  // stands at the end's name afterwards
  Body block_body(std::initializer_list<std::string_view> ends);  // the same, after the block's '%}'
  const Stmt* statement();
  const Stmt* if_statement(Position at);
  const Stmt* for_statement(Position at);
  const Stmt* set_statement(Position at);
  const Stmt* macro_statement(Position at);
  const Stmt* call_statement(Position at);
  const Stmt* filter_statement(Position at);
  const Stmt* with_statement(Position at);
  const Stmt* generation_statement(Position at);
  Parameters parameters();
  Body macro_body(Stmt& macro, std::string_view end);
  const Expr* target(bool with_namespace);
  void refuse_loop_target(const Expr& target) const;

  // Expressions (jinja_parse_expressions.cpp), loosest first.
  const Expr* tuple_or_expression(bool with_conditional = true, bool parenthesised = false);
  const Expr* expression(bool with_conditional = true);
  const Expr* conditional();
  const Expr* logical_or();
  const Expr* logical_and();
  const Expr* logical_not();
  const Expr* comparison();
  const Expr* sum();
  const Expr* concatenation();
  const Expr* product();
  const Expr* power();
  const Expr* unary(bool with_filters = true);
  const Expr* primary();
  const Expr* postfix(const Expr* e);
  const Expr* filters_and_tests(const Expr* e);
  const Expr* subscript(const Expr* e);
  const Expr* subscript_item();
  const Expr* filter(const Expr* subject);  // one filter, from its name
  const Expr* filter_chain(const Expr* e);  // any number of `| filter`
  const Expr* test(const Expr* subject);
  void call_arguments(Expr& call);
  [[nodiscard]] bool tuple_ends() const;

  Expr* make(Expr::Kind kind, Position at, std::vector<const Expr*> children = {});
  Stmt* make(Stmt::Kind kind, Position at);
  int symbol(const std::string& name);
  const Expr* name_expr(const Token& token);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Template out_;
  std::unordered_map<std::string, int> symbols_;
  int nesting_ = 0;                     // statements and brackets within one another
  int loops_ = 0;                       // loops around, within the current macro: break and continue need one
  int conditions_ = 0;                  // `if` statements around: an unknown filter there is an error only when reached, as in Jinja
  std::vector<TemplateError> unknown_;  // filters and tests that do not exist, met outside a condition
  struct MacroUse {
    bool caller = false, kwargs = false, varargs = false;
  };
  std::vector<MacroUse> macros_;  // macros around, and which special names their bodies read

  friend class Nesting;
};

// Counts nesting for its lifetime; refuses what would exhaust the stack.
class Nesting {
 public:
  Nesting(Parser& parser, Position at) : parser_(parser) {
    if (++parser_.nesting_ > 100) fail_at(at, "statements and expressions are nested deeper than 100 levels");
  }
  ~Nesting() { --parser_.nesting_; }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;

 private:
  Parser& parser_;
};

}  // namespace outrider::text::jinja
