#include "cli/jsonl.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <limits>

#include "cli/exit_code.hpp"
#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"

namespace outrider::cli {

std::string to_line(const Json& value) {
  const std::string json = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string line;
  line.reserve(json.size());
  const auto escape_at = [&json](size_t i) -> const char* {
    if (json.compare(i, 2, "\xc2\x85") == 0) return "\\u0085";
    if (json.compare(i, 3, "\xe2\x80\xa8") == 0) return "\\u2028";
    if (json.compare(i, 3, "\xe2\x80\xa9") == 0) return "\\u2029";
    return nullptr;
  };
  for (size_t i = 0; i < json.size(); ++i) {
    const char* escape = json[i] == '\xc2' || json[i] == '\xe2' ? escape_at(i) : nullptr;
    if (escape == nullptr) {
      line.push_back(json[i]);
    } else {
      line += escape;
      i += json[i] == '\xc2' ? 1 : 2;
    }
  }
  return line;
}

Result<Json> parse_object(const std::string& line) {
  try {
    Json value = Json::parse(line);
    if (!value.is_object()) return Error{std::string("expected a JSON object, found ") + value.type_name()};
    return value;
  } catch (const nlohmann::json::parse_error& error) {
    // The library's text is "[json.exception.parse_error.101] parse error at line 1, column 2: WHAT"; a person needs the end of it.
    std::string what = error.what();
    if (const size_t end = what.find("] "); end != std::string::npos) what.erase(0, end + 2);
    if (what.size() > 200) what = what.substr(0, 200) + "…";
    return Error{"expected a JSON object, found text that is none (" + what + ")"};
  }
}

Result<std::vector<int32_t>> token_list(const Json& value, const std::string& where) {
  if (!value.is_array()) return Error{where + ": expected a list of token ids, found " + value.type_name()};
  std::vector<int32_t> ids;
  ids.reserve(value.size());
  for (const Json& item : value) {
    const bool whole = item.is_number_integer() && item >= 0 && item <= std::numeric_limits<int32_t>::max();
    if (!whole) return Error{where + "[" + std::to_string(ids.size()) + "]: expected a token id, found " + to_line(item).substr(0, 40)};
    ids.push_back(item.get<int32_t>());
  }
  return ids;
}

int run_filter(std::istream& in, const LineFilter& filter) {
  int code = kOk;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (interrupted()) return kInterrupted;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<Json> parsed = parse_object(line);
    Result<Json> answer = parsed.ok() ? filter(*parsed) : parsed;
    if (!answer.ok()) code = kFailed;
    print(to_line(answer.ok() ? *answer : Json{{"error", "line " + std::to_string(number) + ": " + answer.error().message}}) + "\n");
    if (std::ferror(stdout) != 0) return kFailed;
  }
  return interrupted() ? kInterrupted : code;
}

Result<void> write_json(const std::string& path, const Json& json) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  out.close();
  if (!out) return Error{path + ": cannot be written: " + std::strerror(errno) + "; check the path and the disk"};
  return {};
}

}  // namespace outrider::cli
