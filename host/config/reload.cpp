#include "config/reload.hpp"

namespace outrider::config {

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
  Result<ServerArgs> loaded = load(sources_);
  if (!loaded) return loaded.error().within("reload: nothing was changed");

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
  OUTRIDER_CHECK(context_.override("reload", changes));
  loaded_ = *std::move(loaded);
  return report;
}

}  // namespace outrider::config
