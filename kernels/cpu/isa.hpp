// The instruction sets the CPU kernels are built for. Every one of them gives the same bits (design: one numeric law a weight
// type); they differ in speed alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace outrider::kernels {

enum class Isa {
  scalar,       // the specification: plain loops
  avx2,         // AVX2 + FMA + F16C
  avx512,       // AVX-512 F, BW, VL, DQ
  avx512_vnni,  // the same with VNNI
};

std::string_view isa_name(Isa isa);                            // "scalar", "avx2", "avx512", "avx512_vnni"
std::optional<Isa> isa_from_name(std::string_view name);
std::vector<Isa> available_isas();                             // what this processor runs, slowest first; never empty
Isa best_isa();
std::string processor_name();                                  // as the system gives it; "unknown processor" when it does not

}  // namespace outrider::kernels
