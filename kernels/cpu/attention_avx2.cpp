// attention.hpp's two phases for AVX2, FMA and F16C.
#include "kernels/cpu/lanes_avx2.hpp"

#include "kernels/cpu/attention_ops.hpp"
#include "kernels/cpu/exp_constants.hpp"

#include "kernels/cpu/exp_body.inl"
#include "kernels/cpu/attention_body.inl"

namespace outrider::kernels {

constexpr AttentionOps kAttentionAvx2 = kOps;

}  // namespace outrider::kernels
