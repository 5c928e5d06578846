// Takes the place of kernels/cpu/available_isas.cpp in tests of emulated kernels: names those in EMULATED_ISAS alone.
#include "kernels/cpu/isa.hpp"

namespace outrider::kernels {

std::vector<Isa> available_isas() {
  // The emulation is made of AVX2.
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) return {Isa::scalar};
  return {EMULATED_ISAS};
}

}  // namespace outrider::kernels
