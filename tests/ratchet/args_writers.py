#!/usr/bin/env python3
"""Counts the call sites that write configuration at args level, that is, without RuntimeContext::override: exactly those of BASELINE,
neither more nor fewer. Inside host/config they are listed by function, anywhere else by file.

A write is
  args.derive(…), also ->derive, &ServerArgs::derive        a copy with other values
  config::set(values, id, value)                            the field setter
  args.drafters.push_back(…), args.plugin_paths = …,        through a name whose type is a ServerArgs, Namespaces or namespace struct
    auto& d = args.drafters, std::move(args.drafters)       that is not const
  Namespaces{.spec = …}                                     values of one's own
  const_cast<ServerArgs&>(…), (ServerArgs*)p                taking const away from one of those
Assigning a whole ServerArgs is none: it came out of one of these. Not seen: a member given to a function that takes a reference, and an
auto whose type only a compiler knows. Tests make configurations as they like and are not read.

    args_writers.py ROOT
"""

import collections
import pathlib
import sys
from typing import NamedTuple

import scopes
import source_text
from source_text import angle_end, closing

FOLDERS = ["host", "kernels", "plugin_api", "plugins", "sdk"]
CONFIG = "host/config/"

# FILE, or FILE FUNCTION inside host/config -> (writes, why they are there)
BASELINE = {
    "host/cli/session.cpp": (1, "with_option: what a command's own option means for a field, before anything is published"),
    "host/config/server_args.cpp ServerArgs::derive": (2, "the one function that makes args with other values: value and history"),
    "host/config/fields.cpp OUTRIDER_SPACE": (1, "the macro that config::set is made of"),
    "host/config/runtime_context.cpp RuntimeContext::override": (1, "on a new Namespaces, which becomes the next state"),
    "host/config/load.cpp Loader::write": (1, "start-up: fields, from each source in turn"),
    "host/config/load.cpp Loader::add_file": (2, "start-up: [plugins] paths, and where they were written"),
    "host/config/load.cpp Loader::add_item": (3, "start-up: plugins.paths as an option, as a list or as one path, and where"),
    "host/config/load.cpp Loader::drafter": (4, "start-up: a [drafter.NAME] table, found or added"),
    "host/config/draft_copy.cpp replay": (1, "the draft copy: the overrides log"),
    "host/config/draft_copy.cpp draft_args_copy": (1, "the draft copy: its own fields"),
    "host/config/draft_copy.cpp draft_runner_args": (1, "a nested runner's copy"),
}


class Write(NamedTuple):
    line: int
    function: str
    what: str


_NO_TYPE = {"return", "case", "goto", "new", "throw", "struct", "class", "else", "using", "namespace", "delete", "co_return", "do"}
_ASSIGN = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "++", "--"}
_CHANGE = {"push_back", "emplace_back", "pop_back", "insert", "insert_or_assign", "emplace", "erase", "clear", "resize", "reserve",
           "assign", "append", "swap", "reset", "merge", "splice", "sort", "try_emplace", "replace"}
_CHANGED_BY = {"move", "swap", "exchange", "erase_if", "erase", "back_inserter", "inserter", "addressof", "ref", "sort", "fill"}
_READ_ONLY = {"size", "empty", "cbegin", "cend", "c_str", "contains", "count", "has_value", "value_or", "ends_with", "starts_with", "text",
              "capacity", "substr", "compare"}


def config_types(root: pathlib.Path) -> set:
    """ServerArgs, Namespaces, and each namespace's struct as the field table names it."""
    types = {"ServerArgs", "Namespaces"}
    table = root / "host/config/field_table.hpp"
    if table.is_file():
        for token in source_text.tokens(source_text.read(table)):
            if token.kind == "directive" and token.inner[:1] and token.inner[0].text == "OUTRIDER_CONFIG_NAMESPACES":
                words = token.inner
                types |= {words[i + 4].text for i in range(len(words) - 4) if words[i].text == "N" and words[i + 1].text == "("
                          and words[i + 3].text == ","}
    return types


def _type_before(tokens: list, name: int):
    """The tokens of the type in front of the declared name at `name`, or None where that is no declaration."""
    end = name
    while end > 0 and tokens[end - 1].text in ("&", "&&", "*", "const"):
        end -= 1
    if end == 0 or not (tokens[end - 1].kind == "name" or tokens[end - 1].text == ">"):
        return None
    start, depth = end, 0
    while start > 0:
        text = tokens[start - 1].text
        depth += (text == ">") - (text == "<")
        if depth < 0 or depth == 0 and not (tokens[start - 1].kind == "name" or text in ("::", "<")):
            break
        if depth and text in (";", "{", "}"):
            return None
        start -= 1
    return tokens[start:name]


def _is_changeable(type_tokens: list, types: set) -> bool:
    """Whether a type is one of `types`, or holds one, that is not const."""
    texts = [token.text for token in type_tokens]
    for i, text in enumerate(texts):
        if text in types:
            start = i
            while start > 1 and texts[start - 1] == "::":
                start -= 2
            if "const" not in texts[start - 1:start] and "const" not in texts[i + 1:i + 2]:
                return True
    return False


class Names:
    """What the tokens of a file declare, and whether it can be written through: an object, reference, pointer, Result, optional, … of
    one of `types` that is not const, or an auto that a maker (a function that returns one) or such a name begins."""

    def __init__(self, tokens: list, where: list, types: set, makers: set = frozenset(), known: dict = None):
        self.where, self.known, self.makers, self.entries = where, known or {}, makers, {}
        for i, token in enumerate(tokens[:-1]):
            if token.kind != "name" or tokens[i + 1].text not in (";", "=", "{", "(", ",", ")", ":", "["):
                continue
            kind = _type_before(tokens, i)
            if not kind or kind[0].text in _NO_TYPE:
                continue
            texts = [part.text for part in kind]
            if "auto" in texts:
                source = _source(tokens, i + 1)
                changeable = "const" not in texts and (source in types or self.changeable(source, i) or
                                                       self.declared(source, i) and "&" not in texts and "*" not in texts)
                of_ours = changeable or self.declared(source, i)
            else:
                of_ours, changeable = bool(set(texts) & types), _is_changeable(kind, types)
            self.entries.setdefault(token.text, []).append((i, where[i], of_ours, changeable))

    def _find(self, name: str, i: int):
        """The declaration that the name at i means: of the innermost scope, the last one before it, or a class's own anywhere."""
        entries, scope = self.entries.get(name, []), self.where[i]
        while entries and scope is not None:
            here = [entry for entry in entries if entry[1] is scope]
            before = [entry for entry in here if entry[0] < i]
            if before or here and scope.kind == "class":
                return (before or here)[-1]
            scope = scope.parent
        return None

    def declared(self, name: str, i: int) -> bool:
        entry = self._find(name, i)
        return entry[2] if entry else name in self.known

    def changeable(self, name: str, i: int) -> bool:
        entry = self._find(name, i)
        return entry[3] if entry else self.known.get(name, False) or name in self.makers

    def ever_changeable(self, name: str) -> bool:
        return any(entry[3] for entry in self.entries.get(name, [])) or self.known.get(name, False)


def _source(tokens: list, start: int) -> str:
    """Of `= *std::move(state->args);` the last name, args; of `= make_shared<Namespaces>(…)`, Namespaces."""
    last, i = "", start
    while i < len(tokens) and tokens[i].text not in (";", ")"):
        if tokens[i].kind == "name":
            last = tokens[i].text
            if last in ("make_shared", "make_unique") and i + 1 < len(tokens) and tokens[i + 1].text == "<":
                inside = tokens[i + 2:angle_end(tokens, i + 1) or i + 2]
                return inside[-1].text if inside and "const" not in [t.text for t in inside] else ""
        elif tokens[i].text == "(" and last not in ("move", ""):
            i = closing(tokens, i)
        elif tokens[i].text in ("{", "["):
            i = closing(tokens, i)
        i += 1
    return last


def _chain_end(tokens: list, i: int):
    """Past `.a->b[0].back()` that begins at i: (where it ends, the names in it)."""
    names = []
    while i < len(tokens):
        if tokens[i].text in (".", "->") and i + 1 < len(tokens) and tokens[i + 1].kind == "name":
            names.append(tokens[i + 1].text)
            i += 2
        elif tokens[i].text in ("(", "["):
            i = closing(tokens, i) + 1
        else:
            break
    return i, names


def _chain_start(tokens: list, i: int) -> int:
    """Where `a->b.` in front of the name at i begins."""
    while i > 1 and tokens[i - 1].text in (".", "->", "::") and tokens[i - 2].kind == "name":
        i -= 2
    return i


def _writes_through(tokens: list, i: int, chain: int) -> bool:
    """Whether the members behind the name at i, from `chain` on, are changed there, or lent to something that may."""
    end, names = _chain_end(tokens, chain)
    if not names:
        return False
    following = tokens[end].text if end < len(tokens) else ""
    if following in _ASSIGN or names[-1] in _CHANGE:
        return True
    if names[-1] in _READ_ONLY or names[0] in _READ_ONLY:
        return False
    start = _chain_start(tokens, i)
    while start > 0 and tokens[start - 1].text == "*":
        start -= 1
    before = [token.text for token in tokens[max(0, start - 3):start]]
    if before[-1:] in (["++"], ["--"]):
        return True
    if before[-1:] == ["("] and before[-2:-1] and before[-2] in _CHANGED_BY:
        return True
    if before[-1:] == ["&"]:
        return len(before) < 2 or before[-2] in ("=", "(", ",", "return", "{", "[")
    if before[-1:] in (["="], [":"]) and start > 1:  # auto& d = args.drafters, for (auto& d : args.drafters)
        name = start - 2
        kind = _type_before(tokens, name) if tokens[name].kind == "name" else None
        texts = [token.text for token in kind] if kind else []
        return bool(set(texts) & {"&", "&&"}) and "const" not in texts
    return False


def _calls(tokens: list, i: int) -> bool:
    """Whether the name at i is called there, and not declared or defined."""
    if i + 1 >= len(tokens) or tokens[i + 1].text != "(":
        return False
    start = _chain_start(tokens, i)
    before = tokens[start - 1] if start else None
    if before is not None and before.text in ("&", "*") and start > 1:  # T& derive(…) declares, return *derive(…) calls
        before = tokens[start - 2]
    return before is None or before.text != ">" and (before.kind != "name" or before.text in _NO_TYPE)


def _arguments(tokens: list, start: int) -> int:
    """How many arguments stand in the brackets opened at `start`."""
    end, i = closing(tokens, start), start + 1
    count = 1 if end > i else 0
    while i < end:
        if tokens[i].kind == "mark":
            if tokens[i].text in ("(", "[", "{"):
                i = closing(tokens, i)
            elif tokens[i].text == "<":
                i = angle_end(tokens, i) or i
            elif tokens[i].text == ",":
                count += 1
        i += 1
    return count


def _write_at(tokens: list, i: int, types: set, changeable):
    """What the name at i writes, or None. `changeable(name, i)` tells of a name there."""
    text = tokens[i].text
    before = tokens[i - 1].text if i else ""
    following = tokens[i + 1].text if i + 1 < len(tokens) else ""
    if text == "derive":
        if before in (".", "->") or before == "template" and tokens[i - 2].text in (".", "->"):
            return "derive" if following in ("(", "<") else None
        if before == "::":
            owner = tokens[i - 2].text
            named = owner in types and following != "("
            return "derive" if named or owner in types and _calls(tokens, i) else None
        return "derive" if _calls(tokens, i) else None
    if text == "set" and before not in (".", "->"):
        if before == "::" and tokens[i - 2].text != "config":
            return None
        if before == "&" or before == "::" and following != "(":
            return "set" if following in (")", ",", ";") and before == "::" else None
        return "set" if _calls(tokens, i) and _arguments(tokens, i + 1) == 3 else None
    if text in ("const_cast", "const_pointer_cast", "reinterpret_cast") and following == "<":
        inside = tokens[i + 2:angle_end(tokens, i + 1) or i + 2]
        return text if _is_changeable(inside, types | {"ConfigState"}) else None
    if text in types and before not in ("struct", "class"):
        start = i + 1 + (tokens[i + 1:i + 2] != [] and tokens[i + 1].kind == "name")
        start += tokens[start:start + 1] != [] and tokens[start].text == "="
        if [token.text for token in tokens[start:start + 1]] == ["{"] and tokens[start + 1].text != "}":
            return "values"
    if text in types and following in ("*", "&") and i + 3 < len(tokens) and tokens[i + 2].text == ")":
        start = _chain_start(tokens, i)
        cast = start > 1 and tokens[start - 1].text == "(" and tokens[start - 2].kind != "name" and tokens[start - 2].text not in (">", ")")
        return "a cast" if cast and (tokens[i + 3].kind == "name" or tokens[i + 3].text in ("(", "&", "*")) else None
    end = closing(tokens, i + 1) if following == "(" else i  # of mutable_args().drafters.clear(), too
    if tokens[end + 1:end + 2] and tokens[end + 1].text in (".", "->") and changeable(text, i) and _writes_through(tokens, i, end + 1):
        return "a member"
    return None


def writes_in(text: str, types: set, known: dict, makers: set) -> list:
    """The writes of one file. `known`: members that headers declare; the file's own names go before."""
    reading = scopes.read(text)
    names = Names(reading.tokens, reading.scopes, types, makers, known)
    found = []
    for i, token in enumerate(reading.tokens):
        what = _write_at(reading.tokens, i, types, names.changeable) if token.kind == "name" else None
        if what:
            found.append(Write(token.line, reading.scopes[i].path(), what))
    for macro in reading.macros:
        name, body = macro[0].text if macro else "", macro[1:]
        for i, token in enumerate(body):
            what = _write_at(body, i, types, lambda name, _: names.ever_changeable(name)) if token.kind == "name" else None
            if what:
                found.append(Write(token.line, name, what))
    return found


def writes(root: pathlib.Path) -> dict:
    """Place (as in BASELINE) -> its writes, as (file, Write)."""
    types = config_types(root)
    texts = {}
    for folder in FOLDERS:
        for path in source_text.files_under(root / folder):
            if source_text.is_c_like(path):
                texts[path.relative_to(root).as_posix()] = source_text.read(path)
    known, makers = {}, set()
    for file, text in texts.items():
        if pathlib.PurePath(file).suffix not in (".h", ".hpp", ".cuh", ".inl") or not any(name in text for name in types):
            continue
        reading = scopes.read(text)
        names = Names(reading.tokens, reading.scopes, types)
        for name, entries in names.entries.items():
            if any(changeable and reading.tokens[i + 1].text == "(" for i, _, _, changeable in entries):
                makers.add(name)
        for scope, statement in reading.declarations:
            if scope.kind == "class" and scopes.first_of(statement, ("(",)) is None:
                members = Names(statement + [source_text.Token("mark", 0, ";")], [scope] * (len(statement) + 1), types)
                known.update({name: True for name in members.entries if members.ever_changeable(name)})
    found = collections.defaultdict(list)
    for file, text in texts.items():
        for write in writes_in(text, types, known, makers):
            found[f"{file} {write.function}".strip() if file.startswith(CONFIG) else file].append((file, write))
    return found


def breaches(root: pathlib.Path, baseline: dict = None) -> list:
    baseline = BASELINE if baseline is None else baseline
    found, result = writes(root), []
    for place in sorted(set(found) | set(baseline)):
        allowed, here = baseline.get(place, (0, ""))[0], found.get(place, [])
        if len(here) > allowed:
            result += [f"{file}:{write.line}: a new args-level writer ({write.what}): use RuntimeContext::override" for file, write in here]
            if allowed:
                result.append(f"{place}: {len(here)} args-level writes, {allowed} allowed")
        elif len(here) < allowed:
            todo = f"lower the baseline of {place} to {len(here)}" if here else f"remove {place} from the baseline"
            result.append(f"{place}: {len(here)} args-level writes, {allowed} allowed: {todo} (BASELINE in tests/ratchet/args_writers.py)")
    return result


if __name__ == "__main__":
    sys.exit(source_text.report("args-level writers", breaches(pathlib.Path(sys.argv[1]))))
