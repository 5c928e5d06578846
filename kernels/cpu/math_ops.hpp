// The table of functions that each instruction set's file fills and math.cpp chooses from. Internal to kernels/cpu.
#pragma once

#include <cstdint>

namespace outrider::kernels {

// Signatures and meaning as in math.hpp.
struct MathOps {
  void (*rms_norm)(const float* x, const float* weight, int64_t n, float epsilon, float* out);
  void (*add)(float* x, const float* y, int64_t n);
  void (*silu_multiply)(const float* gate, const float* up, int64_t n, float* out);
  void (*gelu_multiply)(const float* gate, const float* up, int64_t n, float* out);
  void (*soft_cap)(float* x, float cap, int64_t n);
  void (*rope_interleaved)(float* x, int heads, int head_dim, int rotary, const float* table_row);
  void (*rope_halves)(float* x, int heads, int head_dim, int rotary, const float* table_row);
  int64_t (*arg_max)(const float* x, int64_t n);
  float (*max_value)(const float* x, int64_t n);
  float (*sum_exp)(const float* x, int64_t n, float max, float inverse_temperature);
  int64_t (*collect_at_least)(const float* x, int64_t n, float threshold, int32_t* out);
};

extern const MathOps kMathScalar, kMathAvx2, kMathAvx512;

}  // namespace outrider::kernels
