// What each instruction set's peak_<isa>.cpp provides to peak.cpp. Internal to kernels/cpu; declarations only.
#pragma once

#include <cstdint>

namespace outrider::kernels {

// A loop that does nothing but multiply-adds, in registers: run(steps) does steps * per_step of them on the calling thread.
struct PeakLoop {
  void (*run)(int64_t steps);
  int64_t per_step;
};

struct PeakLoops {
  PeakLoop int8, f32;
};

extern const PeakLoops kPeakScalar, kPeakAvx2, kPeakAvx512;
extern const PeakLoop kPeakInt8Avx512Vnni;

}  // namespace outrider::kernels
