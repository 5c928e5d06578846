// What a template is once parsed: a tree of statements and expressions, immutable and shared by every render and
// thread. Names are numbered (a symbol), so that a scope finds a variable without comparing text. Holds no behaviour.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja_value.hpp"

namespace outrider::text::jinja {

class Interpreter;

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> named;
};

using FilterFunction = Value (*)(Interpreter&, const Value& subject, const Arguments&);
using TestFunction = bool (*)(Interpreter&, const Value& subject, const Arguments&);

enum class Op {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

struct Expr {
  enum class Kind {
    constant,       // value
    name,           // symbol
    list,           // children
    tuple,          // children
    dict,           // children: key, value, key, value, …
    attribute,      // children[0].text
    subscript,      // children[0][children[1]]
    slice,          // only inside a subscript: children start, stop, step, each null when absent
    call,           // children[0] called with the rest and named
    filter,         // children[0] (null at the head of a filter block) through `filter` with the rest and named
    test,           // children[0] asked `test` with the rest and named
    negate,         // children[0]
    plus,           // children[0]
    logical_not,    // children[0]
    logical_and,    // children[0], children[1], the second only if it decides
    logical_or,     // the same
    conditional,    // children: condition, then, otherwise (null when absent)
    concatenate,    // children joined by ~
    binary,         // op
    compare,        // children[0] ops[0] children[1] ops[1] children[2] …
    namespace_item  // only as a target: symbol.text
  };
  Kind kind = Kind::constant;
  Position at;
  Value value;
  std::string text;
  int symbol = -1;
  Op op = Op::add;
  std::vector<Op> ops;
  std::vector<const Expr*> children;
  std::vector<std::pair<std::string, const Expr*>> named;
  const Expr* star = nullptr;         // *expr in a call
  const Expr* double_star = nullptr;  // **expr in a call
  FilterFunction filter =
      nullptr;  // null when unknown: an error only if it is reached (Jinja allows it inside a condition)
  TestFunction test = nullptr;
};

struct Stmt;
using Body = std::vector<const Stmt*>;

struct Parameters {
  std::vector<int> symbols;
  std::vector<const Expr*> defaults;  // those of the last parameters
};

struct Stmt {
  enum class Kind {
    text,
    output,
    condition,
    loop,
    set,
    set_block,
    macro,
    call_block,
    filter_block,
    with,
    scope,
    break_,
    continue_
  };
  Kind kind = Kind::text;
  Position at;
  std::string text;              // text; a macro's name
  const Expr* expr = nullptr;    // output, loop's iterable, set's value, call
  const Expr* target = nullptr;  // loop, set, set_block
  const Expr* filter = nullptr;  // loop: `if` after the iterable; filter_block, set_block: the last filter
  bool recursive = false;        // loop
  std::vector<std::pair<const Expr*, Body>> branches;      // condition: null expr for else
  std::vector<std::pair<const Expr*, const Expr*>> pairs;  // with: target, value
  Body body;
  Body otherwise;                                                       // loop's else
  int symbol = -1;                                                      // macro
  Parameters parameters;                                                // macro, call_block
  bool uses_caller = false, uses_kwargs = false, uses_varargs = false;  // macro, call_block
};

struct Template {
  Body body;
  std::vector<std::string> symbols;  // symbol -> name
  std::vector<std::unique_ptr<Expr>> exprs;
  std::vector<std::unique_ptr<Stmt>> stmts;
  int loop_symbol = -1, caller_symbol = -1, kwargs_symbol = -1, varargs_symbol = -1;

  [[nodiscard]] const std::string& name(int symbol) const { return symbols[static_cast<std::size_t>(symbol)]; }
};

}  // namespace outrider::text::jinja
