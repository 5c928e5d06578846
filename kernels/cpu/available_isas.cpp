// Which instruction sets this processor runs. A file of its own: tests link another in its place (tests/unit/kernels/emulated_isas.cpp).
#include "kernels/cpu/isa.hpp"

namespace outrider::kernels {

std::vector<Isa> available_isas() {
  std::vector<Isa> isas{Isa::scalar};
  // The builtin also asks whether the operating system saves the wide registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !__builtin_cpu_supports("f16c")) return isas;
  isas.push_back(Isa::avx2);
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512dq"))
    return isas;
  isas.push_back(Isa::avx512);
  if (__builtin_cpu_supports("avx512vnni")) isas.push_back(Isa::avx512_vnni);
  return isas;
}

}  // namespace outrider::kernels
