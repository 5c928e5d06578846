#!/usr/bin/env python3
"""Writes host/text/jinja_unicode_data.cpp: the Unicode tables that Python's str methods and repr() follow.

Run with the Python whose behaviour is wanted (3.11: Unicode 14), from the repository root:
    python3 tests/golden/make_unicode_tables.py > host/text/jinja_unicode_data.cpp
Ranges are found by asking str itself, code point by code point, so the tables hold what Python does and no second opinion.
"""
import sys
import unicodedata

SIGMA = "\u03a3"


def ranges(test):
    out = []
    for c in range(0x110000):
        if 0xD800 <= c <= 0xDFFF or not test(chr(c)):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def mapping(convert):
    """Simple mappings as runs (first, last, stride, delta); mappings to several code points apart."""
    runs, special = [], []
    for c in range(0x110000):
        if 0xD800 <= c <= 0xDFFF:
            continue
        to = convert(chr(c))
        if to == chr(c):
            continue
        if len(to) > 1:
            special.append((c, to))
            continue
        delta = ord(to) - c
        last = runs[-1] if runs else None
        if last and last[3] == delta and (c - last[1] == last[2] or (last[0] == last[1] and c - last[1] <= 2)):
            last[2], last[1] = c - last[1], c
        else:
            runs.append([c, c, 1, delta])
    return runs, special


def cased(ch):
    # str.title() lowers a letter that follows a cased one, so a following "A" tells.
    return (ch + "A").title()[-1] == "a"


def case_ignorable(ch):
    # Between a cased letter and a final sigma an ignorable character leaves the sigma final.
    return not cased(ch) and ("A" + ch + SIGMA).lower()[-1] == "\u03c2"


def lines(items, width=136):
    line = " "
    for item in items:
        if len(line) + len(item) + 2 > width:
            yield line
            line = " "
        line += " " + item + ","
    yield line


def emit_ranges(name, comment, found):
    print(f"// {comment}\nconstexpr CodeRange k{name}[] = {{")
    print("\n".join(lines(f"{{0x{a:X}, 0x{b:X}}}" for a, b in found)))
    print("};\n")


def emit_mapping(name, comment, found):
    runs, special = found
    print(f"// {comment}\nconstexpr CaseRun k{name}Runs[] = {{")
    print("\n".join(lines(f"{{0x{a:X}, 0x{b:X}, {stride}, {delta}}}" for a, b, stride, delta in runs)))
    print("};")
    print(f"constexpr CaseSpecial k{name}Specials[] = {{")
    print("\n".join(lines("{0x%X, {%s}}" % (c, ", ".join("0x%X" % ord(x) for x in to)) for c, to in special)))
    print("};\n")


version = f"Python {sys.version_info[0]}.{sys.version_info[1]} (Unicode {unicodedata.unidata_version})"
print(f"""// Written by tests/golden/make_unicode_tables.py from {version}; do not edit.
// Derived from the Unicode Character Database, (c) Unicode, Inc., under the Unicode License v3 (unicode.org/license.txt).
// clang-format off
#include "text/jinja_unicode_data.hpp"

namespace outrider::text::jinja {{
namespace {{
""")
emit_ranges("Unprintable", "What repr() escapes.", ranges(lambda ch: not ch.isprintable()))
emit_ranges("Cased", "What counts as a letter with case.", ranges(cased))
emit_ranges("CaseIgnorable", "What the rule for a final sigma looks past.", ranges(case_ignorable))
emit_mapping("Upper", "str.upper()", mapping(str.upper))
emit_mapping("Lower", "str.lower()", mapping(str.lower))
# Only where it differs from upper: str.title() of one letter.
title_runs = [(c, chr(c).title()) for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF and chr(c).title() != chr(c).upper()]
print("// str.title() of a letter, where it is not str.upper()\nconstexpr CaseSpecial kTitleSpecials[] = {")
print("\n".join(lines("{0x%X, {%s}}" % (c, ", ".join("0x%X" % ord(x) for x in to)) for c, to in title_runs)))
print("""};

}  // namespace

std::span<const CodeRange> unprintable_ranges() { return kUnprintable; }
std::span<const CodeRange> cased_ranges() { return kCased; }
std::span<const CodeRange> case_ignorable_ranges() { return kCaseIgnorable; }
std::span<const CaseRun> upper_runs() { return kUpperRuns; }
std::span<const CaseSpecial> upper_specials() { return kUpperSpecials; }
std::span<const CaseRun> lower_runs() { return kLowerRuns; }
std::span<const CaseSpecial> lower_specials() { return kLowerSpecials; }
std::span<const CaseSpecial> title_specials() { return kTitleSpecials; }

}  // namespace outrider::text::jinja""")
