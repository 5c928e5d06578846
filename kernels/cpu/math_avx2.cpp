// math.hpp's operations for AVX2, FMA and F16C.
#include "kernels/cpu/lanes_avx2.hpp"

#include "kernels/cpu/exp_constants.hpp"
#include "kernels/cpu/math_ops.hpp"

#include "kernels/cpu/exp_body.inl"
#include "kernels/cpu/math_body.inl"

namespace outrider::kernels {

constexpr MathOps kMathAvx2 = kOps;

}  // namespace outrider::kernels
