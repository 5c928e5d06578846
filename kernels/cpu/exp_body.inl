// exp of sixteen lanes, and the soft cap that is made of it; included by the other bodies after one of the lanes_*.hpp.
namespace outrider::kernels {
namespace {

// The operations of exp_scalar in their order. A NaN comes through: every comparison with it is false, and its 2^n is 2^0.
[[maybe_unused]] inline Lanes exp(Lanes x) {
  using namespace exp_constants;
  const Lanes shifted = fused(x, splat(kLog2E), splat(kRound));
  const Lanes n = subtract(shifted, splat(kRound));
  Lanes r = fused(n, splat(-kLn2High), x);
  r = fused(n, splat(-kLn2Low), r);
  Lanes p = splat(kC6);
  p = fused(p, r, splat(kC5));
  p = fused(p, r, splat(kC4));
  p = fused(p, r, splat(kC3));
  p = fused(p, r, splat(kC2));
  p = fused(p, r, splat(1.0f));
  p = fused(p, r, splat(1.0f));
  const Lanes scaled = add_exponent(p, shifted);
  return where_above(x, kHighest, __builtin_inff(), where_below(x, kLowest, 0.0f, scaled));
}

// math.hpp's soft_cap.
[[maybe_unused]] inline Lanes soft_cap(Lanes x, float cap) {
  const Lanes rest = divide(splat(2.0f), add(splat(1.0f), exp(multiply(x, splat(2.0f / cap)))));  // 1 - tanh(x / cap)
  return fused(x, splat(0.0f), multiply(splat(cap), subtract(splat(1.0f), rest)));
}

}  // namespace
}  // namespace outrider::kernels
