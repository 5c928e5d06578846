// Runs a parsed template: scopes, control flow, macros, loops. One Interpreter is one render, on one thread; it stops a
// template that exceeds its Limits with an error. The values' own behaviour is in jinja_value, what can be called in
// jinja_builtins.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "text/jinja_ast.hpp"
#include "text/jinja_value.hpp"

namespace outrider::text::jinja {

// The variables set within one block; a lookup goes outwards.
struct Scope : Object {
  Scope* outer = nullptr;
  std::vector<std::pair<int, Value>> variables;
  bool captured = false;  // a macro made here or further in may still read it

  [[nodiscard]] const Value* find(int symbol) const;
  void set(int symbol, Value value);
};

struct Macro : Object {
  const Stmt* definition = nullptr;
  Scope* closure = nullptr;
};

// The variable `loop`.
struct Loop : Object {
  const Stmt* definition = nullptr;
  Scope* outer = nullptr;  // what the loop statement sees
  Cursor* source = nullptr;
  std::vector<Value> ahead;  // taken from the source by `last`, `nextitem` or `length`, first to come last
  Value before, current;
  Int index0 = -1;
  Int depth0 = 0;
  bool sized = false;  // the iterable has a length of its own; another's is known by walking to its end
  Int length = -1;     // -1: not asked for yet
  Value last_changed;
  bool has_changed = false;
};

class Interpreter {
 public:
  Interpreter(const Template& t, Limits limits) : rt(limits), template_(t) {}
  std::string render(const nlohmann::ordered_json& input);  // throws TemplateError

  Value call(const Value& callee, const Arguments& arguments);
  Value loop_attribute(Loop& loop, const std::string& name, bool& found);

  Runtime rt;

 private:
  enum class Flow { normal, broke, continued };

  // Statements (jinja_interpreter.cpp).
  Flow run(const Body& body, Scope& scope);
  Flow run(const Stmt& s, Scope& scope);
  Flow run_condition(const Stmt& s, Scope& scope);
  void run_loop(const Stmt& s, Scope& outer, const Value& iterable, Int depth0);
  void run_call_block(const Stmt& s, Scope& scope);
  void run_with(const Stmt& s, Scope& scope);
  bool advance(Loop& loop, Value& out);
  bool pull(Loop& loop, Value& out);  // the next element that passes the loop's `if`
  std::string captured(const Body& body, Scope& scope);
  void assign(const Expr& target, const Value& value, Scope& scope);
  void write(const std::string& text);

  // Expressions (jinja_evaluate.cpp).
  Value evaluate(const Expr& e, Scope& scope);
  Value evaluate_name(const Expr& e, Scope& scope);
  Value evaluate_dict(const Expr& e, Scope& scope);
  Value evaluate_subscript(const Expr& e, Scope& scope);
  Value evaluate_compare(const Expr& e, Scope& scope);
  Value evaluate_concatenation(const Expr& e, Scope& scope);
  Value evaluate_filter(const Expr& e, Scope& scope, const Value& subject);
  Value apply_filters(const Expr* chain, Scope& scope,
                      const Value& subject);  // of a block: the chain's head has no subject
  Arguments evaluate_arguments(const Expr& e, Scope& scope);
  Value call_macro(const Macro& macro, const Arguments& arguments);
  Value call_loop(Loop& loop, const Arguments& arguments);
  Value loop_cycle(Loop& loop, const Arguments& arguments, bool changed);

  Scope* make_scope(Scope& outer);
  Scope* capture(Scope& scope);
  void check_stack();

  const Template& template_;
  std::vector<Value> globals_;    // the input's members, by symbol
  std::vector<bool> has_global_;  // whether the input has that member
  std::string* out_ = nullptr;
  Position at_;  // what is being evaluated, for an error that does not know its place
  const char* stack_base_ = nullptr;
  int calls_ = 0;

  friend struct CallDepth;
};

}  // namespace outrider::text::jinja
