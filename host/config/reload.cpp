#include "config/reload.hpp"

#include <filesystem>

namespace outrider::config {
namespace {

// A pipe that was read at the start is empty now, and would silently set everything back to its default.
Result<void> check_readable_again(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code unknown;
    if (std::filesystem::is_fifo(file, unknown) || std::filesystem::is_socket(file, unknown)) {
      return Error{file + ": expected a file that can be read again, found a pipe; give --config a regular file"};
    }
  }
  return {};
}

}  // namespace

std::string ReloadReport::text() const {
  const auto list = [](const std::vector<std::string>& paths) {
    std::string text;
    for (const std::string& path : paths) text += (text.empty() ? "" : ", ") + path;
    return text;
  };
  std::string text = applied.empty() ? "reload: nothing to apply" : "reload: applied " + list(applied);
  if (!restart.empty()) text += "; changed, and need a restart: " + list(restart);
  return text;
}

Reloader::Reloader(RuntimeContext& context, Sources sources) : context_(context), sources_(std::move(sources)), loaded_(*context.args()) {}

Result<ReloadReport> Reloader::reload() {
  const std::lock_guard lock(mutex_);
  static constexpr const char* kRefused = "reload: nothing was changed";
  if (const auto readable = check_readable_again(sources_.command_line.files); !readable) return readable.error().within(kRefused);
  Result<ServerArgs> loaded = load(sources_);
  if (!loaded) return loaded.error().within(kRefused);

  ReloadReport report;
  std::vector<Assignment> changes;
  for (const FieldInfo& info : fields()) {
    const FieldValue wanted = get(loaded->values(), info.id);
    if (!info.attributes.reloadable) {
      // Against what the process was started with: a change that is taken back needs no restart any more.
      if (wanted != get(context_.args()->values(), info.id)) report.restart.push_back(info.path);
    } else if (wanted != get(loaded_.values(), info.id)) {
      report.applied.push_back(info.path);
      changes.push_back({info.path, wanted});
    }
  }
  for (std::string& one : plugin_changes(*context_.args(), *loaded)) report.restart.push_back(std::move(one));
  if (const auto written = context_.override("reload", changes); !written) return written.error().within(kRefused);
  loaded_ = *std::move(loaded);
  return report;
}

}  // namespace outrider::config
