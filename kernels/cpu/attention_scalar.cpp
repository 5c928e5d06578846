// attention.hpp's two phases for any x86-64 processor.
#include "kernels/cpu/lanes_scalar.hpp"

#include "kernels/cpu/attention_ops.hpp"
#include "kernels/cpu/exp_constants.hpp"

#include "kernels/cpu/exp_body.inl"
#include "kernels/cpu/attention_body.inl"

namespace outrider::kernels {

constexpr AttentionOps kAttentionScalar = kOps;

}  // namespace outrider::kernels
