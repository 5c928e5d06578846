// Filters whose subject is text. Most take anything and work on str(it), as Jinja's do.
#include "text/jinja_builtins.hpp"
#include "text/jinja_interpreter.hpp"
#include "text/jinja_unicode.hpp"

namespace outrider::text::jinja {

namespace {

Value soft_string(Interpreter& in, const Value& v) { return v.is(Kind::string) ? v : in.rt.string(to_text(in.rt, v)); }

template <std::string (*Convert)(std::string_view)>
Value converted(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "this filter", {});
  const Value text = soft_string(in, subject);
  in.rt.step(1 + text.bytes().size() / 16);
  return in.rt.string(Convert(text.bytes()), text.safe());
}

// Not str.title(): only a space, a hyphen or an opening bracket starts a word, so "it's" gives "It's".
std::string title_words(std::string_view text) {
  const auto starts_word = [](char32_t c) {
    return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
  };
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    const bool between = starts_word(code_point_at(text, i));
    while (end < text.size() && starts_word(code_point_at(text, end)) == between) end += code_point_size(text, end);
    const std::string_view run = text.substr(i, end - i);
    const std::size_t first = code_point_size(run, 0);
    out += to_upper(run.substr(0, first));
    out += to_lower(run.substr(first));
    i = end;
  }
  return out;
}

Value title(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "title", {});
  return in.rt.string(title_words(to_text(in.rt, subject)));
}

Value trim(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "trim", {"chars"});
  Arguments chars;
  if (b.given(0)) chars.positional.push_back(b[0]);
  return call_string_method(in, soft_string(in, subject), "strip", chars);
}

Value center(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "center", {"width"});
  return call_string_method(in, soft_string(in, subject), "center", {{b.get(0, Value::integer(80))}, {}});
}

Value replace(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "replace", {"old", "new", "count"}, 2);
  const auto text = [&](const Value& v) { return in.rt.string(to_text(in.rt, v)); };
  Arguments plain;
  plain.positional = {text(b[0]), text(b[1])};
  if (b.given(2) && !b[2].is(Kind::none)) plain.positional.push_back(b[2]);
  return call_string_method(in, text(subject), "replace", plain);
}

Value indent(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "indent", {"width", "first", "blank"});
  if (subject.is(Kind::undefined)) fail(subject.undefined_message());
  if (!subject.is(Kind::string)) fail(std::string("indent expected a string, got '") + type_name(subject) + "'");
  std::string indention(4, ' ');
  if (b.given(0) && b[0].is(Kind::string)) {
    indention = b[0].bytes();
  } else if (b.given(0)) {
    const Int width = b.integer(0, 4);
    if (width > 1'000'000) fail("indent by more than 1000000 is not supported");
    indention.assign(width > 0 ? static_cast<std::size_t>(width) : 0, ' ');
  }
  const bool blank = b.truth(2, false);
  const std::string text = subject.bytes() + "\n";
  std::string out = b.truth(1, false) ? indention : "";
  bool first = true;
  for (const std::string_view line : split_lines(text, false)) {
    if (!first) {
      out += '\n';
      if (blank || !line.empty()) out += indention;
    }
    first = false;
    out += line;
    in.rt.charge(line.size() + indention.size());
  }
  return in.rt.string(std::move(out), subject.safe());
}

Value format(Interpreter& in, const Value& subject, const Arguments& arguments) {
  if (!arguments.positional.empty() && !arguments.named.empty())
    fail("can't handle positional and keyword arguments at the same time");
  if (arguments.named.empty()) return format_printf(in, soft_string(in, subject), in.rt.tuple(arguments.positional));
  const Value named = in.rt.dict();
  for (const auto& [name, value] : arguments.named) named.dict().set(in.rt, in.rt.string(name), value);
  return format_printf(in, soft_string(in, subject), named);
}

Value string(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "string", {});
  return soft_string(in, subject);
}

Value safe(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "safe", {});
  return in.rt.string(to_text(in.rt, subject), true);
}

Value escape(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "escape", {});
  return subject.safe() ? subject : in.rt.string(escape_html(to_text(in.rt, subject)), true);
}

Value force_escape(Interpreter& in, const Value& subject, const Arguments& arguments) {
  const Bound b(arguments, "forceescape", {});
  return in.rt.string(escape_html(to_text(in.rt, subject)), true);
}

}  // namespace

std::vector<FilterEntry> text_filters() {
  return {{"upper", converted<to_upper>},
          {"lower", converted<to_lower>},
          {"capitalize", converted<capitalize>},
          {"title", title},
          {"trim", trim},
          {"center", center},
          {"replace", replace},
          {"indent", indent},
          {"format", format},
          {"string", string},
          {"safe", safe},
          {"escape", escape},
          {"e", escape},
          {"forceescape", force_escape}};
}

}  // namespace outrider::text::jinja
