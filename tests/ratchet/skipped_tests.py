#!/usr/bin/env python3
"""Counts the tests that are skipped, disabled or expected to fail, and the code of tests that is switched off: exactly as many as
BASELINE says of each file, so that a new one is seen and progress is locked in. Read are tests/ and all CMake files.

    skipped_tests.py ROOT
"""

import ast
import collections
import pathlib
import re
import sys

import source_text
from source_text import closing

# FILE -> (number, why). A file that is not here has none. These are one mechanism: a test of a model that `make test` does not fetch
# says so and is reported as skipped.
BASELINE = {
    "cmake/OutriderTargets.cmake": (1, "a test case that prints SKIPPED: is reported as skipped and not as passed"),
    "tests/e2e/identity_test.cpp": (1, "the identity of a model with sliding windows that was not fetched"),
    "tests/unit/text/small_vocabularies.hpp": (1, "the tokenizer of a model that was not fetched; scripts/fetch-model gets it"),
}

CMAKE_FOLDERS = ["cmake", "host", "kernels", "plugin_api", "plugins", "sdk", "tests"]

HIDING_TAG = re.compile(r"\[(?:\.[^\]]*|!hide|!mayfail|!shouldfail|!benchmark)\]")
TEST_MACRO = re.compile(r"(?:TEMPLATE_(?:\w+_)?)?TEST_CASE(?:_\w+)?|SCENARIO(?:_METHOD)?|METHOD_AS_TEST_CASE|REGISTER_TEST_CASE")
SKIPPING = {"SKIP", "GTEST_SKIP"}
FORGIVING = {"CHECK_NOFAIL", "REQUIRE_NOFAIL"}

CMAKE_MARKS = [
    (re.compile(r"\bDISABLED\b"), "a ctest property that disables a test"),
    (re.compile(r"\bWILL_FAIL\b"), "a test that is expected to fail"),
    (re.compile(r"\bSKIP_(?:RETURN_CODE|REGULAR_EXPRESSION)\b"), "a ctest property that lets a test skip itself"),
    (re.compile(r"\bif\s*\(\s*(?:0|OFF|NO|FALSE|N)\s*\)", re.IGNORECASE), "code switched off with if(0)"),
]

PYTHON_NAMES = {
    "skip": "a test that is skipped",
    "skipIf": "a test that skips itself",
    "skipUnless": "a test that skips itself",
    "skipTest": "a test that skips itself",
    "SkipTest": "a test that skips itself",
    "importorskip": "a test that skips itself",
    "expectedFailure": "a test that is expected to fail",
    "xfail": "a test that is expected to fail",
}


def _in_code(words: list) -> list:
    """(line, what) of the marks among C or C++ tokens."""
    found = []
    for i, token in enumerate(words):
        called = token.kind == "name" and i + 1 < len(words) and words[i + 1].text == "("
        if called and TEST_MACRO.fullmatch(token.text):
            inside = words[i + 2:closing(words, i + 1)]
            tags = "".join(word.text for word in inside[_first_comma(inside):] if word.kind == "string")
            if HIDING_TAG.search(tags):
                found.append((token.line, "a Catch2 tag that hides a test or lets it fail"))
        elif called and token.text in SKIPPING:
            found.append((token.line, "a test that skips itself"))
        elif called and token.text in FORGIVING:
            found.append((token.line, "a check that may fail"))
        elif token.kind == "string" and re.match(r'(?:R"[^(]*\(|")SKIPPED:', token.text):
            found.append((token.line, "a test that says it skipped itself"))
        elif token.kind == "directive" and source_text.switched_off(token):
            found.append((token.line, "code switched off with #if 0"))
        elif token.kind == "directive" and token.text == "define":
            body = list(token.inner[1:])
            found += _in_code(body)
            found += [(word.line, "a Catch2 tag that hides a test or lets it fail") for word in body
                      if word.kind == "string" and re.fullmatch(r'"(?:\[[^\]]*\])+"', word.text) and HIDING_TAG.search(word.text)]
    return found


def _first_comma(inside: list) -> int:
    i = 0
    while i < len(inside) and inside[i].text != ",":
        i = closing(inside, i) + 1 if inside[i].kind == "mark" and inside[i].text in ("(", "{", "[") else i + 1
    return i


def _in_cmake(text: str) -> list:
    """Quoted or not, a property's name is the same to CMake; a longer string only speaks of it."""
    pieces = []
    for piece in source_text.split(text, "cmake"):
        keep = piece.kind == "code" or piece.kind == "string" and re.fullmatch(r'"\w+"', piece.text)
        pieces.append(piece.text if keep else re.sub(r"[^\n]", " ", piece.text))
    content = "".join(pieces)
    return [(content.count("\n", 0, match.start()) + 1, what) for mark, what in CMAKE_MARKS for match in mark.finditer(content)]


def _in_python(text: str) -> list:
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        return [(error.lineno or 1, "a test file that Python cannot read")]
    imported = {}  # what from unittest import … calls them here
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module in ("unittest", "unittest.case", "pytest"):
            imported.update({name.asname or name.name: name.name for name in node.names})
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in PYTHON_NAMES and (node.attr != "skip" or _is_test_module(node.value)):
            found.append((node.lineno, PYTHON_NAMES[node.attr]))
        elif isinstance(node, ast.Name) and imported.get(node.id) in PYTHON_NAMES:
            found.append((node.lineno, PYTHON_NAMES[imported[node.id]]))
        elif isinstance(node, ast.If) and isinstance(node.test, ast.Constant) and not node.test.value:
            found.append((node.lineno, "code switched off with if False"))
    return found


def _is_test_module(node) -> bool:
    """unittest, pytest or pytest.mark: other things have a skip() too."""
    return isinstance(node, ast.Name) and node.id in ("unittest", "pytest") or isinstance(node, ast.Attribute) and node.attr == "mark"


def marks_in(path: pathlib.Path, text: str) -> list:
    """(line, what) of each mark in a file, in order."""
    if source_text.is_c_like(path):
        return sorted(_in_code(source_text.tokens(text)))
    if path.name == "CMakeLists.txt" or path.suffix == ".cmake":
        return sorted(_in_cmake(text))
    return sorted(_in_python(text)) if path.suffix == ".py" else []


def skipped(root: pathlib.Path) -> list:
    """(file, line, what) of each mark."""
    found = []
    top = root / "CMakeLists.txt"
    for folder in CMAKE_FOLDERS:
        for path in source_text.files_under(root / folder):
            if folder == "tests" or path.name == "CMakeLists.txt" or path.suffix == ".cmake":
                found += [(path.relative_to(root).as_posix(), *mark) for mark in marks_in(path, source_text.read(path))]
    return found + ([("CMakeLists.txt", *mark) for mark in marks_in(top, source_text.read(top))] if top.is_file() else [])


def breaches(root: pathlib.Path, baseline: dict = None) -> list:
    baseline = BASELINE if baseline is None else baseline
    marks, result = skipped(root), []
    count = collections.Counter(file for file, _, _ in marks)
    for file in sorted(set(count) | set(baseline)):
        allowed = baseline.get(file, (0, ""))[0]
        if count[file] > allowed:
            result += [f"{file}:{line}: {what}" for where, line, what in marks if where == file]
            result.append(f"{file}: {count[file]} skipped tests, {allowed} allowed: make them run")
        elif count[file] < allowed:
            result.append(f"{file}: {count[file]} skipped tests, {allowed} allowed: lower BASELINE of {file} to {count[file]} in "
                          "tests/ratchet/skipped_tests.py")
    return result


if __name__ == "__main__":
    sys.exit(source_text.report("skipped tests", breaches(pathlib.Path(sys.argv[1]))))
