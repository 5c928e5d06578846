// `outrider models`: the models this project knows by name and those in the cache folder.

#include <spdlog/fmt/fmt.h>
#include <toml++/toml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/jsonl.hpp"
#include "cli/shared_file.hpp"
#include "cli/terminal.hpp"
#include "scheduler/runtime.hpp"

namespace outrider::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModelsFooter =
    "A model goes by its name here or by its file's path (--model). scripts/fetch-model NAME fetches one.\n"
    "Examples:\n"
    "  outrider models\n"
    "  outrider models --json";

struct KnownModel {
  std::string name;
  std::string file;     // empty: not here
  uintmax_t bytes = 0;
  std::string licence;  // empty: not in the table
  std::string about;
};

Result<std::vector<KnownModel>> read_table(const fs::path& path) {
  std::vector<KnownModel> models;
  if (path.empty()) return models;
  try {
    const toml::table table = toml::parse_file(path.string());
    const toml::table* entries = table["models"].as_table();
    if (entries == nullptr) return Error{path.string() + ": expected tables [models.NAME], found none; is it the right file?"};
    for (const auto& [key, node] : *entries) {
      const toml::table* entry = node.as_table();
      if (entry == nullptr) continue;
      const auto text = [entry](const char* name) { return (*entry)[name].value_or(std::string()); };
      models.push_back({std::string(key.str()), {}, 0, text("licence"), text("about")});
    }
  } catch (const toml::parse_error& error) {
    return Error{path.string() + ": line " + std::to_string(error.source().begin.line) + ": " + std::string(error.description())};
  }
  return models;
}

// Fills in the files that are here, and adds the ones in the cache folder that no table names.
void find_files(std::vector<KnownModel>& models, const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".gguf") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    const std::string name = file.stem().string();
    auto it = std::find_if(models.begin(), models.end(), [&](const KnownModel& model) { return model.name == name; });
    if (it == models.end()) it = models.insert(models.end(), {name, {}, 0, {}, "in the cache folder"});
    it->file = file.string();
    it->bytes = fs::file_size(file, error);
  }
}

int list_models(bool json) {
  auto models = read_table(shared_file("models.toml"));
  if (!models.ok()) return fail(models.error());
  const fs::path folder = scheduler::models_folder();
  find_files(*models, folder);
  if (json) {
    Json list = Json::array();
    for (const KnownModel& model : *models) {
      const bool here = !model.file.empty();
      list.push_back({{"name", model.name},
                      {"file", here ? Json(model.file) : Json(nullptr)},
                      {"bytes", here ? Json(model.bytes) : Json(nullptr)},
                      {"licence", model.licence.empty() ? Json(nullptr) : Json(model.licence)},
                      {"about", model.about}});
    }
    print(to_line(list) + "\n");
    return kOk;
  }
  size_t width = 4;
  for (const KnownModel& model : *models) width = std::max(width, model.name.size());
  print(fmt::format("{:{}}  {:>8}  {:18}  {}\n", "NAME", width, "HERE", "LICENCE", "ABOUT"));
  for (const KnownModel& model : *models) {
    const std::string here = model.file.empty() ? "no" : fmt::format("{:.0f} MB", static_cast<double>(model.bytes) / 1e6);
    print(fmt::format("{:{}}  {:>8}  {:18}  {}\n", model.name, width, here, model.licence.empty() ? "-" : model.licence, model.about));
  }
  print("files are in " + folder.string() + "; scripts/fetch-model NAME fetches a missing one\n");
  return kOk;
}

}  // namespace

void add_models(CLI::App& app, Command& chosen) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("models", "List the models known by name and those that are here");
  command->footer(kModelsFooter);
  command->add_flag("--json", *json, "Print a JSON list");
  command->callback([json, &chosen] { chosen = [json] { return list_models(*json); }; });
}

}  // namespace outrider::cli
