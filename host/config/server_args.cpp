#include "config/server_args.hpp"

#include <algorithm>
#include <set>

namespace outrider::config {
namespace {

template <class T, class Equal>
bool same_set(const std::vector<T>& a, const std::vector<T>& b, const Equal& equal) {
  return a.size() == b.size() && std::all_of(a.begin(), a.end(), [&](const T& one) {
           return std::any_of(b.begin(), b.end(), [&](const T& other) { return equal(one, other); });
         });
}

}  // namespace

std::string Origin::text() const {
  switch (kind) {
    case Kind::default_value:
      return "default";
    case Kind::file:
      return where + ':' + std::to_string(line) + ':' + std::to_string(column);
    case Kind::environment:
      return "environment " + where;
    case Kind::option:
      return "option " + where;
    case Kind::pass:
      return "pass " + where;
    case Kind::override_:
      return "override " + where;
    case Kind::draft_copy:
      return "draft copy: " + where;
  }
  return {};
}

ServerArgs::ServerArgs() {
  history_.reserve(fields().size());
  for (const FieldInfo& info : fields()) history_.push_back({{Origin{}, get(values_, info.id)}});
}

const DrafterTable* ServerArgs::drafter(std::string_view name) const {
  const auto found = std::find_if(drafters.begin(), drafters.end(), [&](const DrafterTable& table) { return table.name == name; });
  return found == drafters.end() ? nullptr : &*found;
}

Result<ServerArgs> ServerArgs::derive(const std::vector<Write>& writes) const {
  ServerArgs next = *this;
  for (const Write& write : writes) {
    const FieldInfo* info = find_field(write.field);
    if (info == nullptr) return Error{write.origin.text() + ": there is no field '" + write.field + "'"};
    if (auto good = check(*info, write.value); !good) return good.error().within(write.origin.text());
    set(next.values_, info->id, write.value);
    next.history_[static_cast<size_t>(info->id)].push_back({write.origin, write.value});
  }
  return next;
}

bool equal_settings(const DrafterTable& a, const DrafterTable& b) {
  return a.name == b.name && a.library == b.library &&
         same_set(a.options, b.options, [](const auto& x, const auto& y) { return x.key == y.key && x.value == y.value; }) &&
         same_set(a.corpora, b.corpora, [](const auto& x, const auto& y) { return x.name == y.name && x.file == y.file; });
}

std::vector<std::string> plugin_changes(const ServerArgs& from, const ServerArgs& to) {
  std::vector<std::string> changed;
  if (from.plugin_paths != to.plugin_paths) changed.emplace_back("plugins.paths");
  std::set<std::string> names;
  for (const ServerArgs* args : {&from, &to}) {
    for (const DrafterTable& table : args->drafters) names.insert(table.name);
  }
  for (const std::string& name : names) {
    const DrafterTable *before = from.drafter(name), *after = to.drafter(name);
    if (before == nullptr || after == nullptr || !equal_settings(*before, *after)) changed.push_back("drafter." + name);
  }
  return changed;
}

}  // namespace outrider::config
