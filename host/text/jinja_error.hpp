// How the template interpreter reports a fault from any depth: it throws TemplateError. A template has exceptions of
// its own (raise_exception, Python's TypeError), so unwinding is part of the language being interpreted; ChatTemplate
// turns what is thrown into a Result, and none of it leaves this folder. Holds no other logic.
#pragma once

#include <string>
#include <utility>

namespace outrider::text::jinja {

struct Position {
  int line = 0;    // 1-based; 0 when the fault's place is not known yet (the interpreter fills it in)
  int column = 0;  // 1-based, in code points
};

struct TemplateError {
  std::string message;
  Position at;
};

[[noreturn]] inline void fail(std::string message) { throw TemplateError{std::move(message), {}}; }
[[noreturn]] inline void fail_at(Position at, std::string message) { throw TemplateError{std::move(message), at}; }

}  // namespace outrider::text::jinja
