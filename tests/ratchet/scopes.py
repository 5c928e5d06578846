"""Which scope each token of a C++ file stands in, and what the file declares outside functions. No grammar: a brace is told by the
words before it (namespace, class, enum), and every other one, of a function, lambda or initializer, opens a block. The branches of an
#if are read side by side, each from the scope the #if stood in.
"""

from typing import NamedTuple, Optional

import source_text
from source_text import Token, angle_end, closing


class Scope(NamedTuple):
    kind: str  # "namespace", "class", "enum" or "block"
    name: str  # of a class or function; else empty
    parent: Optional["Scope"]

    def path(self) -> str:
        """Loader::write for what stands in that function, whatever blocks and lambdas are around it."""
        outer = self.parent.path() if self.parent else ""
        return "::".join(filter(None, [outer, self.name]))


class Reading(NamedTuple):
    tokens: list  # without directives
    scopes: list  # of each token
    declarations: list  # (Scope, tokens) of each statement of a namespace or class; a block in it is one token "{}"
    macros: list  # the tokens of each #define


def read(text: str) -> Reading:
    return _Reader().read(source_text.live(source_text.tokens(text)))


class _Open(NamedTuple):
    scope: Scope
    head: list  # of the statement that the brace belongs to
    ends: bool  # whether the statement ends at the closing brace


class _Reader:
    def read(self, tokens: list) -> Reading:
        reading = Reading([], [], [], [])
        scope, head, opened, branches = Scope("namespace", "", None), [], [], []
        depth = 0  # of ( and [ in the head
        for i, token in enumerate(tokens):
            if token.kind == "directive":
                if token.text == "define":
                    reading.macros.append(list(token.inner))
                elif token.text in ("if", "ifdef", "ifndef"):
                    branches.append([(scope, list(head), list(opened), depth), None])
                elif token.text in ("elif", "else", "elifdef", "elifndef") and branches:
                    branches[-1][1] = branches[-1][1] or (scope, list(head), list(opened), depth)
                    scope, head, opened, depth = branches[-1][0]
                    head, opened = list(head), list(opened)
                elif token.text == "endif" and branches:
                    scope, head, opened, depth = branches.pop()[1] or (scope, head, opened, depth)
                continue
            reading.tokens.append(token)
            reading.scopes.append(scope)
            text = token.text if token.kind == "mark" else ""
            if text == "{":
                kind, name, ends = _opens(head) if scope.kind in ("namespace", "class") else _opens_in_block(head)
                if depth and kind != "class":  # a lambda or braces among arguments
                    kind, name, ends = "block", "", False
                opened.append((_Open(scope, head, ends), depth))
                scope, head, depth = Scope(kind, name, scope), [], 0
            elif text == "}":
                if opened:
                    kind = scope.kind
                    (scope, head, ends), depth = opened.pop()
                    if ends:
                        head = []
                    elif kind in ("class", "enum"):
                        head = head + [Token("name", token.line, "{}")]  # stands for the type
                    else:
                        head = head + [Token("mark", token.line, "{}")]
            elif text == ";" and not depth:
                if head and scope.kind in ("namespace", "class"):
                    reading.declarations.append((scope, head))
                head = []
            elif text == ":" and scope.kind == "class" and len(head) == 1 and head[0].text in ("public", "private", "protected"):
                head = []
            else:
                depth = max(0, depth + (text in ("(", "[")) - (text in (")", "]"))) if text else depth
                head.append(token)
        return reading


def _opens(head: list):
    """(kind, name, whether the statement ends with it) of a brace after `head`, outside functions."""
    words = without_decoration(head)
    texts = [word.text for word in words]
    if not texts:
        return ("namespace" if [t.text for t in head[:1]] == ["extern"] else "block"), "", True
    if "namespace" in texts[:2]:
        return "namespace", "", True
    if texts[0] == "extern" and len(texts) == 2 and words[1].kind == "string":
        return "namespace", "", True
    mark = first_of(words, ("=", "("))
    if mark is not None and texts[mark] == "(":
        name = _function_name(words, mark)
        if name:
            after = closing(words, mark) + 1
            start = next((i for i in range(after, len(words)) if texts[i] == ":"), None)
            if start is not None and start + 1 < len(words) and texts[-1] not in (")", "{}", "...", "try"):
                return "block", name, False  # the braces of a member in a constructor's list
            return "block", name, True
    return _opens_type(words, mark) or ("block", "", False)


def _opens_in_block(head: list):
    words = without_decoration(head)
    return _opens_type(words, first_of(words, ("=", "("))) or ("block", "", True)


_BEFORE_A_TYPE = ("typedef", "static", "inline", "const", "constexpr", "constinit", "volatile", "extern")


def _opens_type(words: list, mark):
    if mark is not None:
        return None
    texts = [word.text for word in words if word.text not in _BEFORE_A_TYPE]
    if not texts or texts[0] not in ("class", "struct", "union", "enum"):
        return None
    names = texts[1:texts.index(":")] if ":" in texts else texts[1:]
    names = [name for name in names if name not in ("final", "class", "struct")]
    if "{}" in names or len(names) > 1 and ":" not in texts and "::" not in names and "<" not in names and not names[0].isupper():
        return None  # struct sigaction action{…}: a variable
    name = names[-1] if names and names[-1].isidentifier() else names[0] if names else ""
    return "enum" if texts[0] == "enum" else "class", name, False


def _function_name(words: list, mark: int) -> str:
    """The name before the ( at `mark`: Loader::write, operator==, ~Loader."""
    texts = [word.text for word in words[:mark]]
    if "operator" in texts:
        return "".join(texts[texts.index("operator"):])
    if not texts or not (words[mark - 1].kind == "name" or texts[-1] == ">"):
        return ""
    parts, i = [], mark - 1
    while i >= 0:
        if texts[i] == ">":  # a specialisation's arguments
            depth = 0
            while i >= 0:
                depth += (texts[i] == ">") - (texts[i] == "<")
                i -= 1
                if depth == 0:
                    break
            continue
        if words[i].kind != "name":
            break
        parts.insert(0, texts[i])
        if i and texts[i - 1] == "~":
            parts[0] = "~" + parts[0]
            i -= 1
        if not (i > 1 and texts[i - 1] == "::"):
            break
        i -= 2
    return "::".join(parts)


def first_of(words: list, wanted: tuple):
    """Index of the first of those marks outside brackets and template arguments; None when there is none."""
    i = 0
    while i < len(words):
        if words[i].text == "operator":
            i += 1
            while i < len(words) and words[i].kind == "mark" and (words[i].text != "(" or words[i - 1].text == "operator"):
                i += 2 if words[i].text in "([" else 1
            continue
        if words[i].kind == "mark":
            if words[i].text in wanted:
                return i
            if words[i].text in ("(", "["):
                i = closing(words, i)
            elif words[i].text == "<" and i and (words[i - 1].kind == "name"):
                i = angle_end(words, i) or i
        i += 1
    return None


_WITH_ARGUMENTS = ("alignas", "__attribute__", "__declspec", "decltype", "explicit", "noexcept", "requires", "typeof", "__typeof__")


def without_decoration(head: list) -> list:
    """A statement without attributes, template<…>, alignas(…), a macro call before it; decltype(…) becomes one name."""
    words, i = [], 0
    while i < len(head):
        token = head[i]
        following = head[i + 1].text if i + 1 < len(head) else ""
        if token.text == "[" and following == "[":
            i = closing(head, i)
        elif token.text == "template" and following == "<" and not words:
            i = angle_end(head, i + 1) or i + 1
        elif token.text in _WITH_ARGUMENTS and following == "(":
            i = closing(head, i + 1)
            if "type" in token.text:
                words.append(Token("name", token.line, token.text))
        elif not words and token.kind == "name" and token.text.isupper() and following == "(":
            end = closing(head, i + 1)
            if end + 1 < len(head) and (head[end + 1].kind == "name" or head[end + 1].text == "["):
                i = end
            else:
                words.append(token)
        else:
            words.append(token)
        i += 1
    return words
