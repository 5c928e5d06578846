#!/usr/bin/env python3
"""Writes tests/data/golden/dequantize.json: random blocks of each tensor type and the floats that the `gguf` package makes of them.

    python3 -m venv venv && venv/bin/pip install gguf==0.19.0
    venv/bin/python tests/golden/make_dequantize_golden.py

The same version gives the same file. Blocks are random bits but for the scales, which are finite halves of every size (tiny and
negative ones too), since a NaN has no bits to agree on.
"""
import importlib.metadata
import json
import pathlib

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType as Type
from gguf.quants import dequantize

ELEMENTS = 1024
# Where in a block its half-precision scales lie.
SCALES = {Type.Q4_0: [0], Type.Q4_1: [0, 2], Type.Q5_0: [0], Type.Q5_1: [0, 2], Type.Q8_0: [0], Type.Q4_K: [0, 2], Type.Q5_K: [0, 2],
          Type.Q6_K: [208]}


def finite_halves(random, count):
    bits = random.integers(0, 1 << 16, count, dtype=np.uint16)
    return np.where((bits & 0x7C00) == 0x7C00, bits & 0x83FF, bits).astype(np.uint16)  # inf and NaN become subnormal


def random_blocks(random, kind):
    elements, size = GGML_QUANT_SIZES[kind]
    count = ELEMENTS // elements
    if kind in (Type.F32, Type.BF16):
        bits = random.integers(0, 1 << 32, ELEMENTS, dtype=np.uint32)
        bits = np.where((bits & 0x7F800000) == 0x7F800000, bits & 0x807FFFFF, bits).astype(np.uint32)
        values = bits if kind == Type.F32 else (bits >> 16).astype(np.uint16)
        return values.view(np.uint8).reshape(count, size)
    if kind == Type.F16:
        return finite_halves(random, ELEMENTS).view(np.uint8).reshape(count, size)
    blocks = random.integers(0, 256, (count, size), dtype=np.uint8)
    for at in SCALES[kind]:
        blocks[:, at:at + 2] = finite_halves(random, count).view(np.uint8).reshape(count, 2)
    return blocks


def main():
    random = np.random.default_rng(20240607)
    kinds = [Type.F32, Type.F16, Type.BF16, *SCALES]
    cases = []
    for kind in kinds:
        blocks = random_blocks(random, kind)
        row = blocks.reshape(-1)
        if kind in (Type.F32, Type.F16):  # the package takes these as arrays of their own type
            row = row.view(np.float32 if kind == Type.F32 else np.float16)
        expected = dequantize(row, kind).astype(np.float32).reshape(-1)
        assert expected.size == ELEMENTS and np.isfinite(expected).all(), kind
        cases.append({"type": kind.name, "gguf_type": int(kind), "elements": ELEMENTS, "blocks": blocks.tobytes().hex(),
                      "expected": expected.astype("<f4").tobytes().hex()})
    out = pathlib.Path(__file__).resolve().parent.parent / "data/golden/dequantize.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    made_by = "tests/golden/make_dequantize_golden.py with gguf " + importlib.metadata.version("gguf")
    lines = ",\n".join(json.dumps(case) for case in cases)
    out.write_text(f'{{"made_by": {json.dumps(made_by)}, "cases": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
