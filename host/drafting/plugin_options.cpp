#include "drafting/plugin_options.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>
#include <vector>

#include "drafting/search.hpp"

namespace outrider::drafting {
namespace {

using config::OptionValue;

bool usable(const outrider_option* option) {
  return OUTRIDER_HAS(outrider_option, option, key) && option->struct_size >= sizeof(outrider_option);
}

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::vector<std::string> choices(const outrider_option& option) {
  std::vector<std::string> all;
  for (const char* const* choice = option.choices; choice != nullptr && *choice != nullptr; ++choice) all.emplace_back(*choice);
  return all;
}

std::string expectation(const outrider_option& option) {
  const std::string unit = option.unit == nullptr ? "" : std::string(" (") + option.unit + ")";
  const std::string range = " from " + number(option.minimum) + " to " + number(option.maximum) + unit;
  switch (option.type) {
    case OUTRIDER_OPTION_BOOL:
      return "true or false";
    case OUTRIDER_OPTION_INT:
      return "an integer" + range;
    case OUTRIDER_OPTION_FLOAT:
      return "a number" + range;
    case OUTRIDER_OPTION_CHOICE: {
      std::string all;
      for (const std::string& choice : choices(option)) all += (all.empty() ? "one of \"" : ", \"") + choice + "\"";
      return all;
    }
    case OUTRIDER_OPTION_PATH:
      return "a path";
    default:
      return "a text";
  }
}

// The value as the option wants it; false when it cannot be.
bool fit(const outrider_option& option, OptionValue& value) {
  switch (option.type) {
    case OUTRIDER_OPTION_BOOL:
      return std::holds_alternative<bool>(value);
    case OUTRIDER_OPTION_INT: {
      const int64_t* whole = std::get_if<int64_t>(&value);
      return whole != nullptr && static_cast<double>(*whole) >= option.minimum && static_cast<double>(*whole) <= option.maximum;
    }
    case OUTRIDER_OPTION_FLOAT: {
      if (const int64_t* whole = std::get_if<int64_t>(&value)) value = static_cast<double>(*whole);
      const double* real = std::get_if<double>(&value);
      return real != nullptr && std::isfinite(*real) && *real >= option.minimum && *real <= option.maximum;
    }
    case OUTRIDER_OPTION_CHOICE: {
      const std::string* text = std::get_if<std::string>(&value);
      if (text == nullptr) return false;
      for (const std::string& choice : choices(option)) {
        if (choice == *text) return true;
      }
      return false;
    }
    case OUTRIDER_OPTION_STRING:
    case OUTRIDER_OPTION_PATH:
      return std::holds_alternative<std::string>(value);
    default:
      return false;
  }
}

// A default's text, as it would be written in TOML without quotes.
bool parse_default(const outrider_option& option, OptionValue& value) {
  const std::string_view text = option.default_text;
  const char* end = text.data() + text.size();
  switch (option.type) {
    case OUTRIDER_OPTION_BOOL:
      value = text == "true";
      return text == "true" || text == "false";
    case OUTRIDER_OPTION_INT: {
      int64_t whole = 0;
      const auto [stop, error] = std::from_chars(text.data(), end, whole);
      value = whole;
      return error == std::errc() && stop == end;
    }
    case OUTRIDER_OPTION_FLOAT: {
      double real = 0;
      const auto [stop, error] = std::from_chars(text.data(), end, real);
      value = real;
      return error == std::errc() && stop == end;
    }
    default:
      value = std::string(text);
      return true;
  }
}

}  // namespace

Result<std::map<std::string, OptionValue>> option_values(std::span<const outrider_option* const> declared,
                                                         const config::DrafterTable* table, const std::string& drafter) {
  std::map<std::string, OptionValue> values;
  std::map<std::string, const outrider_option*> by_key;
  std::vector<std::string> keys;
  std::string faults;
  const auto fault = [&](const std::string& where, const std::string& what) {
    faults += (faults.empty() ? "" : "\n  ") + where + ": " + what;
  };

  for (const outrider_option* option : declared) {
    if (!usable(option)) {
      fault("the plugin's declaration", "an option is incomplete; fill in every field of outrider_option");
      continue;
    }
    by_key[option->key] = option;
    keys.emplace_back(option->key);
    if (option->default_text == nullptr) continue;
    OptionValue value;
    if (parse_default(*option, value) && fit(*option, value))
      values[option->key] = std::move(value);
    else
      fault("the plugin's declaration",
            std::string("the default of ") + option->key + ", '" + option->default_text + "', is not " + expectation(*option));
  }
  if (table != nullptr) {
    for (const config::PluginOption& set : table->options) {
      const auto known = by_key.find(set.key);
      if (known == by_key.end()) {
        const std::string near = config::nearest(set.key, keys);
        std::string all;
        for (const std::string& key : keys) all += (all.empty() ? "" : ", ") + key;
        fault(set.origin.text(), "[drafter." + drafter + "] has no option '" + set.key + "'; " +
                                     (near.empty() ? "its options are: " + (all.empty() ? "none" : all) : "did you mean '" + near + "'?"));
        continue;
      }
      OptionValue value = set.value;
      if (!fit(*known->second, value)) {
        fault(set.origin.text(), set.key + ": expected " + expectation(*known->second) + ", found " + config::to_text(set.value));
        continue;
      }
      if (known->second->type == OUTRIDER_OPTION_PATH) value = (folder_of(set.origin) / std::get<std::string>(value)).string();
      values[set.key] = std::move(value);
    }
  }
  for (const auto& [key, option] : by_key) {
    if ((option->flags & OUTRIDER_OPTION_REQUIRED) != 0 && !values.contains(key)) {
      fault("[drafter." + drafter + "]", "option '" + key + "' must be set: " + expectation(*option));
    }
  }
  if (!faults.empty()) return Error{faults};
  return values;
}

}  // namespace outrider::drafting
