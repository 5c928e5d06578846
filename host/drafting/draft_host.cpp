#include "drafting/draft_host.hpp"

#include "config/runtime_context.hpp"
#include "drafting/hand_over.hpp"
#include "drafting/registry.hpp"

namespace outrider::drafting {

Result<std::unique_ptr<Drafter>> make_drafter(config::RuntimeContext& context, const std::string& name, const TargetInfo& target,
                                              const Tokenize& tokenize) {
  const Registry registry = registry_of(*context.args());
  OUTRIDER_TRY(const Registry::Item* item, registry.find(name));
  return item->factory(HandOver{context, name, target, tokenize});
}

Result<std::string> find_drafter(const config::ServerArgs& args, const std::string& name) {
  if (name == "none") return Error{"drafter 'none': it stands for plain decoding, which has no configuration of its own; name a drafter"};
  const Registry registry = registry_of(args);
  OUTRIDER_TRY(const Registry::Item* item, registry.find(name));
  return item->library.string();
}

}  // namespace outrider::drafting
