"""Reading source files as a compiler's first phases do: what is code, what is a comment, what is a string.

Knows C, C++ (raw strings, line splices, digit separators), CMake, Python and shell well enough for the ratchets; it parses no
grammar. Every function is pure but for reading the files it is given.
"""

import pathlib
import re
from typing import Iterator, NamedTuple


class Piece(NamedTuple):
    kind: str  # "code", "comment" or "string" (quotes included; a character literal is a string)
    line: int  # of its first character, from 1
    text: str


class Include(NamedTuple):
    line: int
    path: str
    quoted: bool  # "path" rather than <path>


C_SUFFIXES = {".c", ".h", ".cpp", ".hpp", ".cc", ".inl", ".cu", ".cuh"}
SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}

_C_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))
      | (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)
                 | (?:u8|[uUL])?"(?:\\.|[^"\\\n])*(?:"|(?=\n)|\Z)
                 | (?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+')""",
    re.VERBOSE | re.DOTALL)

_HASH_TOKEN = re.compile(
    r"""(?P<comment>\#\[(?P<mark>=*)\[.*?(?:\](?P=mark)\]|\Z)|\#[^\n]*)
      | (?P<string>\"\"\".*?(?:\"\"\"|\Z) | '''.*?(?:'''|\Z) | "(?:\\.|[^"\\])*(?:"|\Z) | '(?:\\.|[^'\\\n])*')""",
    re.VERBOSE | re.DOTALL)


def split(text: str, c_like: bool = True) -> Iterator[Piece]:
    """The pieces of a text, in order; their texts joined are the text."""
    position, line = 0, 1
    for match in (_C_TOKEN if c_like else _HASH_TOKEN).finditer(text):
        if match.start() > position:
            code = text[position:match.start()]
            yield Piece("code", line, code)
            line += code.count("\n")
        kind = "comment" if match.group("comment") is not None else "string"
        yield Piece(kind, line, match.group())
        line += match.group().count("\n")
        position = match.end()
    if position < len(text):
        yield Piece("code", line, text[position:])


def blank(text: str, kinds: set, c_like: bool = True) -> str:
    """The text with the pieces of those kinds replaced by spaces; lines stay where they are."""
    return "".join(re.sub(r"[^\n]", " ", piece.text) if piece.kind in kinds else piece.text for piece in split(text, c_like))


def includes(text: str) -> list:
    """The #include lines of a C or C++ text. One in a comment or a string is none."""
    found = []
    without = blank(text, {"comment"})
    strings = {(piece.line, piece.text) for piece in split(text) if piece.kind == "string" and "\n" in piece.text}
    hidden = set()
    for line, content in strings:
        hidden.update(range(line + 1, line + content.count("\n") + 1))
    for number, content in enumerate(without.split("\n"), 1):
        match = re.match(r'\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)', content)
        if match and number not in hidden:
            found.append(Include(number, match.group(1) or match.group(2), match.group(1) is not None))
    return found


def is_c_like(path: pathlib.Path) -> bool:
    return path.suffix in C_SUFFIXES


def read(path: pathlib.Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


def files_under(folder: pathlib.Path) -> list:
    """All files of a folder, sorted, without build outputs and caches."""
    found = []
    if not folder.is_dir():
        return found
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            if entry.name not in SKIPPED_FOLDERS:
                found.extend(files_under(entry))
        elif entry.is_file():
            found.append(entry)
    return found


def report(name: str, breaches: list) -> int:
    """Prints the breaches, or that there are none; returns the exit status."""
    for breach in breaches:
        print(breach)
    print(f"{name}: {len(breaches)} breach(es)" if breaches else f"{name}: holds")
    return 1 if breaches else 0
