// JSON, one object a line: how the filters read and every command writes. Reading is a loop that answers a bad line with
// {"error": …} in its place and goes on; writing never fails, since text a model made may hold bytes that are no UTF-8.
#pragma once

#include <functional>
#include <istream>
#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "base/result.hpp"

namespace outrider::cli {

using Json = nlohmann::ordered_json;  // keeps the order in which members were written

// Writes a result to a file, indented, in place of what is there. The error names the path.
Result<void> write_json(const std::string& path, const Json& json);

// One line of JSON; bytes that are no UTF-8 become U+FFFD. The characters that Unicode counts as line ends (U+0085, U+2028, U+2029) are
// escaped, so that it is one line to every reader.
[[nodiscard]] std::string to_line(const Json& value);

// Parses one line that must hold a JSON object. The error says at which byte it breaks.
Result<Json> parse_object(const std::string& line);

// A member's value as T; the error names the member and the type that was expected. `expected`: "a string", "a list of token ids".
template <class T>
Result<T> member(const Json& object, const char* name, const char* expected) {
  const auto it = object.find(name);
  if (it == object.end()) return Error{std::string("member \"") + name + "\": expected " + expected + ", found none"};
  try {
    return it->template get<T>();
  } catch (const nlohmann::json::exception&) {
    return Error{std::string("member \"") + name + "\": expected " + expected + ", found " + it->type_name()};
  }
}

// Token ids from a member; floats, negative numbers and numbers of 2^31 and more are errors, not conversions.
Result<std::vector<int32_t>> token_list(const Json& value, const std::string& where);

using LineFilter = std::function<Result<Json>(const Json&)>;

// Reads objects from `in` (blank lines are skipped), prints what `filter` makes of each. Returns kOk, kFailed when any line was
// answered with an error, or kInterrupted.
int run_filter(std::istream& in, const LineFilter& filter);

}  // namespace outrider::cli
