// What the language brings along: filters, tests, functions, and the methods of strings, lists and dicts, each as
// Python's jinja2 and transformers define them. A name that Python has and this lacks is an error naming it, never an
// undefined value.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja_ast.hpp"
#include "text/jinja_value.hpp"

namespace outrider::text::jinja {

// Filters and tests (jinja_filters_*.cpp, jinja_tests.cpp); null when the name is not known.
FilterFunction find_filter(std::string_view name);
TestFunction find_test(std::string_view name);
std::string no_such_filter(const std::string& name);  // the error: whether Jinja has it or nobody
std::string no_such_test(const std::string& name);

struct FilterEntry {
  std::string_view name;
  FilterFunction function;
};
std::vector<FilterEntry> text_filters();      // jinja_filters_text.cpp
std::vector<FilterEntry> sequence_filters();  // jinja_filters_sequence.cpp

// Functions (jinja_functions.cpp): namespace, range, dict, raise_exception, strftime_now.
bool is_function(std::string_view name);
bool is_unsupported_function(std::string_view name);  // Jinja's cycler, joiner, lipsum
Value call_function(Interpreter& in, const std::string& name, const Arguments& arguments);

// Methods. `has_method` fails when Python has the attribute and this has not.
bool has_method(const Value& self, const std::string& name);
Value call_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments);
Value call_string_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments);
Value call_list_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments);
Value call_dict_method(Interpreter& in, const Value& self, const std::string& name, const Arguments& arguments);

// Formatting (jinja_format.cpp): `text % arguments` and text.format(…).
Value format_printf(Interpreter& in, const Value& format, const Value& arguments);
Value format_braces(Interpreter& in, const Value& format, const Arguments& arguments);
Value round_real(double value, int digits);  // to nearest, ties to even by the exact binary value

// Operators (jinja_operators.cpp). Fail with Python's messages.
Value binary(Runtime& rt, Op op, const Value& a, const Value& b);
bool compare(Runtime& rt, Op op, const Value& a, const Value& b);
Value get_attribute(Interpreter& in, const Value& object, const std::string& name);  // object.name
Value get_own_attribute(Interpreter& in, const Value& object, const std::string& name,
                        bool& found);                                    // without the subscript
Value get_item(Interpreter& in, const Value& object, const Value& key);  // object[key]
Value get_slice(Runtime& rt, const Value& object, const Value& start, const Value& stop,
                const Value& step);  // undefined: absent
std::string escape_html(std::string_view text);

// Numbers from text as Python's int() and float() read it; false when it is no number.
bool parse_integer(std::string_view text, int base, Int& out);
bool parse_real(std::string_view text, double& out);

// JSON (jinja_json.cpp).
Value from_json(Runtime& rt, const nlohmann::ordered_json& json, int depth = 0);
std::string to_json(Runtime& rt, const Value& v, bool ensure_ascii, const std::string* indent,
                    const std::string& item_separator, const std::string& key_separator, bool sort_keys);

// Arguments matched to parameters. Fails, as Python does, on one too many, an unknown name, one missing.
class Bound {
 public:
  // The first `required` of `names` must be given. A name that starts with '/' cannot be given by keyword.
  Bound(const Arguments& arguments, const std::string& callee, std::initializer_list<const char*> names,
        std::size_t required = 0);

  [[nodiscard]] bool given(std::size_t i) const { return values_[i] != nullptr; }
  [[nodiscard]] const Value& operator[](std::size_t i) const { return *values_[i]; }
  [[nodiscard]] Value get(std::size_t i, Value otherwise) const {
    return values_[i] ? *values_[i] : std::move(otherwise);
  }
  [[nodiscard]] bool truth(std::size_t i, bool otherwise) const { return values_[i] ? truthy(*values_[i]) : otherwise; }
  [[nodiscard]] std::string string(std::size_t i, const char* otherwise) const;  // fails unless a string
  [[nodiscard]] Int integer(std::size_t i, Int otherwise) const;                 // fails unless an integer

 private:
  std::string callee_;
  std::vector<const Value*> values_;
};

Int want_integer(const Value& v);  // fails: "'str' object cannot be interpreted as an integer"

}  // namespace outrider::text::jinja
