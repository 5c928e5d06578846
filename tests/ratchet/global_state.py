#!/usr/bin/env python3
"""Lists what a process has only one of: variables of namespace scope, function-local statics, thread-locals and static members that
can change. Each must stand in ALLOWED with its reason, and an entry whose variable is gone must go too. What is const throughout
(of a pointer: the pointer and what it points to) is no state.

    global_state.py ROOT
"""

import pathlib
import sys
from typing import NamedTuple

import scopes
import source_text
from source_text import Token, angle_end, closing

FOLDERS = ["host", "kernels", "plugin_api", "plugins", "sdk"]

# (file, name) -> why there may be only one in a process. A name is written with the function or class around it.
ALLOWED = {
    ("host/cli/interrupt.cpp", "flag"): "a signal handler can reach nothing else",
    ("host/config/runtime_context.cpp", "thread_view"): "what a thread last read, so that a read costs two comparisons; no configuration",
    ("host/config/runtime_context.cpp", "thread_context::contexts"): "a thread's open windows; a window belongs to its thread",
    ("host/config/runtime_context.cpp", "next_context_id"): "numbers contexts, never twice, so that no thread takes one for a dead one",
    ("host/drafting/guard.cpp", "draft_fault::slots"): "scratch memory, emptied at each call; a check of each draft allocates nothing",
    ("host/drafting/instance.cpp", "keep_for_ever::mutex"): "guards keep_for_ever::all",
    ("host/drafting/instance.cpp", "keep_for_ever::all"): "abandoned plugins may still run; nothing of theirs is freed before the exit",
    ("host/drafting/loader.cpp", "live::instance"): "the dynamic linker's list of libraries is the process's, and this mirrors it",
}


class Variable(NamedTuple):
    name: str
    line: int
    mutable: bool


_NO_VARIABLE = {"using", "typedef", "friend", "static_assert", "namespace", "concept", "template", "asm", "export", "import", "module",
                "_Static_assert", "return", "goto"}
_SPECIFIERS = {"static", "thread_local", "_Thread_local", "__thread", "inline", "extern", "const", "constexpr", "constinit", "volatile",
               "register", "mutable"}
_ELABORATED = {"class", "struct", "union", "enum", "typename"}
_THREAD = {"thread_local", "_Thread_local", "__thread"}
_POINTER_LIKE = {"unique_ptr", "shared_ptr", "weak_ptr", "reference_wrapper", "span", "atomic_ref"}


def variables(statement: list) -> list:
    """The variables that a statement (without its semicolon, each block one token "{}") defines; none for anything else."""
    words = scopes.without_decoration(statement)
    if not words or words[0].text in _NO_VARIABLE or any(word.text in ("operator", "typedef") for word in words[:_stop(words)]):
        return []
    body = next((i for i in range(len(words) - 1, -1, -1) if words[i].text == "{}" and words[i].kind == "name"), None)
    if body is not None:  # struct Name : Base {…} variable
        words = [word for word in words[:body] if word.text in _SPECIFIERS] + words[body:]
    stop = _stop(words)
    before = words[:stop]
    if any(word.text == "extern" for word in before) and not any(word.text in ("=", "{}") and word.kind == "mark" for word in words):
        return []  # declared here, defined elsewhere
    found = []
    if stop < len(words) and words[stop].text == "(":
        inside = words[stop + 1:closing(words, stop)]
        pointer = _pointer_declarator(inside)
        if pointer:
            if not any(word.kind == "name" and word.text not in _SPECIFIERS for word in before):
                return []
            return [Variable(pointer.text, pointer.line, not _is_const_function_pointer(before, inside))]
        if not _are_arguments(inside):
            return []
    if stop < len(words) and words[stop].text == "[" and before and before[-1].text in ("auto", "&", "const"):  # auto [a, b] = …
        names = [word for word in words[stop + 1:closing(words, stop)] if word.kind == "name"]
        return [Variable(name.text, name.line, _mutable(before + [name])) for name in names]
    names = [i for i, word in enumerate(before) if word.kind == "name" and word.text not in _SPECIFIERS | _ELABORATED]
    if len(names) < 2 or before[-1].kind != "name" or before[-1].text in _SPECIFIERS:
        return []
    if names[-1] and before[names[-1] - 1].text == "::":
        return []  # a member's definition; its class declares it
    found.append(Variable(before[-1].text, before[-1].line, _mutable(before)))
    pointer = next((i for i, word in enumerate(before) if word.kind == "mark" and word.text in ("*", "&", "&&")), names[-1])
    for declarator in _more_declarators(words, stop):
        found.append(Variable(declarator[-1].text, declarator[-1].line, _mutable(before[:pointer] + declarator)))
    return found


def _stop(words: list) -> int:
    """Where the first declarator's name is behind: at = ( [ , : {} or the end."""
    mark = scopes.first_of(words, ("=", "(", "[", ",", ":", "{}"))
    return len(words) if mark is None else mark


def _more_declarators(words: list, start: int) -> list:
    """The declarators after the first: `b` and `*c` of `int a = f(1, 2), b, *c = 0`."""
    found, i = [], start
    while i < len(words):
        if words[i].kind == "mark" and words[i].text in ("(", "["):
            i = closing(words, i)
        elif words[i].text == "<" and words[i].kind == "mark":
            i = angle_end(words, i) or i
        elif words[i].text == ",":
            end = i + 1
            while end < len(words) and words[end].text in ("*", "&", "const"):
                end += 1
            if end < len(words) and words[end].kind == "name":
                found.append(words[i + 1:end + 1])
        i += 1
    return found


def _pointer_declarator(inside: list):
    """The name in (*name), (&name), (*const name[3]), (Class::*name); None for anything else, such as a parameter list."""
    marks = [i for i, word in enumerate(inside) if word.text in ("*", "&", "^") and word.kind == "mark"]
    if not marks or not (marks[0] == 0 or inside[marks[0] - 1].text == "::"):
        return None
    names = [word for word in inside[marks[0]:] if word.kind == "name" and word.text not in _SPECIFIERS]
    if len(names) != 1 or any(word.text in ("(", ",", ".", "->") for word in inside):
        return None
    return names[0]


def _is_const_function_pointer(before: list, inside: list) -> bool:
    return any(word.text == "constexpr" for word in before) or any(word.text == "const" for word in inside)


def _are_arguments(inside: list) -> bool:
    """Whether what stands in a declarator's brackets are a constructor's arguments rather than parameters."""
    if not inside:
        return False
    first = inside[0]
    if first.kind in ("number", "string") or first.text in ("true", "false", "nullptr", "this", "-", "!", "*", "&", "{}", "["):
        return True
    if first.kind == "name" and first.text[:1] == "k" and first.text[1:2].isupper():  # kConstant
        return True
    for i, word in enumerate(inside[1:], 1):
        if word.text == ",":
            return False
        if word.text in (".", "->", "+", "-", "/", "|"):
            return True
        if word.text == "(" and i == 1 and first.kind == "name":  # a call, where no type stands between its brackets
            end = closing(inside, i)
            types = any(part.text in ("*", "&", "const", "int", "void", "char", "bool") for part in inside[i + 1:end])
            return not types and end == len(inside) - 1
    return False


def _mutable(declarator: list) -> bool:
    """Whether a variable declared so can change, or what it points or refers to."""
    flat, i, wrapped = [], 0, False
    while i < len(declarator):
        word = declarator[i]
        if word.text == "<" and word.kind == "mark":
            end = angle_end(declarator, i) or i
            if declarator[i - 1].text in _POINTER_LIKE and not any(part.text == "const" for part in declarator[i:end]):
                wrapped = True
            i = end
        else:
            flat.append(word.text)
        i += 1
    if "constexpr" in flat:
        return False
    indirect = [i for i, text in enumerate(flat) if text in ("*", "&", "&&")]
    if not indirect:
        return wrapped or "const" not in flat
    pointer_const = flat[indirect[-1]] != "*" or "const" in flat[indirect[-1]:]
    return not (pointer_const and "const" in flat[:indirect[0]]) or wrapped


def _local_statement(tokens: list, start: int) -> list:
    """From the token at `start` to its semicolon, each block one token "{}"; a function's body ends it too."""
    statement, i = [], start
    while i < len(tokens) and tokens[i].text not in (";", "}"):
        if tokens[i].text == "{" and tokens[i].kind == "mark":
            i = closing(tokens, i)
            statement.append(Token("mark", tokens[i].line, "{}"))
            mark = scopes.first_of(statement, ("=", "(", "{}"))
            if mark is not None and statement[mark].text == "(" and not variables(statement[:-1]):
                break
        elif tokens[i].kind == "mark" and tokens[i].text in ("(", "["):
            end = closing(tokens, i)
            statement += tokens[i:end + 1]
            i = end
        else:
            statement.append(tokens[i])
        i += 1
    return statement


def _local_statics(tokens: list, wanted) -> list:
    """(index, variables) of each declaration with static or thread_local among the tokens for which wanted(index) holds."""
    found, done = [], -1
    for i, token in enumerate(tokens):
        if i <= done or token.kind != "name" or token.text not in {"static"} | _THREAD or not wanted(i):
            continue
        start = i
        while start > 0 and (tokens[start - 1].text in _SPECIFIERS or tokens[start - 1].text in ("auto", "unsigned", "signed", "int")):
            start -= 1
        done = i
        while done + 1 < len(tokens) and tokens[done + 1].text in _SPECIFIERS:
            done += 1
        found.append((i, variables(_local_statement(tokens, start))))
    return found


def state_in(text: str) -> list:
    """The variables of one file that are process-global (or thread-global) and can change; names with the scope around them."""
    reading = scopes.read(text)
    found = []

    def add(where: str, some: list):
        found.extend(v._replace(name="::".join(filter(None, [where, v.name]))) for v in some if v.mutable)

    for scope, statement in reading.declarations:
        texts = [word.text for word in statement]
        if scope.kind == "namespace" or "static" in texts or _THREAD & set(texts):
            add(scope.path(), variables(statement))
    for i, some in _local_statics(reading.tokens, lambda i: reading.scopes[i].kind == "block"):
        add(reading.scopes[i].path(), some)
    for macro in reading.macros:
        name, body = macro[0].text if macro else "", macro[1:]
        for _, some in _local_statics(body, lambda i: True):
            add(name, some)
    return sorted(found, key=lambda variable: variable.line)


def breaches(root: pathlib.Path, allowed: dict = None) -> list:
    allowed = ALLOWED if allowed is None else allowed
    found, seen = [], set()
    for folder in FOLDERS:
        for path in source_text.files_under(root / folder):
            if not source_text.is_c_like(path):
                continue
            file = path.relative_to(root).as_posix()
            for variable in state_in(source_text.read(path)):
                seen.add((file, variable.name))
                if (file, variable.name) not in allowed:
                    found.append(f"{file}:{variable.line}: process-global state that can change: '{variable.name}'; make it const, give it "
                                 "to the object that needs it, or add it to ALLOWED in tests/ratchet/global_state.py with the reason")
    for file, name in allowed:
        if (file, name) not in seen:
            found.append(f"{file}: there is no '{name}' any more: remove the entry from ALLOWED in tests/ratchet/global_state.py")
    return found


if __name__ == "__main__":
    sys.exit(source_text.report("process-global state", breaches(pathlib.Path(sys.argv[1]))))
