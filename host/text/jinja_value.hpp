// The values a template computes with, with Python's semantics: lists, dicts and namespaces are shared by reference,
// strings are immutable, integers do not wrap. Containers belong to the Runtime of one render and live until it ends,
// so a cyclic list neither leaks nor dangles; a Value must not outlive its Runtime. Nothing here knows the template's
// syntax.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja_error.hpp"

namespace outrider::text::jinja {

// Python's integers have no bound. 128 bits hold every integer JSON carries and products of 64-bit ones; beyond is an
// error.
__extension__ typedef __int128 Int;

enum class Kind : std::uint8_t {
  undefined,
  none,
  boolean,
  integer,
  real,
  string,
  list,
  tuple,
  dict,
  range,
  view,
  iterator,
  name_space,
  macro,
  loop,
  function
};

struct Text {
  std::string bytes;   // UTF-8; a byte that is not part of valid UTF-8 counts as one code point
  std::size_t length;  // in code points
  [[nodiscard]] bool ascii() const { return length == bytes.size(); }
};

struct Object {  // owned by a Runtime
  virtual ~Object() = default;
};
struct List;
struct Dict;

class Value {
 public:
  Value() = default;  // undefined, without a message
  static Value none() { return Value(Kind::none); }
  static Value boolean(bool b) {
    Value v(Kind::boolean);
    v.boolean_ = b;
    return v;
  }
  static Value integer(Int i) {
    Value v(Kind::integer);
    v.integer_ = i;
    return v;
  }
  static Value real(double d) {
    Value v(Kind::real);
    v.real_ = d;
    return v;
  }
  static Value string(std::string bytes, bool safe = false);
  // Undefined, as a missing variable is: falsy, printed as nothing; `message` is the error of any other use.
  static Value undefined(std::string message);
  static Value object(Kind kind, Object* o) {
    Value v(kind);
    v.object_ = o;
    return v;
  }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool is(Kind kind) const { return kind_ == kind; }
  [[nodiscard]] bool safe() const { return safe_; }  // a string that passed through |safe (Python's Markup)
  [[nodiscard]] bool boolean() const { return boolean_; }
  [[nodiscard]] Int integer() const { return integer_; }
  [[nodiscard]] double real() const { return real_; }
  [[nodiscard]] const Text& text() const { return *text_; }  // of a string
  [[nodiscard]] const std::string& bytes() const { return text_->bytes; }
  [[nodiscard]] std::string undefined_message() const { return text_ ? text_->bytes : "value is undefined"; }
  [[nodiscard]] Object* object() const { return object_; }
  template <class T>
  [[nodiscard]] T& as() const {
    return static_cast<T&>(*object_);
  }
  [[nodiscard]] List& list() const;  // of a list or a tuple
  [[nodiscard]] Dict& dict() const;

  [[nodiscard]] bool is_number() const { return kind_ == Kind::integer || kind_ == Kind::boolean || kind_ == Kind::real; }
  [[nodiscard]] bool is_integral() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }  // as Python's bool is an int
  [[nodiscard]] Int as_integer() const { return kind_ == Kind::boolean ? Int(boolean_) : integer_; }
  [[nodiscard]] double as_real() const { return kind_ == Kind::real ? real_ : static_cast<double>(as_integer()); }

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  Kind kind_ = Kind::undefined;
  bool safe_ = false;
  union {
    bool boolean_;
    Int integer_ = 0;
    double real_;
    Object* object_;
  };
  std::shared_ptr<const Text> text_;
};

struct Limits {
  std::uint64_t steps = 20'000'000;              // nodes evaluated and elements visited: about a second
  std::uint64_t bytes = std::uint64_t{1} << 30;  // text and elements made in one render, freed or not
  std::size_t output = std::size_t{64} << 20;    // bytes of rendered text
  std::size_t stack = std::size_t{2} << 20;      // bytes of call stack
  int calls = 200;                               // macros and recursive loops within one another
  int depth = 200;                               // lists within lists when printed, compared or converted
};

// What one render owns and may spend. Not shared between threads.
class Runtime {
 public:
  explicit Runtime(Limits l) : limits(l) {}
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  template <class T, class... Args>
  T* make(Args&&... args) {
    charge(sizeof(T));
    auto owned = std::make_unique<T>(std::forward<Args>(args)...);
    T* raw = owned.get();
    objects_.push_back(std::move(owned));
    return raw;
  }
  void step(std::uint64_t n = 1) {
    if ((steps_ += n) > limits.steps) fail("the template runs longer than " + std::to_string(limits.steps) + " steps; it was stopped");
  }
  void charge(std::uint64_t n) {
    if ((bytes_ += n) > limits.bytes || n > limits.bytes)
      fail("the template makes more than " + std::to_string(limits.bytes) + " bytes of values; it was stopped");
  }
  void check_depth(int depth) const {
    if (depth > limits.depth) fail("a value is nested deeper than " + std::to_string(limits.depth) + " levels");
  }

  Value string(std::string bytes, bool safe = false) {
    charge(bytes.size());
    return Value::string(std::move(bytes), safe);
  }
  Value list(std::vector<Value> items);
  Value tuple(std::vector<Value> items);
  Value iterator(std::vector<Value> items);  // what Python's generators give: consumed once, always true, without a length
  Value dict();

  const Limits limits;

 private:
  std::uint64_t steps_ = 0;
  std::uint64_t bytes_ = 0;
  std::vector<std::unique_ptr<Object>> objects_;
};

struct List : Object {
  std::vector<Value> items;
};

// Insertion-ordered. Keys compare as Python's do (1, 1.0 and true are one key).
struct Dict : Object {
  std::vector<std::pair<Value, Value>> items;

  Value* find(Runtime& rt, const Value& key);  // null when absent; fails on an unhashable key
  void set(Runtime& rt, const Value& key, Value value);
  bool erase(Runtime& rt, const Value& key);
  void clear() { items.clear(), by_hash_.clear(); }

 private:
  std::ptrdiff_t position(Runtime& rt, const Value& key);
  std::unordered_multimap<std::size_t, std::size_t> by_hash_;  // empty while the dict is small
};

// Whether a range may have this as a start, stop or step, so that no arithmetic on them overflows.
inline bool in_range_bounds(Int i) { return i <= (Int(1) << 100) && i >= -(Int(1) << 100); }

struct Range : Object {
  Int start = 0, stop = 0, step = 1;
  [[nodiscard]] Int length() const;
};

struct View : Object {  // dict.keys(), .values(), .items(): sees later changes
  enum class Of { keys, values, items } of = Of::keys;
  Dict* dict = nullptr;
};

struct Namespace : Object {
  Dict* attributes = nullptr;
};

// Walks any iterable; a list that grows meanwhile is walked to its new end, as in Python.
struct Cursor : Object {
  Value over;
  std::size_t position = 0;       // element, or byte of a string
  std::size_t expected_size = 0;  // a dict must not change size under a walk
  bool next(Runtime& rt, Value& out);
};

// A method or a function of the language itself.
struct Function : Object {
  Value self;  // undefined for a function
  std::string name;
};

const char* type_name(const Value& v);  // Python's: 'str', 'NoneType', …
bool truthy(const Value& v);
bool is_iterable(const Value& v);
Cursor* iterate(Runtime& rt, const Value& v);               // fails: "'int' object is not iterable"
std::vector<Value> to_vector(Runtime& rt, const Value& v);  // every remaining element
Int length_of(const Value& v);                              // fails: "object of type 'int' has no len()"
bool equal(Runtime& rt, const Value& a, const Value& b, int depth = 0);
bool less(Runtime& rt, const Value& a, const Value& b, int depth = 0);  // fails on types Python does not order
bool contains(Runtime& rt, const Value& container, const Value& item);  // `item in container`
std::size_t hash_of(Runtime& rt, const Value& v, int depth = 0);        // fails: "unhashable type: 'list'"

// Printing (jinja_print.cpp).
std::string integer_text(Int i);
std::string real_text(double d);                   // the shortest text that reads back the same, as Python writes it
std::string to_text(Runtime& rt, const Value& v);  // str(v)
std::string repr(Runtime& rt, const Value& v, int depth = 0);

}  // namespace outrider::text::jinja
