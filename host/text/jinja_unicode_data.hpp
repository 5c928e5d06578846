// The shape of the Unicode tables in jinja_unicode_data.cpp, which a script writes. Data only; jinja_unicode.cpp reads
// it.
#pragma once

#include <cstdint>
#include <span>

namespace outrider::text::jinja {

struct CodeRange {
  char32_t first, last;  // inclusive
};

struct CaseRun {
  char32_t first, last;
  std::uint32_t stride;  // 1, or 2 where capital and small letters alternate
  std::int32_t delta;    // what the mapping adds
};

struct CaseSpecial {
  char32_t from;
  char32_t to[3];  // padded with 0
};

// Each sorted by code point.
std::span<const CodeRange> unprintable_ranges();
std::span<const CodeRange> cased_ranges();
std::span<const CodeRange> case_ignorable_ranges();
std::span<const CaseRun> upper_runs();
std::span<const CaseSpecial> upper_specials();
std::span<const CaseRun> lower_runs();
std::span<const CaseSpecial> lower_specials();
std::span<const CaseSpecial> title_specials();

}  // namespace outrider::text::jinja
