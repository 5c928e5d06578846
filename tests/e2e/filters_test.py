#!/usr/bin/env python3
"""Tokenizer, chat template and logits against reference values from other programs (tests/data/README.md)."""

import json
import math
import os
import pathlib
import tempfile
import unittest

from outrider import OK, json_lines, reference, run

MODEL = "smollm2-135m-instruct"


def folder_of_models():
    return pathlib.Path(os.environ.get("OUTRIDER_MODELS") or pathlib.Path.home() / ".cache/outrider/models")


class Tokenizer(unittest.TestCase):
    def check_tokenizer(self, model, file):
        lines = reference(file)
        self.assertEqual(len(lines), 440)
        encoded = run("tokenize", "--model", model, stdin=json_lines([{"text": line["text"]} for line in lines]))
        self.assertEqual(encoded.code, OK, encoded.err)
        for line, answer in zip(lines, encoded.lines(), strict=True):
            self.assertEqual(answer, {"ids": line["ids"]}, line["text"])
        decoded = run("detokenize", "--model", model, stdin=json_lines([{"ids": line["ids"]} for line in lines]))
        self.assertEqual(decoded.code, OK, decoded.err)
        unknown = run("tokenize", "--model", model, stdin=json_lines([{"text": "\x04"}])).lines()[0]["ids"]
        for line, answer in zip(lines, decoded.lines(), strict=True):
            if not set(unknown) & set(line["ids"]):  # an unknown byte is lost
                self.assertEqual(answer, {"text": line["text"]})

    def test_ids_of_the_default_model_equal_the_reference_both_ways(self):
        self.check_tokenizer(MODEL, "tokenizer_smollm2.jsonl")

    def test_ids_of_a_second_model_equal_the_reference_both_ways_where_it_was_fetched(self):
        for model, file in (("qwen2.5-coder-0.5b-instruct", "tokenizer_qwen2.5-coder.jsonl"), ("gemma-3-270m", "tokenizer_gemma3.jsonl")):
            if (folder_of_models() / f"{model}.gguf").is_file():
                with self.subTest(model):
                    self.check_tokenizer(model, file)


class Templates(unittest.TestCase):
    def test_conversations_render_as_the_reference_does(self):
        lines = [line for line in reference("chat_templates.jsonl") if line["model"] == MODEL]
        self.assertGreater(len(lines), 10)
        names = ("messages", "tools", "add_generation_prompt")
        rendered = run("render", stdin=json_lines([{name: line[name] for name in names} for line in lines]))
        self.assertEqual(rendered.code, OK, rendered.err)
        for line, answer in zip(lines, rendered.lines(), strict=True):
            self.assertEqual(answer, {"text": line["expected"]})

    def test_a_template_of_ones_own_sees_every_member(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jinja") as file:
            file.write("{{ bos_token }}{% for m in messages %}[{{ m.role }}] {{ m['content'] }}{% endfor %}"
                       "{% if x is defined %}{{ x }}{% endif %}")
            file.flush()
            outcome = run("render", "--template", file.name, stdin=json_lines([
                {"messages": [{"role": "user", "content": "a"}], "bos_token": "<s>", "x": 7}, {"messages": []}]))
            self.assertEqual(outcome.lines(), [{"text": "<s>[user] a7"}, {"text": ""}])

    def test_a_template_that_cannot_be_read_is_told_with_its_place(self):
        with tempfile.NamedTemporaryFile("w", suffix=".jinja") as file:
            file.write("{{ a }}\n{% fly %}")
            file.flush()
            outcome = run("render", "--template", file.name, stdin=b"{}\n")
            self.assertEqual(outcome.code, 1)
            self.assertIn("line 2", outcome.err)
            self.assertIn("fly", outcome.err)


class Logits(unittest.TestCase):
    def check_law(self, model, file, most_divergence, least_agreement, kv_type="f16"):
        lines = reference(file)
        scored = run("score", "--model", model, "--kv-type", kv_type, timeout=120,
                     stdin=json_lines([{"ids": line["ids"], "want": line["top_ids"]} for line in lines]))
        self.assertEqual(scored.code, OK, scored.err)
        rows, divergence, agreed = 0, 0.0, 0
        for line, answer in zip(lines, scored.lines(), strict=True):
            log_ps = line["top_logprobs"]
            self.assertEqual(len(answer["logprobs"]), len(log_ps))
            for log_p, log_q, ids, argmax in zip(log_ps, answer["logprobs"], line["top_ids"], answer["argmax"], strict=True):
                rest_p = max(1e-12, 1 - sum(map(math.exp, log_p)))
                rest_q = max(1e-12, 1 - sum(map(math.exp, log_q)))
                divergence += sum(math.exp(p) * (p - q) for p, q in zip(log_p, log_q)) + rest_p * math.log(rest_p / rest_q)
                agreed += argmax == ids[0]
                rows += 1
        self.assertGreater(rows, 100)
        self.assertLess(divergence / rows, most_divergence)
        self.assertGreater(agreed / rows, least_agreement)
        print(f"{model}, KV {kv_type}: KL32 {divergence / rows:.2e} over {rows} rows, arg-max agrees in {100 * agreed / rows:.1f} %")

    # The bounds are what llama.cpp reaches on the same rows. Our figures are the same on every machine, to the bit.
    def test_the_law_is_the_reference_law_at_least_as_nearly_as_a_peer_computes_it(self):
        self.check_law(MODEL, f"logits_{MODEL}.jsonl", 2.9e-3, 0.967)

    def test_the_law_of_other_models_is_the_reference_law_where_they_were_fetched(self):
        for model, file, most_divergence, least_agreement in (
                ("gemma-3-270m", "logits_gemma3-270m.jsonl", 3.9e-3, 0.96),
                ("qwen2.5-coder-0.5b-instruct", "logits_qwen2.5-coder-0.5b-instruct.jsonl", 8.7e-4, 0.985)):
            if (folder_of_models() / f"{model}.gguf").is_file():
                with self.subTest(model):
                    self.check_law(model, file, most_divergence, least_agreement)

    def test_the_law_with_a_cache_of_q8_0_is_nearly_that_of_f16(self):
        self.check_law(MODEL, f"logits_{MODEL}.jsonl", 5e-3, 0.95, kv_type="q8_0")

    def test_a_row_does_not_depend_on_what_was_asked_beside_it(self):
        ids = reference(f"logits_{MODEL}.jsonl")[0]["ids"]
        lines = [{"ids": ids, "want": [[7]] * len(ids)}, {"ids": ids[:3], "want": [[], [], [7]]}, {"ids": ids}]
        outcome = run("score", stdin=json_lines(lines))
        full, short, without = outcome.lines()
        self.assertEqual(short["logprobs"], [[], [], full["logprobs"][2]])
        self.assertEqual(short["argmax"], full["argmax"][:3])
        self.assertEqual(without["argmax"], full["argmax"])


if __name__ == "__main__":
    unittest.main()
