// AVX-512 on a processor without it: included before a kernel's own <immintrin.h>, it turns that file's _mm512_ names into functions of
// SIMDe, which do the same lane by lane with AVX2. Below stand the few that SIMDe 0.7.4 lacks or gets wrong, as two AVX2 halves each.
// A name that neither has fails to compile: the compiler's own function of that name may be called only where AVX-512 is switched on.
#pragma once

#if !defined(__AVX2__) || !defined(__FMA__) || !defined(__F16C__) || defined(__AVX512F__)
#error "compile this with -mavx2 -mfma -mf16c and without -mavx512f"
#endif

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <immintrin.h>

// SIMDe would have every function inlined, and the compiler then takes minutes. Called and optimised, however the kernels are compiled.
#define OUTRIDER_CALLED [[gnu::noinline]] static inline
#pragma GCC push_options
#pragma GCC optimize("O2")
#include <simde/simde-common.h>
#undef SIMDE_FUNCTION_ATTRIBUTES
#define SIMDE_FUNCTION_ATTRIBUTES OUTRIDER_CALLED
#include <simde/x86/avx512/abs.h>
#include <simde/x86/avx512/add.h>
#include <simde/x86/avx512/and.h>
#include <simde/x86/avx512/cast.h>
#include <simde/x86/avx512/cmp.h>
#include <simde/x86/avx512/compress.h>
#include <simde/x86/avx512/cvts.h>
#include <simde/x86/avx512/div.h>
#include <simde/x86/avx512/dpbusd.h>
#include <simde/x86/avx512/fmadd.h>
#include <simde/x86/avx512/loadu.h>
#include <simde/x86/avx512/madd.h>
#include <simde/x86/avx512/maddubs.h>
#include <simde/x86/avx512/max.h>
#include <simde/x86/avx512/mov.h>
#include <simde/x86/avx512/mov_mask.h>
#include <simde/x86/avx512/mul.h>
#include <simde/x86/avx512/mullo.h>
#include <simde/x86/avx512/permutex2var.h>
#include <simde/x86/avx512/set1.h>
#include <simde/x86/avx512/setr.h>
#include <simde/x86/avx512/setzero.h>
#include <simde/x86/avx512/slli.h>
#include <simde/x86/avx512/srli.h>
#include <simde/x86/avx512/storeu.h>
#include <simde/x86/avx512/sub.h>
#include <simde/x86/avx512/ternarylogic.h>
#include <simde/x86/avx512/xor.h>

#include <bit>
#include <cstdint>
#include <cstring>

namespace outrider::emulated {
namespace {

struct Floats {
  __m256 half[2];
};  // lanes 0 to 7 and 8 to 15
struct Ints {
  __m256i half[2];
};

inline simde__m512 whole(__m256 low, __m256 high) { return std::bit_cast<simde__m512>(Floats{{low, high}}); }
inline simde__m512i whole(__m256i low, __m256i high) { return std::bit_cast<simde__m512i>(Ints{{low, high}}); }
inline __m256 half(simde__m512 a, int which) { return std::bit_cast<Floats>(a).half[which]; }
inline __m256i half(simde__m512i a, int which) { return std::bit_cast<Ints>(a).half[which]; }

OUTRIDER_CALLED simde__m512 cvtepi32_ps(simde__m512i a) { return whole(_mm256_cvtepi32_ps(half(a, 0)), _mm256_cvtepi32_ps(half(a, 1))); }
OUTRIDER_CALLED simde__m512i cvtps_epi32(simde__m512 a) { return whole(_mm256_cvtps_epi32(half(a, 0)), _mm256_cvtps_epi32(half(a, 1))); }
OUTRIDER_CALLED simde__m512i cvtepi8_epi32(__m128i a) { return whole(_mm256_cvtepi8_epi32(a), _mm256_cvtepi8_epi32(_mm_srli_si128(a, 8))); }
OUTRIDER_CALLED simde__m512i cvtepu8_epi32(__m128i a) { return whole(_mm256_cvtepu8_epi32(a), _mm256_cvtepu8_epi32(_mm_srli_si128(a, 8))); }
OUTRIDER_CALLED simde__m512i cvtepu16_epi32(__m256i a) {
  return whole(_mm256_cvtepu16_epi32(_mm256_castsi256_si128(a)), _mm256_cvtepu16_epi32(_mm256_extracti128_si256(a, 1)));
}
OUTRIDER_CALLED simde__m512 cvtph_ps(__m256i a) {
  return whole(_mm256_cvtph_ps(_mm256_castsi256_si128(a)), _mm256_cvtph_ps(_mm256_extracti128_si256(a, 1)));
}

// SIMDe's leaves -0 as it is.
OUTRIDER_CALLED simde__m512 abs_ps(simde__m512 a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return whole(_mm256_andnot_ps(sign, half(a, 0)), _mm256_andnot_ps(sign, half(a, 1)));
}

template <int kRounding>
OUTRIDER_CALLED __m256i cvtps_ph(simde__m512 a) {
  // AVX2's own takes the rounding alone; it raises flags, which nobody reads.
  constexpr int kMode = kRounding & ~_MM_FROUND_NO_EXC;
  return _mm256_set_m128i(_mm256_cvtps_ph(half(a, 1), kMode), _mm256_cvtps_ph(half(a, 0), kMode));
}

// A masked-off lane's memory is not touched, as AVX-512 promises.
OUTRIDER_CALLED simde__m512 mask_loadu_ps(simde__m512 others, simde__mmask16 mask, const void* p) {
  float lanes[16];
  std::memcpy(lanes, &others, sizeof lanes);
  for (int i = 0; i < 16; ++i)
    if (mask >> i & 1) std::memcpy(&lanes[i], static_cast<const char*>(p) + 4 * i, 4);
  return simde_mm512_loadu_ps(lanes);
}
template <class Vector>
OUTRIDER_CALLED void mask_storeu(void* p, simde__mmask16 mask, Vector a) {
  char lanes[64];
  std::memcpy(lanes, &a, 64);
  for (int i = 0; i < 16; ++i)
    if (mask >> i & 1) std::memcpy(static_cast<char*>(p) + 4 * i, lanes + 4 * i, 4);
}

}  // namespace
}  // namespace outrider::emulated
#pragma GCC pop_options

#undef _mm512_cvtepi32_ps
#undef _mm512_cvtps_epi32
#undef _mm512_cvtepi8_epi32
#undef _mm512_cvtepu8_epi32
#undef _mm512_cvtepu16_epi32
#undef _mm512_cvtph_ps
#undef _mm512_cvtps_ph
#undef _mm512_abs_ps
#undef _mm512_madd_epi16
#undef _mm512_extractf32x8_ps
#undef _mm512_mask_loadu_ps
#undef _mm512_mask_storeu_ps
#undef _mm512_mask_storeu_epi32
#define _mm512_cvtepi32_ps(a) outrider::emulated::cvtepi32_ps(a)
#define _mm512_cvtps_epi32(a) outrider::emulated::cvtps_epi32(a)
#define _mm512_cvtepi8_epi32(a) outrider::emulated::cvtepi8_epi32(a)
#define _mm512_cvtepu8_epi32(a) outrider::emulated::cvtepu8_epi32(a)
#define _mm512_cvtepu16_epi32(a) outrider::emulated::cvtepu16_epi32(a)
#define _mm512_cvtph_ps(a) outrider::emulated::cvtph_ps(a)
#define _mm512_cvtps_ph(a, rounding) outrider::emulated::cvtps_ph<(rounding)>(a)
#define _mm512_abs_ps(a) outrider::emulated::abs_ps(a)
#define _mm512_madd_epi16(a, b) simde_mm512_madd_epi16(a, b)  // SIMDe's own alias asks for four operands
#define _mm512_extractf32x8_ps(a, which) outrider::emulated::half(a, which)
#define _mm512_mask_loadu_ps(others, mask, p) outrider::emulated::mask_loadu_ps(others, mask, p)
#define _mm512_mask_storeu_ps(p, mask, a) outrider::emulated::mask_storeu(p, mask, a)
#define _mm512_mask_storeu_epi32(p, mask, a) outrider::emulated::mask_storeu(p, mask, a)
