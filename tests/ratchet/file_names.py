#!/usr/bin/env python3
"""Checks how files are named and that a reader finds a README.md in every room.

    file_names.py ROOT
"""

import pathlib
import re
import sys

import source_text

TREES = ["host", "kernels", "plugin_api", "plugins", "sdk", "tests", "scripts", "cmake", "docs"]
SOURCE = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)*\.(?:c|h|cpp|hpp|inl|cu|cuh|py|map)")
FOLDER = re.compile(r"[a-z0-9]+(?:[_.-][a-z0-9]+)*")
SOURCE_SUFFIXES = source_text.C_SUFFIXES | {".py", ".cc", ".cxx", ".hxx", ".hh"}


def rooms(root: pathlib.Path) -> list:
    """Folders that need a README.md: the trees that hold code, and each folder directly below host/ and plugins/."""
    found = [root / name for name in ("host", "kernels", "plugin_api", "plugins", "sdk", "tests") if (root / name).is_dir()]
    for parent in ("host", "plugins", "kernels"):
        if (root / parent).is_dir():
            found += [path for path in sorted((root / parent).iterdir()) if path.is_dir() and path.name not in source_text.SKIPPED_FOLDERS]
    return found


def name_breach(path: pathlib.Path):
    """Why a file's name is wrong, or None."""
    if path.suffix in SOURCE_SUFFIXES and not SOURCE.fullmatch(path.name):
        return "source files are named in snake_case, .hpp and .cpp for C++, .h and .c for C"
    if re.search(r"[\s\\:*?\"<>|]", path.name) or not path.name.isascii():
        return "a name that some file system or shell trips over"
    return None


def breaches(root: pathlib.Path) -> list:
    found = []
    for tree in TREES:
        for path in source_text.files_under(root / tree):
            name = path.relative_to(root)
            why = name_breach(path)
            if why:
                found.append(f"{name.as_posix()}: {why}")
            for folder in name.parts[:-1]:
                if not FOLDER.fullmatch(folder):
                    found.append(f"{name.as_posix()}: folder '{folder}' is not in lower case")
            if path.suffix == ".hpp" and "#pragma once" not in source_text.blank(source_text.read(path), {"comment"}):
                found.append(f"{name.as_posix()}: a header without #pragma once")
    for room in rooms(root):
        if not (room / "README.md").is_file():
            found.append(f"{room.relative_to(root).as_posix()}: a room without a README.md")
    return found


if __name__ == "__main__":
    sys.exit(source_text.report("file names", breaches(pathlib.Path(sys.argv[1]))))
