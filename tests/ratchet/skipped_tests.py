#!/usr/bin/env python3
"""Counts the tests that are skipped, disabled or expected to fail. More than BASELINE fails; fewer fails too, so that progress is
locked in by lowering it.

    skipped_tests.py ROOT
"""

import pathlib
import re
import sys

import source_text

BASELINE = 0

C_MARKS = [
    (re.compile(r'"[^"\n]*\[(?:\.[^\]]*|!hide|!mayfail|!shouldfail)\][^"\n]*"'), "a Catch2 tag that hides a test or lets it fail"),
    (re.compile(r"\b(?:GTEST_SKIP|SKIP)\s*\("), "a test that skips itself"),
    (re.compile(r"^\s*#\s*if\s+0\b", re.MULTILINE), "code switched off with #if 0"),
]
CMAKE_MARKS = [
    (re.compile(r"\bDISABLED\b"), "a ctest property that disables a test"),
    (re.compile(r"\bWILL_FAIL\b"), "a test that is expected to fail"),
    (re.compile(r"\bSKIP_(?:RETURN_CODE|REGULAR_EXPRESSION)\b"), "a ctest property that lets a test skip itself"),
]
PYTHON_MARKS = [
    (re.compile(r"\bskip(?:If|Unless|Test)?\s*\("), "a test that skips itself"),
    (re.compile(r"\bexpectedFailure\b|\bxfail\b|\bmark\.skip"), "a test that is skipped or expected to fail"),
    (re.compile(r"\bSkipTest\b"), "a test that skips itself"),
]


def marks_in(path: pathlib.Path, text: str) -> list:
    """(line, what) of each mark in a file of tests/."""
    if source_text.is_c_like(path):
        content, marks = source_text.blank(text, {"comment"}), C_MARKS
    elif path.name == "CMakeLists.txt" or path.suffix == ".cmake":
        content, marks = source_text.blank(text, {"comment", "string"}, c_like=False), CMAKE_MARKS
    elif path.suffix == ".py":
        content, marks = source_text.blank(text, {"comment", "string"}, c_like=False), PYTHON_MARKS
    else:
        return []
    return [(content.count("\n", 0, match.start()) + 1, what) for mark, what in marks for match in mark.finditer(content)]


def skipped(root: pathlib.Path) -> list:
    found = []
    for path in source_text.files_under(root / "tests"):
        for line, what in marks_in(path, source_text.read(path)):
            found.append(f"{path.relative_to(root).as_posix()}:{line}: {what}")
    return found


def breaches(root: pathlib.Path, baseline: int = BASELINE) -> list:
    found = skipped(root)
    if len(found) == baseline:
        return []
    if len(found) < baseline:
        return [f"{len(found)} skipped tests, {baseline} allowed: lower BASELINE in tests/ratchet/skipped_tests.py"]
    return found + [f"{len(found)} skipped tests, {baseline} allowed: make them run"]


if __name__ == "__main__":
    sys.exit(source_text.report("skipped tests", breaches(pathlib.Path(sys.argv[1]))))
