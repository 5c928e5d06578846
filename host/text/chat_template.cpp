#include "text/chat_template.hpp"

#include "text/jinja_interpreter.hpp"
#include "text/jinja_parser.hpp"

namespace outrider::text {

namespace {

Error as_error(const jinja::TemplateError& error) {
  if (error.at.line == 0) return {"chat template: " + error.message};
  return {"chat template, line " + std::to_string(error.at.line) + ", column " + std::to_string(error.at.column) +
          ": " + error.message};
}

}  // namespace

Result<ChatTemplate> ChatTemplate::parse(std::string source) {
  try {
    return ChatTemplate(std::make_shared<const jinja::Template>(jinja::Parser(jinja::tokenize(source)).parse()));
  } catch (const jinja::TemplateError& error) {
    return as_error(error);
  }
}

Result<std::string> ChatTemplate::render(const nlohmann::ordered_json& input) const {
  try {
    return jinja::Interpreter(*parsed_, jinja::Limits{}).render(input);
  } catch (const jinja::TemplateError& error) {
    return as_error(error);
  }
}

}  // namespace outrider::text
