"""Reading source files as a compiler's first phases do: what is code, what is a comment, what is a string.

Knows C, C++ (raw strings, line splices, digit separators, directives), CMake and Python well enough for the ratchets; it parses no
grammar. Every function is pure but for reading the files it is given.
"""

import pathlib
import re
from typing import Iterator, NamedTuple


class Piece(NamedTuple):
    kind: str  # "code", "comment" or "string" (quotes included; a character literal is a string)
    line: int  # of its first character, from 1
    text: str


class Token(NamedTuple):
    kind: str  # "name", "number", "string", "mark" or "directive"
    line: int  # from 1
    text: str  # a directive's: its name, "define"
    inner: tuple = ()  # a directive's tokens after its name


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
                 | (?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
      | (?P<number>\.?[0-9](?:[eEpP][+-]|'?\w|\.)*)
      | (?P<name>[^\W\d]\w*)
      | (?P<other>->\*?|::|\.\.\.|\.\*|\#\#|<=>|<<=|>>=|[-+*/%&|^=!<>]=|&&|\|\||\+\+|--|<<|\S)""",
    re.VERBOSE | re.DOTALL)

_CMAKE_TOKEN = re.compile(
    r"""(?P<comment>\#\[(?P<depth>=*)\[.*?(?:\](?P=depth)\]|\Z)|\#[^\n]*)
      | (?P<string>"(?:\\.|[^"\\])*(?:"|\Z) | \[(?P<mark>=*)\[.*?(?:\](?P=mark)\]|\Z))""",
    re.VERBOSE | re.DOTALL)

_PYTHON_TOKEN = re.compile(
    r"""(?P<comment>\#[^\n]*)
      | (?P<string>\"\"\".*?(?:\"\"\"|\Z) | '''.*?(?:'''|\Z) | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?)""",
    re.VERBOSE | re.DOTALL)

_TOKEN = {"c": _C_TOKEN, "cmake": _CMAKE_TOKEN, "python": _PYTHON_TOKEN}


def split(text: str, language: str = "c") -> Iterator[Piece]:
    """The pieces of a text, in order; their texts joined are the text."""
    position, line = 0, 1
    for match in _TOKEN[language].finditer(text):
        kind = match.lastgroup
        if kind not in ("comment", "string"):
            continue
        if match.start() > position:
            code = text[position:match.start()]
            yield Piece("code", line, code)
            line += code.count("\n")
        yield Piece(kind, line, match.group())
        line += match.group().count("\n")
        position = match.end()
    if position < len(text):
        yield Piece("code", line, text[position:])


def tokens(text: str) -> list:
    """The tokens of a C or C++ text: no comments, lines spliced, each directive one token that holds its own. `>>` is two marks, as
    templates want it."""
    spliced, splices = _splice(text)
    found, directive = [], None
    position, line, passed = 0, 1, 0
    fresh = True  # nothing but comments on this line so far
    for match in _C_TOKEN.finditer(spliced):
        if "\n" in spliced[position:match.start()]:
            fresh, directive = True, None
        line += spliced.count("\n", position, match.start())
        while passed < len(splices) and splices[passed] <= match.start():
            line, passed = line + 1, passed + 1
        position = match.end()
        if match.lastgroup != "comment":
            token = Token("mark" if match.lastgroup == "other" else match.lastgroup, line, match.group())
            if fresh and token.text == "#":
                directive = []
                found.append((line, directive))
            elif directive is not None:
                directive.append(token)
            else:
                found.append(token)
            fresh = False
        line += match.group().count("\n")
    return [item if isinstance(item, Token) else _directive(*item) for item in found]


def _splice(text: str):
    """The text without backslash-newlines, and where in the new text each of them stood."""
    parts = text.replace("\r\n", "\n").split("\\\n")
    places, length = [], 0
    for part in parts[:-1]:
        length += len(part)
        places.append(length)
    return "".join(parts), places


def _directive(line: int, inside: list) -> Token:
    return Token("directive", line, inside[0].text if inside else "", tuple(inside[1:]))


def switched_off(directive: Token) -> bool:
    """Whether an #if or #elif can never hold: 0, false, (0), 0 && …"""
    words = [token.text for token in directive.inner if token.text not in "()"]
    return directive.text in ("if", "elif") and words[:1] in (["0"], ["false"]) and words[1:2] in ([], ["&&"])


def live(all_tokens: list) -> list:
    """The tokens without what #if 0 switches off."""
    kept, dead = [], []  # dead: for each open #if, whether its present branch is switched off
    for token in all_tokens:
        kind = token.text if token.kind == "directive" else ""
        if kind in ("if", "ifdef", "ifndef"):
            dead.append(switched_off(token))
        elif kind in ("elif", "else", "elifdef", "elifndef") and dead:
            dead[-1] = switched_off(token)
        if not any(dead) or kind in ("if", "ifdef", "ifndef", "elif", "else", "endif"):
            kept.append(token)
        if kind == "endif" and dead:
            dead.pop()
    return kept


def closing(some: list, start: int) -> int:
    """Index of the bracket that closes the one at `start`; the last index when none does."""
    depth = 0
    for i in range(start, len(some)):
        if some[i].kind == "mark":
            depth += (some[i].text in "([{") - (some[i].text in ")]}")
            if depth == 0:
                return i
    return len(some) - 1


def angle_end(some: list, start: int):
    """Index of the > that closes the template arguments opened at `start`; None where < can only be a comparison."""
    depth, i = 0, start
    while i < len(some):
        text = some[i].text
        if some[i].kind == "mark":
            if text in "([{":
                i = closing(some, i)
            elif text in (";", ")", "]", "}", "||") or text == "&&" and some[i + 1:i + 2] and some[i + 1].text not in (",", ">", "..."):
                return None
            else:
                depth += (text == "<") - (text == ">")
            if depth == 0:
                return i
        i += 1
    return None


def blank(text: str, kinds: set, language: str = "c") -> str:
    """The text with the pieces of those kinds replaced by spaces; lines stay where they are."""
    return "".join(re.sub(r"[^\n]", " ", piece.text) if piece.kind in kinds else piece.text for piece in split(text, language))


def includes(text: str) -> list:
    """The #include lines of a C or C++ text. One in a comment or a string is none."""
    found = []
    for token in tokens(text):
        if token.kind == "directive" and token.text == "include" and token.inner:
            if token.inner[0].kind == "string":
                found.append(Include(token.line, token.inner[0].text.strip('"'), True))
            elif token.inner[0].text == "<":
                found.append(Include(token.line, "".join(part.text for part in token.inner[1:-1]), False))
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
