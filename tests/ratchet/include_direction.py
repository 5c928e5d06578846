#!/usr/bin/env python3
"""Fails on an #include that climbs: ALLOWED below is the only place that says which room may include which.

    include_direction.py ROOT
"""

import pathlib
import posixpath
import sys

import source_text

# Room -> the rooms it may include, besides itself. Rooms of host/ are written host/NAME; a plugin may include its own folder alone.
_BOTTOM = {"host/base"}
_FILES = _BOTTOM | {"host/config", "host/formats", "host/text"}
_ENGINE = _FILES | {"host/model", "host/verify", "host/drafting", "host/parallel", "kernels"}
ALLOWED = {
    "plugin_api": set(),
    "sdk": {"plugin_api"},
    "plugins": {"plugin_api", "sdk"},
    "kernels": set(),
    "host/base": set(),
    "host/config": _BOTTOM,
    "host/formats": _BOTTOM | {"kernels"},  # the tensor types
    "host/text": _BOTTOM | {"host/formats"},
    "host/parallel": _BOTTOM | {"host/config", "kernels"},
    "host/model": _FILES | {"host/parallel", "kernels"},
    "host/verify": _FILES | {"kernels"},
    "host/drafting": _FILES | {"plugin_api", "kernels"},
    "host/scheduler": _ENGINE,
    "host/server": _ENGINE | {"host/scheduler"},
    "host/cli": _ENGINE | {"host/scheduler"},
}

# Single headers that a room may include although it may not include their room.
ALLOWED_HEADERS = {
    ("host/drafting", "host/verify/draft_tree.hpp"),  # the draft itself, which both speak of
}

# Where an include may be found, after the includer's own folder. The first two make the includes that style.md asks for.
SEARCH = ["host", "", "plugins", "plugin_api/include", "sdk/include"]
TOP = {"plugin_api", "sdk", "plugins", "kernels", "host"}


def room_of(path: str):
    """host/cli/app.cpp -> host/cli; kernels/cpu/isa.hpp -> kernels; None for what is in no room."""
    parts = path.split("/")
    if parts[0] == "host":
        return "/".join(parts[:2]) if len(parts) > 2 else None
    return parts[0] if parts[0] in TOP else None


def resolve(root: pathlib.Path, includer: str, include: source_text.Include):
    """The included file's path from the root; None when it is none of ours (a system header)."""
    bases = [posixpath.dirname(includer)] if include.quoted else []
    for base in bases + SEARCH:
        candidate = posixpath.normpath(posixpath.join(base, include.path))
        if not candidate.startswith("..") and (root / candidate).is_file():
            return candidate
    return None


def judge(includer: str, target: str):
    """Why the arrow is not allowed, or None."""
    source, to = room_of(includer), room_of(target)
    if source is None or source == to and source != "plugins":
        return None
    if source not in ALLOWED:
        return f"{source} has no line in ALLOWED of tests/ratchet/include_direction.py"
    if source == to == "plugins":
        same = includer.split("/")[1] == target.split("/")[1]
        return None if same else "a plugin may not include another plugin"
    if to in ALLOWED[source] or (source, target) in ALLOWED_HEADERS:
        return None
    return f"{source} may not include {to or target}"


def breaches(root: pathlib.Path) -> list:
    found = []
    for top in sorted(TOP):
        for path in source_text.files_under(root / top):
            if not source_text.is_c_like(path):
                continue
            name = path.relative_to(root).as_posix()
            for include in source_text.includes(source_text.read(path)):
                target = resolve(root, name, include)
                if target is None:
                    if include.quoted:
                        found.append(f'{name}:{include.line}: "{include.path}" is not in the tree; system headers are written <…>')
                    continue
                why = judge(name, target)
                if why:
                    found.append(f"{name}:{include.line}: {why} ({include.path})")
    return found


if __name__ == "__main__":
    sys.exit(source_text.report("include direction", breaches(pathlib.Path(sys.argv[1]))))
