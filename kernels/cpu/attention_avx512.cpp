// attention.hpp's two phases for AVX-512 F, BW, VL and DQ.
#include "kernels/cpu/lanes_avx512.hpp"

#include "kernels/cpu/attention_ops.hpp"
#include "kernels/cpu/exp_constants.hpp"

#include "kernels/cpu/exp_body.inl"
#include "kernels/cpu/attention_body.inl"

namespace outrider::kernels {

constexpr AttentionOps kAttentionAvx512 = kOps;

}  // namespace outrider::kernels
