// math.hpp's operations for any x86-64 processor.
#include "kernels/cpu/lanes_scalar.hpp"

#include "kernels/cpu/exp_constants.hpp"
#include "kernels/cpu/math_ops.hpp"

#include "kernels/cpu/exp_body.inl"
#include "kernels/cpu/math_body.inl"

namespace outrider::kernels {

constexpr MathOps kMathScalar = kOps;

}  // namespace outrider::kernels
