// `generate --jsonl`: a sliding window of requests over the lines of a file, answered in the order of the lines.

#include <deque>
#include <optional>
#include <sstream>

#include "cli/completion_json.hpp"
#include "cli/exit_code.hpp"
#include "cli/generate.hpp"
#include "cli/input.hpp"
#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"

namespace outrider::cli {
namespace {

// One line on its way: in the engine, or answered and waiting for the lines before it.
struct Line {
  int64_t number;  // in the file, from 1
  Json id;         // the line's own "id", given back; null when it has none
  std::optional<uint64_t> request;
  std::vector<scheduler::Completion> completions;
  std::string error;
};

Result<scheduler::Request> make_request(const scheduler::Runtime& runtime, const GenerateOptions& options,
                                        const verify::SamplingParams& defaults, const Json& object) {
  scheduler::Request request;
  OUTRIDER_TRY(request.sampling, with_members(defaults, object));
  if (object.contains("drafter")) {
    OUTRIDER_TRY(request.drafter, member<std::string>(object, "drafter", "a drafter's name"));
  }
  if (object.contains("messages")) {
    OUTRIDER_TRY(const bool chat, uses_template(runtime, PromptForm::chat));
    (void)chat;
    const Json tools = object.contains("tools") ? object["tools"] : Json(nullptr);
    OUTRIDER_TRY(request.prompt, encode_messages(runtime, object["messages"], tools));
    return request;
  }
  OUTRIDER_TRY(const std::string text, member<std::string>(object, "prompt", "a string, or a list \"messages\""));
  OUTRIDER_TRY(request.prompt, encode_prompt(runtime, options.prompt.form(), options.prompt.system, text));
  return request;
}

// Prints a finished line; returns its exit code.
int print_line(const scheduler::Runtime& runtime, const GenerateOptions& options, const Line& line) {
  if (!line.error.empty()) {
    const std::string error = "line " + std::to_string(line.number) + ": " + line.error;
    Json json = {{"error", error}};
    if (!line.id.is_null()) json["id"] = line.id;
    if (options.json) print(to_line(json) + "\n");
    return fail(Error{error});
  }
  for (size_t i = 0; i < line.completions.size(); ++i) {
    const scheduler::Completion& completion = line.completions[i];
    if (!options.json) {
      print("--- line " + std::to_string(line.number) + "\n" + completion.text + "\n");
      continue;
    }
    Json json = completion_json(runtime, completion);
    json["line"] = line.number;
    if (line.completions.size() > 1) json["index"] = i;
    if (!line.id.is_null()) json["id"] = line.id;
    print(to_line(json) + "\n");
  }
  return exit_code(line.completions);
}

}  // namespace

int generate_many(const GenerateOptions& options) {
  if (options.compare_plain) return fail(Error{"--compare-plain: works on one prompt; for a file of them use outrider bench"}, kUsage);
  const InterruptScope interrupts;
  Result<verify::SamplingParams> sampling = sampling_params(options.sampling);
  if (!sampling.ok()) return fail(sampling.error(), kUsage);
  Result<std::string> text = read_all(options.jsonl);
  if (!text.ok()) return fail(text.error());
  auto loaded = load_configuration(options.configuration);
  if (!loaded.ok()) return fail(loaded.error(), kUsage);
  auto args = with_option(**loaded, "--parallel", "schedule.max_running_requests", options.parallel);
  if (!args.ok()) return fail(args.error(), kUsage);
  auto session = open_session(*args, {});
  if (!session.ok()) return fail(session.error());
  const scheduler::Runtime& runtime = (*session)->runtime;
  scheduler::Engine& engine = *runtime.engine;

  std::istringstream in(*text);
  ProgressBar progress(std::count(text->begin(), text->end(), '\n') + (text->empty() || text->back() == '\n' ? 0 : 1));
  std::deque<Line> window;
  std::string source;
  int64_t number = 0, running = 0, tokens = 0;
  int code = kOk;
  bool more = true;
  while ((more && !interrupted()) || !window.empty()) {
    while (more && !interrupted() && running < options.parallel) {
      more = static_cast<bool>(std::getline(in, source));
      ++number;
      if (!more || source.find_first_not_of(" \t\r") == std::string::npos) continue;
      Line line{number, nullptr, std::nullopt, {}, {}};
      Result<Json> object = parse_object(source);
      if (object.ok() && object->contains("id")) line.id = (*object)["id"];
      Result<scheduler::Request> request = object.ok() ? make_request(runtime, options, *sampling, *object) : object.error();
      Result<uint64_t> submitted = request.ok() ? engine.submit(*std::move(request)) : request.error();
      if (submitted.ok()) {
        line.request = *submitted;
        ++running;
      } else {
        line.error = submitted.error().message;
      }
      window.push_back(std::move(line));
    }
    if (interrupted()) {
      for (const Line& line : window) {
        if (line.request) engine.cancel(*line.request);
      }
    }
    engine.step();
    for (Line& line : window) {
      if (!line.request || !engine.finished(*line.request)) continue;
      line.completions = engine.take(*line.request);
      line.request.reset();
      --running;
      for (const scheduler::Completion& completion : line.completions) tokens += static_cast<int64_t>(completion.token_ids.size());
    }
    while (!window.empty() && !window.front().request) {
      progress.wipe();
      if (const int line_code = print_line(runtime, options, window.front()); line_code != kOk) code = line_code;
      window.pop_front();
    }
    progress.show(number - static_cast<int64_t>(window.size()), std::to_string(tokens) + " tokens");
  }
  return interrupted() ? static_cast<int>(kInterrupted) : code;
}

}  // namespace outrider::cli
