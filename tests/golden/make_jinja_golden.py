#!/usr/bin/env python3
"""Writes tests/data/golden/jinja.jsonl: what Python's jinja2 makes of each case in jinja_cases.py and jinja_templates.py.

    python3 -m venv venv && venv/bin/pip install 'jinja2==3.1.6'
    venv/bin/python tests/golden/make_jinja_golden.py

The environment is the one transformers renders chat templates with: the immutable sandbox, trim_blocks, lstrip_blocks, loop
controls, the `generation` tag, and its tojson, raise_exception and strftime_now. Cases marked `mutable` use the plain sandbox,
since the immutable one refuses list.append and its like, which some published templates call. A line holds name, template,
input, and either `expected` (the text) or `error` (Python's message; the test wants an error, not its words). Keys that are
not strings cannot be in `input`, as it is JSON.
"""
import json
import os
from datetime import datetime

from jinja2 import nodes
from jinja2.exceptions import TemplateError
from jinja2.ext import Extension
from jinja2.sandbox import ImmutableSandboxedEnvironment, SandboxedEnvironment

import jinja_cases
import jinja_templates


class Generation(Extension):
    """{% generation %}…{% endgeneration %} renders its body, in a scope of its own."""

    tags = {"generation"}

    def parse(self, parser):
        lineno = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return nodes.CallBlock(self.call_method("_render"), [], [], body).set_lineno(lineno)

    def _render(self, caller):
        return caller()


def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def raise_exception(message):
    raise TemplateError(message)


def environment(mutable):
    kind = SandboxedEnvironment if mutable else ImmutableSandboxedEnvironment
    env = kind(trim_blocks=True, lstrip_blocks=True, extensions=[Generation, "jinja2.ext.loopcontrols"])
    env.filters["tojson"] = tojson
    env.filters["from_json"] = json.loads
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda form: datetime.now().strftime(form)
    return env


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    out = os.path.join(here, "..", "data", "golden", "jinja.jsonl")
    os.makedirs(os.path.dirname(out), exist_ok=True)
    environments = {mutable: environment(mutable) for mutable in (False, True)}
    cases = jinja_cases.cases() + jinja_templates.cases()
    names = set()
    with open(out, "w", encoding="utf-8") as file:
        for name, template, variables, mutable in cases:
            assert name not in names, name
            names.add(name)
            # Through JSON, as the input of a render is.
            variables = json.loads(json.dumps(variables))
            line = {"name": name, "template": template, "input": variables}
            try:
                line["expected"] = environments[mutable].from_string(template).render(**json.loads(json.dumps(variables)))
            except Exception as error:  # noqa: BLE001 - whatever Python raises is the expectation
                line["error"] = f"{type(error).__name__}: {error}"
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main()
