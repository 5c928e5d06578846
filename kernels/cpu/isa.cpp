#include "kernels/cpu/isa.hpp"

#include <fstream>

namespace outrider::kernels {

std::string_view isa_name(Isa isa) {
  switch (isa) {
    case Isa::scalar: return "scalar";
    case Isa::avx2: return "avx2";
    case Isa::avx512: return "avx512";
    case Isa::avx512_vnni: return "avx512_vnni";
  }
  return "unknown";
}

std::optional<Isa> isa_from_name(std::string_view name) {
  for (const Isa isa : {Isa::scalar, Isa::avx2, Isa::avx512, Isa::avx512_vnni})
    if (isa_name(isa) == name) return isa;
  return std::nullopt;
}

Isa best_isa() {
  static const Isa best = available_isas().back();
  return best;
}

std::string processor_name() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    if (const size_t colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

}  // namespace outrider::kernels
