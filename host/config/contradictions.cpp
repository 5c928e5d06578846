// Pairs of fields whose values exclude each other. One row a rule.
#include "config/fields.hpp"

namespace outrider::config {
namespace {

struct Rule {
  FieldId first, second;
  bool (*broken)(const Namespaces&);
  const char* message;
};

bool foreign(const std::string& backend, const std::string& device) { return backend != "auto" && backend != device; }

constexpr Rule kRules[] = {
    {FieldId::algorithm, FieldId::require_drafter, [](const Namespaces& n) { return n.spec.require_drafter && n.spec.algorithm == "none"; },
     "spec.require_drafter asks for a drafter, and spec.algorithm is \"none\""},
    {FieldId::draft_tokens, FieldId::draft_depth, [](const Namespaces& n) { return n.spec.draft_depth > n.spec.draft_tokens; },
     "spec.draft_depth is more than spec.draft_tokens: a branch cannot be longer than the draft"},
    {FieldId::max_batch_rows, FieldId::draft_tokens,
     [](const Namespaces& n) { return n.spec.algorithm != "none" && n.spec.draft_tokens >= n.schedule.max_batch_rows; },
     "spec.draft_tokens and the token they follow do not fit in schedule.max_batch_rows"},
    {FieldId::backend, FieldId::ranks, [](const Namespaces& n) { return n.parallel.backend == "none" && n.parallel.ranks > 1; },
     "parallel.ranks is more than 1, and parallel.backend is \"none\""},
    {FieldId::kind, FieldId::backend,
     [](const Namespaces& n) {
       return (n.device.kind == "cpu" && n.parallel.backend == "nccl") || (n.device.kind == "cuda" && n.parallel.backend == "mpi");
     },
     "parallel.backend does not reach device.kind: nccl joins cuda devices, mpi joins cpu devices"},
    {FieldId::kind, FieldId::attention_backend, [](const Namespaces& n) { return foreign(n.exec.attention_backend, n.device.kind); },
     "exec.attention_backend does not run on device.kind"},
    {FieldId::kind, FieldId::prefill_attention_backend,
     [](const Namespaces& n) { return foreign(n.exec.prefill_attention_backend.value_or("auto"), n.device.kind); },
     "exec.prefill_attention_backend does not run on device.kind"},
    {FieldId::kind, FieldId::decode_attention_backend,
     [](const Namespaces& n) { return foreign(n.exec.decode_attention_backend.value_or("auto"), n.device.kind); },
     "exec.decode_attention_backend does not run on device.kind"},
    {FieldId::draft_device, FieldId::draft_attention_backend,
     [](const Namespaces& n) {
       return foreign(n.spec.draft_attention_backend.value_or("auto"), n.spec.draft_device.value_or(n.device.kind));
     },
     "spec.draft_attention_backend does not run on the draft's device"},
};

}  // namespace

std::vector<Contradiction> contradictions(const Namespaces& namespaces) {
  std::vector<Contradiction> found;
  for (const Rule& rule : kRules) {
    if (rule.broken(namespaces)) found.push_back({rule.first, rule.second, rule.message});
  }
  return found;
}

}  // namespace outrider::config
