// JSON in and out: the input to values, and json.dumps as transformers' tojson calls it.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/jinja_builtins.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

Value from_json(Runtime& rt, const nlohmann::ordered_json& json, int depth) {
  rt.step();
  rt.check_depth(depth);
  using T = nlohmann::ordered_json::value_t;
  switch (json.type()) {
    case T::boolean:
      return Value::boolean(json.get<bool>());
    case T::number_integer:
      return Value::integer(json.get<std::int64_t>());
    case T::number_unsigned:
      return Value::integer(json.get<std::uint64_t>());
    case T::number_float:
      return Value::real(json.get<double>());
    case T::string:
      return rt.string(json.get_ref<const std::string&>());
    case T::array: {
      std::vector<Value> items;
      for (const auto& item : json) items.push_back(from_json(rt, item, depth + 1));
      return rt.list(std::move(items));
    }
    case T::object: {
      const Value out = rt.dict();
      for (const auto& [key, value] : json.items()) out.dict().set(rt, rt.string(key), from_json(rt, value, depth + 1));
      return out;
    }
    default:
      return Value::none();
  }
}

namespace {

class JsonWriter {
 public:
  JsonWriter(Runtime& rt, bool ascii, const std::string* indent, const std::string& item, const std::string& key,
             bool sort)
      : rt_(rt), ascii_(ascii), indent_(indent), item_separator_(item), key_separator_(key), sort_(sort) {}

  void value(const Value& v, int depth) {
    rt_.step();
    if (depth > rt_.limits.depth)
      fail("Circular reference detected, or a value nested deeper than " + std::to_string(rt_.limits.depth) +
           " levels");
    switch (v.kind()) {
      case Kind::none:
        out += "null";
        break;
      case Kind::boolean:
        out += v.boolean() ? "true" : "false";
        break;
      case Kind::integer:
        out += integer_text(v.integer());
        break;
      case Kind::real:
        out += real(v.real());
        break;
      case Kind::string:
        string(v.bytes());
        break;
      case Kind::list:
      case Kind::tuple: {
        const auto& items = v.list().items;
        open('[', items.empty(), depth);
        for (std::size_t i = 0; i < items.size(); ++i) {
          if (i) separate(depth);
          value(items[i], depth + 1);
        }
        close(']', items.empty(), depth);
        break;
      }
      case Kind::dict:
        dict(v, depth);
        break;
      default:
        fail(std::string("Object of type ") + type_name(v) + " is not JSON serializable");
    }
    const std::size_t grown = out.size() - charged_;
    rt_.charge(grown);
    charged_ = out.size();
  }

  std::string out;

 private:
  static std::string real(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return real_text(d);
  }

  void dict(const Value& v, int depth) {
    auto items = v.dict().items;
    if (sort_)
      std::stable_sort(items.begin(), items.end(),
                       [&](const auto& a, const auto& b) { return less(rt_, a.first, b.first); });
    open('{', items.empty(), depth);
    bool first = true;
    for (const auto& [key, item] : items) {
      if (!first) separate(depth);
      first = false;
      switch (key.kind()) {
        case Kind::string:
          string(key.bytes());
          break;
        case Kind::none:
          string("null");
          break;
        case Kind::boolean:
          string(key.boolean() ? "true" : "false");
          break;
        case Kind::integer:
          string(integer_text(key.integer()));
          break;
        case Kind::real:
          string(real(key.real()));
          break;
        default:
          fail(std::string("keys must be str, int, float, bool or None, not ") + type_name(key));
      }
      out += key_separator_;
      value(item, depth + 1);
    }
    close('}', items.empty(), depth);
  }

  void newline(int depth) {
    out += '\n';
    for (int i = 0; i < depth; ++i) out += *indent_;
  }
  void open(char bracket, bool empty, int depth) {
    out += bracket;
    if (indent_ && !empty) newline(depth + 1);
  }
  void separate(int depth) {
    out += item_separator_;
    if (indent_) newline(depth + 1);
  }
  void close(char bracket, bool empty, int depth) {
    if (indent_ && !empty) newline(depth);
    out += bracket;
  }

  void string(std::string_view text) {
    out += '"';
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      const std::size_t size = code_point_size(text, i);
      switch (c) {
        case '"':
          out += "\\\"";
          break;
        case '\\':
          out += "\\\\";
          break;
        case '\n':
          out += "\\n";
          break;
        case '\r':
          out += "\\r";
          break;
        case '\t':
          out += "\\t";
          break;
        case '\b':
          out += "\\b";
          break;
        case '\f':
          out += "\\f";
          break;
        default:
          if (static_cast<unsigned char>(c) < 0x20 || (ascii_ && c == 0x7F))
            escape(static_cast<unsigned>(c));
          else if (ascii_ && size > 1)
            escape_wide(code_point_at(text, i));
          else
            out.append(text.substr(i, size));
      }
      i += size;
    }
    out += '"';
  }
  void escape_wide(char32_t c) {
    if (c < 0x10000) return escape(static_cast<unsigned>(c));
    escape(0xD800 + static_cast<unsigned>((c - 0x10000) >> 10));
    escape(0xDC00 + static_cast<unsigned>((c - 0x10000) & 0x3FF));
  }
  void escape(unsigned code) {
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "\\u%04x", code);
    out += buffer;
  }

  Runtime& rt_;
  const bool ascii_;
  const std::string* const indent_;
  const std::string &item_separator_, &key_separator_;
  const bool sort_;
  std::size_t charged_ = 0;
};

}  // namespace

std::string to_json(Runtime& rt, const Value& v, bool ensure_ascii, const std::string* indent,
                    const std::string& item_separator, const std::string& key_separator, bool sort_keys) {
  JsonWriter writer(rt, ensure_ascii, indent, item_separator, key_separator, sort_keys);
  writer.value(v, 0);
  return std::move(writer.out);
}

}  // namespace outrider::text::jinja
