// Questions in Spec-Bench's form (arXiv 2401.07851): a JSON object a line, {"question_id", "category", "turns": [text, …]}.
// Choosing some of them is deterministic, so that two machines measure the same questions.
#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"

namespace outrider::cli {

struct Question {
  std::string category;  // Spec-Bench's own; MT-bench's eight are one: "mt_bench"
  std::vector<std::string> turns;
};

// Errors name the line.
Result<std::vector<Question>> read_questions(const std::string& path);

// The categories in the order in which they first appear.
std::vector<std::string> categories_of(const std::vector<Question>& questions);

// `limit` of the questions (all when 0), as evenly over the categories as they allow, and within a category evenly over its
// questions; in the file's order. The same file and limit give the same choice.
std::vector<Question> choose_evenly(const std::vector<Question>& questions, size_t limit);

}  // namespace outrider::cli
