// What a function that can fail by its input returns: a value or an Error. An Error's text says what was expected, what was
// found, where, and what to do. Exceptions are for programming errors only and never cross the plugin boundary.
#pragma once

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace outrider {

struct Error {
  std::string message;  // "WHERE: expected X, found Y; do Z"

  // The same error seen from further out: "loading model.gguf: tensor 3: …".
  [[nodiscard]] Error within(const std::string& where) const { return {where + ": " + message}; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}       // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}   // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& operator*() & { assert(ok()); return std::get<0>(state_); }
  const T& operator*() const& { assert(ok()); return std::get<0>(state_); }
  T&& operator*() && { assert(ok()); return std::get<0>(std::move(state_)); }
  T* operator->() { assert(ok()); return &std::get<0>(state_); }
  const T* operator->() const { assert(ok()); return &std::get<0>(state_); }

  [[nodiscard]] const Error& error() const { assert(!ok()); return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  [[nodiscard]] const Error& error() const { assert(!ok_); return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace outrider

#define OUTRIDER_CONCAT_(a, b) a##b
#define OUTRIDER_CONCAT(a, b) OUTRIDER_CONCAT_(a, b)

// OUTRIDER_TRY(auto x, f()); declares x as f()'s value, or returns f()'s error from the enclosing function.
#define OUTRIDER_TRY(declaration, expression) OUTRIDER_TRY_(declaration, expression, OUTRIDER_CONCAT(try_, __LINE__))
#define OUTRIDER_TRY_(declaration, expression, name) \
  auto name = (expression);                          \
  if (!name.ok()) return name.error();               \
  declaration = *std::move(name)

// OUTRIDER_CHECK(f()); returns f()'s error from the enclosing function, for a Result whose value is not wanted.
#define OUTRIDER_CHECK(expression) \
  if (auto check_ = (expression); !check_.ok()) return check_.error()
