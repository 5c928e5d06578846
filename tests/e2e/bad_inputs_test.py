#!/usr/bin/env python3
"""Inputs that no one should give and someone does: each is a clear error or a right answer, never a crash."""

import json
import pathlib
import tempfile
import unittest

from outrider import FAILED, OK, json_lines, run

SHORT = ("--max-tokens", 8, "--json")


class BadPrompts(unittest.TestCase):
    def failed(self, outcome, *words):
        self.assertEqual(outcome.code, FAILED, outcome)
        self.assertTrue(outcome.err.startswith("error: "), outcome.err)
        for word in words:
            self.assertIn(word, outcome.err)

    def answered(self, outcome):
        self.assertEqual(outcome.code, OK, outcome)
        answer = outcome.json()
        self.assertGreater(len(answer["token_ids"]), 0)
        return answer

    def test_a_prompt_longer_than_the_context_is_an_error_that_says_both_lengths(self):
        self.failed(run("generate", *SHORT, stdin="word " * 12000), "context", "8192", "12")

    def test_a_line_of_a_megabyte_is_an_error_in_little_time(self):
        self.failed(run("generate", *SHORT, stdin="a" * (1 << 20), timeout=60), "context")
        self.failed(run("generate", *SHORT, stdin="\n".join(["x y"] * (1 << 18)), timeout=60), "context")

    def test_an_empty_prompt_is_answered_through_the_template(self):
        self.answered(run("generate", *SHORT, "--prompt", ""))
        self.answered(run("generate", *SHORT, stdin=b""))

    def test_an_empty_raw_prompt_is_an_error(self):
        self.failed(run("generate", *SHORT, "--raw", "--prompt", ""), "prompt", "at least one token")

    def test_bytes_that_are_no_utf8_are_answered_with_a_warning_where_the_vocabulary_lacks_them(self):
        outcome = run("generate", *SHORT, stdin=b"caf\xe9 \xff\xfe\xc3")
        self.answered(outcome)
        self.assertIn("warning: prompt: 2 byte(s)", outcome.err)

    def test_nul_bytes_are_part_of_the_prompt(self):
        answer = self.answered(run("generate", *SHORT, "--raw", stdin=b"one\0two\0"))
        ids = run("tokenize", stdin=json_lines([{"text": "one\0two\0"}])).lines()[0]["ids"]
        self.assertEqual(answer["usage"]["prompt_tokens"], len(ids))


class BadFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def failed(self, outcome, *words):
        self.assertEqual(outcome.code, FAILED, outcome)
        self.assertTrue(outcome.err.startswith("error: "), outcome.err)
        for word in words:
            self.assertIn(word, outcome.err)

    def test_an_unknown_model_is_named_with_what_there_is(self):
        self.failed(run("generate", "--model", "no-such-model", "-p", "x"), "no-such-model", "smollm2-135m-instruct", "fetch-model")

    def test_a_file_that_is_no_model_is_refused_by_name(self):
        for name, content in (("empty.gguf", b""), ("text.gguf", b"not a model\n" * 10), ("head.gguf", b"GGUF\3\0\0\0")):
            with self.subTest(name):
                file = self.path / name
                file.write_bytes(content)
                self.failed(run("generate", "--model", file, "-p", "x"), name)

    def test_a_folder_is_no_model_and_no_prompt(self):
        self.failed(run("generate", "--model", self.path, "-p", "x"), str(self.path))
        self.failed(run("generate", "--file", self.path), str(self.path))

    def test_a_prompt_file_that_is_not_there_is_named(self):
        self.failed(run("generate", "--file", self.path / "gone.txt"), "gone.txt")

    def test_a_bad_line_of_many_is_answered_with_an_error_and_the_others_with_text(self):
        file = self.path / "prompts.jsonl"
        good = [{"id": "a", "prompt": "Say yes."}, {"id": "c", "messages": [{"role": "user", "content": "Say no."}], "max_tokens": 4}]
        lines = [json.dumps(good[0]).encode(), b"{broken", json.dumps(good[1]).encode(), b'{"prompt": 7}',
                 b'{"prompt": "x", "top_k": "many"}', b'{"prompt": "' + b"x" * (1 << 20) + b'"}', b'{"prompt": "\xff"}']
        file.write_bytes(b"\n".join(lines) + b"\n")
        outcome = run("generate", "--jsonl", file, "--parallel", 2, *SHORT)
        self.assertEqual(outcome.code, FAILED, outcome)
        answers = outcome.lines()
        self.assertEqual([("text" in answer, "error" in answer) for answer in answers],
                         [(True, False), (False, True), (True, False)] + [(False, True)] * 4)
        self.assertEqual([answers[0]["id"], answers[2]["id"]], ["a", "c"])
        self.assertEqual(answers[2]["usage"]["completion_tokens"], 4)
        self.assertIn("line 4", answers[3]["error"])
        self.assertIn("top_k", answers[4]["error"])
        self.assertIn("context", answers[5]["error"])


class BadFilterLines(unittest.TestCase):
    def test_a_bad_line_is_answered_on_its_line_and_the_run_goes_on(self):
        for command, good, bad in (
                ("tokenize", {"text": "a"}, [{"text": 1}, {}, []]),
                ("detokenize", {"ids": [1]}, [{"ids": [-1]}, {"ids": [1.5]}, {"ids": [10 ** 9]}, {"ids": [2 ** 40]}, {"ids": "1"}]),
                ("render", {"messages": [{"role": "user", "content": "a"}]}, [{"messages": 3}, []]),
                ("score", {"ids": [1, 2], "want": [[3]]}, [{"ids": [10 ** 6]}, {"ids": [1], "want": [[1], [2]]}, {"want": []},
                                                           {"ids": [1], "want": [[10 ** 6]]}, {"ids": [1] * 9000}])):
            with self.subTest(command):
                stdin = json_lines([good, *bad, good]).encode() + b"{\xff}\n\n" + json_lines([good]).encode()
                outcome = run(command, stdin=stdin)
                self.assertEqual(outcome.code, FAILED)
                answers = outcome.lines()
                self.assertEqual(len(answers), len(bad) + 4)
                self.assertEqual([i for i, answer in enumerate(answers) if "error" not in answer], [0, len(bad) + 1, len(bad) + 3])
                self.assertEqual(answers[0], answers[-1])
                self.assertIn("line 2", answers[1]["error"])

    def test_a_line_of_a_megabyte_goes_there_and_back(self):
        texts = [{"text": "x" * (1 << 20)}, {"text": "\n" * (1 << 18)}, {"text": "naïve 漢字 " * 60000}]
        ids = run("tokenize", stdin=json_lines(texts))
        self.assertEqual(ids.code, OK, ids.err)
        self.assertEqual(run("detokenize", stdin=ids.out).lines(), texts)

    def test_no_lines_give_no_lines(self):
        self.assertEqual(run("tokenize", stdin=b""), (OK, "", ""))


if __name__ == "__main__":
    unittest.main()
