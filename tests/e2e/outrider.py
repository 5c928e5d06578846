"""Starts the program under test. Every end-to-end test goes through run(): arguments and standard input in, exit code and output out."""

import json
import os
import pathlib
import subprocess
from typing import NamedTuple

BINARY = os.environ.get("OUTRIDER_BIN", "build/release/bin/outrider")
LIBRARIES = pathlib.Path(os.environ.get("OUTRIDER_PLUGINS", "build/release/lib/outrider"))  # plugins/ and evil/ are in it
DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
DRAFTER = "ngram"

OK, FAILED, USAGE, DIFFERS, INTERRUPTED = 0, 1, 2, 3, 130


class Outcome(NamedTuple):
    code: int
    out: str
    err: str

    def lines(self):
        return [json.loads(line) for line in self.out.splitlines()]

    def json(self):
        return json.loads(self.out)


def run(*arguments, stdin=b"", timeout=120, environment=None):
    """Standard output must be UTF-8 whatever the program was given."""
    if isinstance(stdin, str):
        stdin = stdin.encode()
    done = subprocess.run([BINARY, *map(str, arguments)], input=stdin, capture_output=True, timeout=timeout,
                          env={**os.environ, **(environment or {})})
    return Outcome(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8", "backslashreplace"))


def json_lines(objects):
    return "".join(json.dumps(item) + "\n" for item in objects)


def reference(name):
    with open(DATA / "reference" / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]
