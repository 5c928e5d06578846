#include "config/server_args.hpp"

#include <algorithm>

namespace outrider::config {

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

}  // namespace outrider::config
