#include "cli/questions.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "cli/input.hpp"
#include "cli/jsonl.hpp"

namespace outrider::cli {
namespace {

// Spec-Bench's first subtask is MT-bench, whose questions carry MT-bench's own eight categories.
std::string subtask(const std::string& category) {
  constexpr std::array<std::string_view, 8> kMtBench = {
      "writing", "roleplay", "reasoning", "math", "coding", "extraction", "stem", "humanities"};
  return std::find(kMtBench.begin(), kMtBench.end(), category) != kMtBench.end() ? "mt_bench" : category;
}

Result<Question> read_question(const std::string& line) {
  OUTRIDER_TRY(const Json object, parse_object(line));
  Question question;
  OUTRIDER_TRY(const std::string category, member<std::string>(object, "category", "a string"));
  question.category = subtask(category);
  OUTRIDER_TRY(question.turns, member<std::vector<std::string>>(object, "turns", "a list of texts"));
  if (question.turns.empty()) return Error{"member \"turns\": expected at least one text, found none"};
  return question;
}

}  // namespace

Result<std::vector<Question>> read_questions(const std::string& path) {
  OUTRIDER_TRY(const std::string text, read_all(path));
  std::istringstream in(text);
  std::vector<Question> questions;
  std::string line;
  for (int64_t number = 1; std::getline(in, line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Result<Question> question = read_question(line);
    if (!question.ok()) return question.error().within(path + ": line " + std::to_string(number));
    questions.push_back(*std::move(question));
  }
  if (questions.empty()) return Error{path + ": expected a question a line, found none"};
  return questions;
}

std::vector<std::string> categories_of(const std::vector<Question>& questions) {
  std::vector<std::string> names;
  for (const Question& question : questions) {
    if (std::find(names.begin(), names.end(), question.category) == names.end()) names.push_back(question.category);
  }
  return names;
}

std::vector<Question> choose_evenly(const std::vector<Question>& questions, size_t limit) {
  if (limit == 0 || limit >= questions.size()) return questions;
  const std::vector<std::string> names = categories_of(questions);
  std::vector<std::vector<size_t>> members(names.size());  // indices into questions
  for (size_t i = 0; i < questions.size(); ++i) {
    members[static_cast<size_t>(std::find(names.begin(), names.end(), questions[i].category) - names.begin())].push_back(i);
  }
  std::vector<size_t> share(names.size(), 0);
  for (size_t left = limit, c = 0; left > 0; c = (c + 1) % names.size()) {
    if (share[c] < members[c].size()) ++share[c], --left;
  }
  std::vector<size_t> chosen;
  for (size_t c = 0; c < names.size(); ++c) {
    for (size_t i = 0; i < share[c]; ++i) chosen.push_back(members[c][i * members[c].size() / share[c]]);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<Question> result;
  for (const size_t i : chosen) result.push_back(questions[i]);
  return result;
}

}  // namespace outrider::cli
