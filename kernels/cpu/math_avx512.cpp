// math.hpp's operations for AVX-512 F, BW, VL and DQ.
#include "kernels/cpu/lanes_avx512.hpp"

#include "kernels/cpu/exp_constants.hpp"
#include "kernels/cpu/math_ops.hpp"

#include "kernels/cpu/exp_body.inl"
#include "kernels/cpu/math_body.inl"

namespace outrider::kernels {

constexpr MathOps kMathAvx512 = kOps;

}  // namespace outrider::kernels
