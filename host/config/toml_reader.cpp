#include "config/toml_reader.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>

namespace outrider::config {
namespace {

constexpr size_t kMostBytes = size_t{16} << 20;
constexpr int kMostSyntaxFaults = 20;

std::string type_text(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return node.as_array()->is_array_of_tables() ? "an array of tables" : "an array";
    case toml::node_type::string:
      return to_text(FieldValue(node.as_string()->get()));
    case toml::node_type::integer:
      return to_text(FieldValue(node.as_integer()->get()));
    case toml::node_type::floating_point:
      return to_text(OptionValue(node.as_floating_point()->get()));
    case toml::node_type::boolean:
      return to_text(FieldValue(node.as_boolean()->get()));
    case toml::node_type::date:
      return "a date";
    case toml::node_type::time:
      return "a time of day";
    case toml::node_type::date_time:
      return "a date and time";
    case toml::node_type::none:
      break;
  }
  return "nothing";
}

// The value as a plugin can be given it; absent for what none can (dates, tables, mixed arrays, infinities).
std::optional<OptionValue> option_value(const toml::node& node) {
  if (const auto* value = node.as_boolean()) return value->get();
  if (const auto* value = node.as_integer()) return value->get();
  if (const auto* value = node.as_string()) return value->get();
  if (const auto* value = node.as_floating_point()) {
    if (std::isfinite(value->get())) return value->get();
    return std::nullopt;
  }
  if (const auto* values = node.as_array()) {
    std::vector<std::string> texts;
    for (const toml::node& element : *values) {
      if (!element.is_string()) return std::nullopt;
      texts.push_back(element.as_string()->get());
    }
    return texts;
  }
  return std::nullopt;
}

class Reader {
 public:
  Reader(const std::string& name, std::string_view text) : name_(name), text_(text) {}

  FileContents read() {
    const std::optional<toml::table> root = parse();
    if (root) read_root(*root);
    std::stable_sort(out_.faults.begin(), out_.faults.end(), [](const Fault& a, const Fault& b) {
      return std::pair(a.origin.line, a.origin.column) < std::pair(b.origin.line, b.origin.column);
    });
    return std::move(out_);
  }

 private:
  Origin at(const toml::source_region& region) const {
    return {Origin::Kind::file, name_, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
  }

  Fault& fault(Origin origin, std::string message, std::string hint = {}) {
    out_.faults.push_back({std::move(origin), std::move(message)});
    Fault& added = out_.faults.back();
    added.hint = std::move(hint);
    add_excerpt(added, text_);
    return added;
  }

  // --- syntax ---

  // toml++ stops at the first fault. Where that is a line that stands for itself ("key = value"), the line is blanked and the rest read.
  std::optional<toml::table> parse() {
    std::string text(text_);
    for (int faults = 0; faults < kMostSyntaxFaults; ++faults) {
      try {
        return toml::parse(std::string_view(text), std::string_view(name_));
      } catch (const toml::parse_error& error) {
        const bool inner = report_syntax(error, text);
        if (inner || !blank_line(text, error.source().begin.line)) return std::nullopt;
      }
    }
    return std::nullopt;
  }

  // Adds the fault; true when it lies inside something that spans lines, so that the line does not stand for itself.
  bool report_syntax(const toml::parse_error& error, const std::string& text) {
    std::string message(error.description());
    Origin origin = at(error.source());
    const std::string_view prefix = "Error while parsing ";
    bool inner = within_multi_line_string(text, origin.line);
    if (message.starts_with(prefix)) {
      const std::string what = message.substr(prefix.size(), message.find(':') - prefix.size());
      inner = inner || what == "array" || what == "inline table";
      if (const size_t colon = message.find(": "); colon != std::string::npos) message = message.substr(colon + 2);
    }
    std::string hint = syntax_hint(message);
    if (const size_t redefined = message.find("cannot redefine existing "); redefined != std::string::npos) {
      const size_t quote = message.find('\'');
      message = "duplicate key " + (quote == std::string::npos ? std::string("here") : message.substr(quote));
      origin.column = first_column(text, origin.line);  // toml++ says where the value begins
    }
    for (size_t i = 0; (i = message.find('\n', i)) != std::string::npos;) message.replace(i, 1, "\\n");
    if (message.size() > 200) message = message.substr(0, message.find(' ', 150)) + " …";
    Fault& added = fault(std::move(origin), "not TOML: " + message, std::move(hint));
    // The parser quotes what it saw, which must not be a secret; one that spans lines is not told from its line alone.
    const bool secret_above =
        inner && mentions_secret(std::string_view(text).substr(0, line_bounds(text, error.source().begin.line).first));
    if (added.source_line.ends_with("***") || secret_above) added.message = "not TOML";
    if (secret_above) added.source_line.clear(), added.caret = 0;
    return inner;
  }

  static bool within_multi_line_string(const std::string& text, int line) {
    const std::string_view above = std::string_view(text).substr(0, line_bounds(text, static_cast<size_t>(line)).first);
    for (const std::string_view quotes : {"\"\"\"", "'''"}) {
      size_t count = 0;
      for (size_t at = 0; (at = above.find(quotes, at)) != std::string_view::npos; at += quotes.size()) ++count;
      if (count % 2 == 1) return true;
    }
    return false;
  }

  static std::string syntax_hint(const std::string& message) {
    const auto has = [&](std::string_view part) { return message.find(part) != std::string::npos; };
    if (has("control characters")) return "a text in \"…\" or '…' ends on the line it begins on";
    if (has("escape") || has("hexadecimal digit") || has("hex digit"))
      return "a backslash begins an escape in \"…\"; write the text in '…' instead";
    if (has("cannot redefine existing")) return "a key or table may stand once in a file";
    if (has("leading zero")) return "write the number without leading zeros";
    if (has("expected 'true'") || has("expected 'false'")) return "booleans are written true and false";
    if (has("could not determine value type")) return "texts are written in quotes, booleans as true and false";
    if (has("expected key or closing '}'")) return "an inline table { … } stands on one line";
    if (has("expected '='")) return "settings are written key = value";
    return {};
  }

  static std::pair<size_t, size_t> line_bounds(const std::string& text, size_t line) {
    size_t begin = 0;
    for (size_t at = 1; at < line; ++at) {
      begin = text.find('\n', begin);
      if (begin == std::string::npos) return {text.size(), text.size()};
      ++begin;
    }
    return {begin, std::min(text.find('\n', begin), text.size())};
  }

  static int first_column(const std::string& text, int line) {
    const auto [begin, end] = line_bounds(text, static_cast<size_t>(line));
    const size_t first = text.find_first_not_of(" \t", begin);
    return first < end ? static_cast<int>(first - begin) + 1 : 1;
  }

  static bool blank_line(std::string& text, size_t line) {
    const auto [begin, end] = line_bounds(text, line);
    const size_t first = text.find_first_not_of(" \t", begin);
    if (first >= end || text[first] == '[' || text[first] == '#') return false;
    const size_t equals = text.find('=', first);
    if (equals == first || equals >= end || text.find_first_of("#{[,", first) < equals) return false;
    std::fill(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end), ' ');
    return true;
  }

  // --- the tables ---

  void read_root(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      const NamespaceInfo* space = find_namespace(name);
      const bool known = space != nullptr || name == "plugins" || name == "drafter";
      if (!known) {
        unknown_root(key, name);
      } else if (!node.is_table()) {
        fault(at(node.source()), "expected a table, [" + name + "], found " + type_text(node));
      } else if (space != nullptr) {
        read_space(*space, *node.as_table());
      } else if (name == "plugins") {
        read_plugins(*node.as_table());
      } else {
        read_drafters(*node.as_table());
      }
    }
  }

  void unknown_root(const toml::key& key, const std::string& name) {
    if (const FieldInfo* info = find_field(name)) {
      fault(at(key.source()), "unknown table or key '" + name + "'",
            "'" + name + "' belongs under [" + std::string(info->space_name) + "]");
      return;
    }
    std::vector<std::string> names{"plugins", "drafter"};
    for (const NamespaceInfo& info : namespaces()) names.emplace_back(info.name);
    std::string hint = did_you_mean(nearest(name, names));
    if (hint.empty()) {
      hint = "the tables are";
      for (const std::string& known : names) hint += " [" + known + "]";
      hint.replace(hint.find("[drafter]"), 9, "[drafter.NAME]");
    }
    fault(at(key.source()), "unknown table or key '" + name + "'", hint);
  }

  void read_space(const NamespaceInfo& space, const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const FieldInfo* info = find_field(std::string(space.name) + '.' + name);
      if (info == nullptr) {
        fault(at(key.source()), "unknown key '" + name + "' in [" + std::string(space.name) + "]", unknown_key_hint(space, name));
        continue;
      }
      FieldValue value;
      bool typed = true;
      if (const auto* text = node.as_string()) {
        value = text->get();
      } else if (const auto* number = node.as_integer()) {
        value = number->get();
      } else if (const auto* boolean = node.as_boolean()) {
        value = boolean->get();
      } else {
        typed = false;
      }
      Result<void> good = typed ? check(*info, value) : Result<void>(Error{});
      if (good) {
        out_.settings.emplace_back(at(node.source()), info->path, std::move(value));
        continue;
      }
      std::string message = typed ? good.error().message
                                  : "expected " + info->expectation() + " for " + info->path + ", found " +
                                        (info->attributes.secret ? "something else" : type_text(node));
      std::string hint;
      if (const auto* text = node.as_string(); text != nullptr && !info->choices().empty()) {
        const auto choices = info->choices();
        hint = did_you_mean(nearest(text->get(), std::vector<std::string>(choices.begin(), choices.end())));
      } else if (text != nullptr && info->type != FieldType::text && config::parse(*info, text->get()).ok()) {
        hint = "write it without quotes";
      } else if (text == nullptr && info->type == FieldType::text && typed) {
        hint = "write it in quotes";
      }
      fault(at(node.source()), std::move(message), std::move(hint)).fields = {info->id};
    }
  }

  static std::string unknown_key_hint(const NamespaceInfo& space, const std::string& name) {
    std::vector<std::string> here, everywhere;
    for (const FieldInfo& info : fields()) {
      if (info.space == space.space) here.emplace_back(info.key);
      everywhere.emplace_back(info.key);
    }
    if (const std::string near = nearest(name, here); !near.empty()) return did_you_mean(near);
    if (const FieldInfo* other = find_field(nearest(name, everywhere))) {
      return "did you mean '" + std::string(other->key) + "' in [" + std::string(other->space_name) + "]?";
    }
    std::string hint = "the keys of [" + std::string(space.name) + "] are";
    for (size_t i = 0; i < here.size(); ++i) hint += (i == 0 ? " " : ", ") + here[i];
    return hint;
  }

  void read_plugins(const toml::table& table) {
    for (const auto& [key, node] : table) {
      if (key.str() != "paths") {
        fault(at(key.source()), "unknown key '" + std::string(key.str()) + "' in [plugins]", "the only key of [plugins] is 'paths'");
        continue;
      }
      const std::optional<OptionValue> value = option_value(node);
      const auto* paths = value ? std::get_if<std::vector<std::string>>(&*value) : nullptr;
      if (paths == nullptr) {
        fault(at(node.source()), "expected an array of folders, [\"…\"], for plugins.paths, found " + type_text(node));
        continue;
      }
      out_.plugin_paths = *paths;
      out_.plugin_paths_origin = at(node.source());
    }
  }

  void read_drafters(const toml::table& table) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (!node.is_table()) {
        fault(at(node.source()), "expected a table, [drafter." + name + "], found " + type_text(node));
      } else {
        read_drafter(name, at(key.source()), *node.as_table());
      }
    }
  }

  void read_drafter(const std::string& name, Origin origin, const toml::table& table) {
    DrafterTable drafter;
    drafter.name = name;
    drafter.origin = std::move(origin);
    const std::string title = "drafter." + name;
    for (const auto& [key, node] : table) {
      const std::string option(key.str());
      if (option == "library") {
        if (!node.is_string() || node.as_string()->get().empty()) {
          fault(at(node.source()), "expected the plugin's file for " + title + ".library, found " + type_text(node));
          continue;
        }
        drafter.library = node.as_string()->get();
        drafter.library_origin = at(node.source());
      } else if (option == "corpora") {
        read_corpora(title, drafter, node);
      } else if (std::optional<OptionValue> value = option_value(node)) {
        drafter.options.push_back({option, std::move(*value), at(node.source())});
      } else {
        fault(at(node.source()), "expected a boolean, an integer, a finite number, a text or an array of texts for " + title + '.' +
                                     option + ", found " + type_text(node));
      }
    }
    const auto place = [](const auto& item) { return std::pair(item.origin.line, item.origin.column); };
    std::sort(drafter.options.begin(), drafter.options.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    std::sort(drafter.corpora.begin(), drafter.corpora.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); });
    out_.drafters.push_back(std::move(drafter));
  }

  void read_corpora(const std::string& title, DrafterTable& drafter, const toml::node& node) {
    if (!node.is_table()) {
      fault(at(node.source()), "expected a table of name = \"file\", [" + title + ".corpora], found " + type_text(node));
      return;
    }
    for (const auto& [name, file] : *node.as_table()) {
      if (!file.is_string() || file.as_string()->get().empty()) {
        fault(at(file.source()), "expected a file for " + title + ".corpora." + std::string(name.str()) + ", found " + type_text(file));
        continue;
      }
      drafter.corpora.push_back({std::string(name.str()), file.as_string()->get(), at(file.source())});
    }
  }

  const std::string& name_;
  std::string_view text_;
  FileContents out_;
};

}  // namespace

Result<std::string> read_file(const std::string& name) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(name.c_str(), "rb"), std::fclose);
  if (!file) return Error{std::string("expected a TOML file, found none that can be opened: ") + std::strerror(errno)};
  std::string text;
  char buffer[65536];
  while (const size_t got = std::fread(buffer, 1, sizeof buffer, file.get())) {
    text.append(buffer, got);
    if (text.size() > kMostBytes) return Error{"expected a configuration of at most 16 MiB, found a larger file"};
  }
  if (std::ferror(file.get()) != 0)
    return Error{std::string("expected a TOML file, found one that cannot be read: ") + std::strerror(errno)};
  return text;
}

FileContents read_toml(const std::string& name, std::string_view text) { return Reader(name, text).read(); }

OptionValue parse_option(std::string_view text) {
  try {
    const toml::table table = toml::parse("value = " + std::string(text));
    if (table.size() == 1) {
      if (std::optional<OptionValue> value = option_value(*table.get("value"))) return *std::move(value);
    }
  } catch (const toml::parse_error&) {  // not TOML: a plain text, as a shell user writes it
  }
  return std::string(text);
}

}  // namespace outrider::config
