#!/usr/bin/env python3
"""Counts the names of drafting algorithms in host/, in code, comments and text alike. The count is zero and stays zero: the host asks
what a drafter can do, never which one it is.

    algorithm_names.py ROOT
"""

import pathlib
import re
import sys

import source_text

# The algorithms of the plan, and every folder under plugins/. A name matches as a word of an identifier too (EagleWorker, is_ngram).
PLANNED = ["ngram", "suffix", "standalone", "eagle", "multi_layer_eagle", "frozen_kv_mtp", "dflash", "dspark"]

# How people also write them.
SPELLINGS = {
    "ngram": r"n[-_ ]?gram",
    "standalone": r"stand[-_]?alone",
    "dflash": r"d[-_ ]?flash",
    "dspark": r"d[-_ ]?spark",
}

# Identifiers that are somebody else's: std::string_view and Python's str.
FOREIGN = re.compile(r"\b(remove_suffix|removesuffix)\b")


def names(root: pathlib.Path) -> list:
    folders = [path.name for path in (root / "plugins").iterdir() if path.is_dir()] if (root / "plugins").is_dir() else []
    return sorted(set(PLANNED) | set(folders))


def pattern(all_names: list):
    spellings = [SPELLINGS.get(name, r"[-_ ]?".join(map(re.escape, name.split("_")))) for name in all_names]
    return re.compile(r"(?<![a-z])(?:" + "|".join(sorted(spellings, key=len, reverse=True)) + r")s?(?![a-z])")


def words(line: str) -> str:
    """Lower case, with camel case taken apart: EagleWorker -> eagle worker."""
    line = FOREIGN.sub(" ", line)
    line = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", line)
    return re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", " ", line).lower()


def breaches(root: pathlib.Path) -> list:
    wanted = pattern(names(root))
    found = []
    for path in source_text.files_under(root / "host"):
        for number, line in enumerate(source_text.read(path).split("\n"), 1):
            for match in wanted.finditer(words(line)):
                found.append(f"{path.relative_to(root).as_posix()}:{number}: names an algorithm: '{match.group()}'")
    return found


if __name__ == "__main__":
    sys.exit(source_text.report("algorithm names in host/ (0 allowed)", breaches(pathlib.Path(sys.argv[1]))))
