// What the two AVX-512 variants of Vec share: everything but the dot products. Included inside an anonymous namespace.

struct VecAvx512 {
  using I = __m512i;
  using F = __m512;
  static constexpr int kWidth = 16;
  static constexpr int kMaxFloatRows = 16;

  static I load(const std::byte* p) { return _mm512_loadu_si512(p); }
  static I zero() { return _mm512_setzero_si512(); }
  static F zero_floats() { return _mm512_setzero_ps(); }
  static I broadcast(const int32_t* p) { return _mm512_set1_epi32(*p); }
  static F broadcast(const float* p) { return _mm512_set1_ps(*p); }
  static I broadcast_quad(const int8_t* q) {  // four bytes to every lane
    int32_t quad;
    __builtin_memcpy(&quad, q, 4);
    return _mm512_set1_epi32(quad);
  }

  static I low_nibbles(I v) { return _mm512_and_si512(v, _mm512_set1_epi8(15)); }
  static I high_nibbles(I v) { return _mm512_and_si512(_mm512_srli_epi16(v, 4), _mm512_set1_epi8(15)); }
  template <char kMask, int kShift>
  static I merge_bits(I w, I plane) {
    if constexpr (kShift > 0) plane = _mm512_slli_epi16(plane, kShift);
    if constexpr (kShift < 0) plane = _mm512_srli_epi16(plane, -kShift);
    return _mm512_ternarylogic_epi32(w, plane, _mm512_set1_epi8(kMask), 0xf8);  // w | (plane & mask)
  }

  static F half_floats(const std::byte* p) { return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))); }
  static F brain_floats(const std::byte* p) {
    const I wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
  }
  static F floats(const std::byte* p) { return _mm512_loadu_ps(p); }
  static F byte_floats(const std::byte* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static I signed_bytes(const std::byte* p) { return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))); }

  static I add(I a, I b) { return _mm512_add_epi32(a, b); }
  static I multiply(I a, I b) { return _mm512_mullo_epi32(a, b); }
  static F to_floats(I v) { return _mm512_cvtepi32_ps(v); }
  static F mul(F a, F b) { return _mm512_mul_ps(a, b); }
  static F fma(F a, F b, F c) { return _mm512_fmadd_ps(a, b, c); }
  static F negate(F v) { return _mm512_xor_ps(v, _mm512_set1_ps(-0.0f)); }
  static void store(float* out, F v, int lanes) {
    if (lanes >= 16) _mm512_storeu_ps(out, v);
    else _mm512_mask_storeu_ps(out, static_cast<__mmask16>((1u << lanes) - 1), v);
  }
};
