// The constants of this project's exp, shared by the scalar function and the vector ones. exp(x) = 2^n p(r), with n the integer
// nearest x / ln 2, r = x - n ln 2 in two fused steps, and p the polynomial of degree 6 with p(0) = p'(0) = 1 whose largest
// relative error on |r| <= ln 2 / 2 is least (3.1e-9, found by the Remez exchange before the coefficients were rounded to float).
#pragma once

namespace outrider::kernels::exp_constants {

inline constexpr float kLog2E = 0x1.715476p+0f;
inline constexpr float kRound = 0x1.8p+23f;           // x + kRound rounds to an integer, which is then in the low bits
inline constexpr float kLn2High = 0x1.62e43p-1f;
inline constexpr float kLn2Low = -0x1.05c61p-29f;
inline constexpr float kC2 = 0x1.fffffcp-2f;
inline constexpr float kC3 = 0x1.555492p-3f;
inline constexpr float kC4 = 0x1.5558f2p-5f;
inline constexpr float kC5 = 0x1.123a2p-7f;
inline constexpr float kC6 = 0x1.6a23dp-10f;
inline constexpr float kLowest = -87.3f;              // below: 0. Above, the result is a normal number and 2^n can be added to its exponent
inline constexpr float kHighest = 88.7f;              // above: infinity

// gelu(z) = z / (1 + exp(-z (a + b z^2))), the tanh form rewritten: a = 2 sqrt(2 / pi), b = 0.044715 a.
inline constexpr float kGeluA = 1.5957691216057308f;
inline constexpr float kGeluB = 0.07135481627260025f;

}  // namespace outrider::kernels::exp_constants
