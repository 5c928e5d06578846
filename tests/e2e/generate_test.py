#!/usr/bin/env python3
"""`outrider generate` as a program uses it: the JSON's names, repeatable output, and the promise that a drafter changes only the speed."""

import json
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

from outrider import BINARY, DRAFTER, INTERRUPTED, OK, json_lines, run

REPEATING = "Repeat this sentence three times: the quick brown fox jumps over the lazy dog near the river bank."


class Answer(unittest.TestCase):
    def generate(self, *arguments, **keywords):
        outcome = run("generate", "--json", *arguments, **keywords)
        self.assertEqual(outcome.code, OK, outcome)
        return outcome.json()

    def test_the_json_has_the_names_that_are_promised(self):
        answer = self.generate("--drafter", DRAFTER, "-n", 24, "-p", REPEATING)
        self.assertEqual(set(answer), {"text", "token_ids", "finish_reason", "drafter", "usage", "speculation", "timing"})
        self.assertEqual(set(answer["drafter"]), {"name", "library", "version"})
        self.assertEqual(set(answer["usage"]), {"prompt_tokens", "completion_tokens"})
        self.assertEqual(set(answer["speculation"]), {"rounds", "drafted", "correct_drafts", "acceptance_length"})
        self.assertEqual(set(answer["timing"]), {"prefill_tokens_per_second", "decode_tokens_per_second"})
        self.assertEqual(answer["drafter"]["name"], DRAFTER)
        self.assertTrue(pathlib.Path(answer["drafter"]["library"]).is_file())
        self.assertEqual(answer["usage"]["completion_tokens"], len(answer["token_ids"]))
        self.assertGreater(answer["timing"]["decode_tokens_per_second"], 0)

    def test_the_counts_of_speculation_add_up(self):
        answer = self.generate("--drafter", DRAFTER, "-n", 96, "-p", REPEATING)
        counts = answer["speculation"]
        self.assertGreater(counts["drafted"], 0)
        self.assertLessEqual(counts["correct_drafts"], counts["drafted"])
        self.assertAlmostEqual(counts["acceptance_length"], (counts["correct_drafts"] + counts["rounds"]) / counts["rounds"], places=6)
        plain = self.generate("--drafter", "none", "-n", 96, "-p", REPEATING)
        self.assertEqual(plain["drafter"], {"name": "none", "library": None, "version": None})
        self.assertEqual(plain["speculation"]["drafted"], 0)
        self.assertEqual(plain["token_ids"], answer["token_ids"])
        self.assertEqual(plain["text"], answer["text"])
        self.assertLess(counts["rounds"], plain["speculation"]["rounds"])

    def test_the_ids_decode_to_the_text(self):
        answer = self.generate("-n", 24, "--ignore-eos", "-p", "Count to five.")
        self.assertEqual(answer["finish_reason"], "length")
        self.assertEqual(len(answer["token_ids"]), 24)
        decoded = run("detokenize", stdin=json_lines([{"ids": answer["token_ids"]}])).lines()[0]["text"]
        self.assertTrue(decoded.replace("<|im_end|>", "").startswith(answer["text"][:20]), (decoded, answer["text"]))

    def test_the_prompt_may_follow_the_configuration_files(self):
        asked = self.generate("-n", 12, "-p", "Count to five.")
        with tempfile.TemporaryDirectory() as folder:
            first, second = pathlib.Path(folder) / "a.toml", pathlib.Path(folder) / "b.toml"
            first.write_text("[spec]\nalgorithm = 'none'\n")
            second.write_text(f"[spec]\nalgorithm = '{DRAFTER}'\n")
            answer = self.generate("-n", 12, "--config", first, "--config", second, "Count to five.")
            self.assertEqual(answer["drafter"]["name"], DRAFTER)  # the later file wins
            self.assertEqual(answer["token_ids"], asked["token_ids"])
            answer = self.generate("-n", 12, "Count to five.", "--config", second, "--config", first)
            self.assertEqual(answer["drafter"]["name"], "none")
            self.assertEqual(answer["token_ids"], asked["token_ids"])

    def test_a_seed_repeats_the_text_and_another_one_changes_it(self):
        options = ("--temp", 0.9, "-n", 32, "-p", "Tell me a story.")
        first = self.generate(*options, "--seed", 7)
        self.assertEqual(self.generate(*options, "--seed", 7, "--drafter", DRAFTER)["token_ids"], first["token_ids"])
        self.assertNotEqual(self.generate(*options, "--seed", 8)["token_ids"], first["token_ids"])

    def test_a_stop_text_ends_the_output_and_is_not_part_of_it(self):
        full = self.generate("-n", 48, "-p", "Count from one to ten in digits.")
        middle = full["text"][len(full["text"]) // 2:][:3]
        cut = self.generate("-n", 48, "--stop", middle, "-p", "Count from one to ten in digits.")
        self.assertEqual(cut["finish_reason"], "stop")
        self.assertEqual(cut["text"], full["text"][:full["text"].index(middle)])

    def test_a_stop_token_ends_the_output(self):
        full = self.generate("-n", 16, "-p", "Hello")
        stop = full["token_ids"][5]
        cut = self.generate("-n", 16, "--stop-token", stop, "-p", "Hello")
        self.assertEqual(cut["finish_reason"], "stop")
        self.assertEqual(cut["token_ids"], full["token_ids"][:full["token_ids"].index(stop) + 1])

    def test_a_bias_keeps_a_token_out(self):
        first = self.generate("-n", 4, "-p", "Hello")["token_ids"][0]
        self.assertNotEqual(self.generate("-n", 4, "--logit-bias", f"{first}=-inf", "-p", "Hello")["token_ids"][0], first)

    def test_several_completions_are_a_line_each_and_differ(self):
        outcome = run("generate", "--json", "--n", 3, "--temp", 1, "--seed", 1, "-n", 16, "-p", "Tell me a story.")
        answers = outcome.lines()
        self.assertEqual([answer["index"] for answer in answers], [0, 1, 2])
        self.assertEqual(len({tuple(answer["token_ids"]) for answer in answers}), 3)

    def test_text_and_system_text_go_through_the_template(self):
        chat = self.generate("--system", "Be brief.", "-n", 1, "-p", "Hi")
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
        rendered = run("render", stdin=json_lines([{"messages": messages, "add_generation_prompt": True}])).lines()[0]["text"]
        raw = self.generate("--raw", "-n", 1, "-p", rendered)
        self.assertEqual(chat["usage"], raw["usage"])
        self.assertEqual(chat["token_ids"], raw["token_ids"])


class Summary(unittest.TestCase):
    def test_the_answer_streams_to_standard_output_and_the_summary_goes_to_standard_error(self):
        outcome = run("generate", "-n", 16, "-p", "Hello")
        self.assertEqual(outcome.code, OK, outcome)
        text = json.loads(run("generate", "--json", "-n", 16, "-p", "Hello").out)["text"]
        self.assertEqual(outcome.out, text + "\n")
        self.assertIn("tokens/s", outcome.err)
        self.assertEqual(run("generate", "-q", "-n", 16, "-p", "Hello").err, "")

    def test_plain_decoding_is_compared_in_the_same_run(self):
        outcome = run("generate", "--drafter", DRAFTER, "--compare-plain", "-n", 64, "-p", REPEATING)
        self.assertEqual(outcome.code, OK, outcome)
        for word in ("output identical: yes", DRAFTER, ".so", "acceptance length", "proposed", "accepted", "plain decode", "ratio"):
            self.assertIn(word, outcome.out)
        answer = run("generate", "--json", "--drafter", DRAFTER, "--compare-plain", "-n", 64, "-p", REPEATING).json()
        self.assertIs(answer["plain"]["identical"], True)
        self.assertGreater(answer["plain"]["ratio"], 0)


class Many(unittest.TestCase):
    def test_many_prompts_at_once_give_what_each_gives_alone_in_order(self):
        prompts = ["Say yes.", "What is two and two?", REPEATING, "Name a colour.", "Write one line about rain."]
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.write(json_lines([{"id": i, "prompt": prompt, "max_tokens": 8 + 8 * i} for i, prompt in enumerate(prompts)]))
            file.flush()
            together = run("generate", "--jsonl", file.name, "--parallel", 3, "--drafter", DRAFTER, "--json")
            alone = run("generate", "--jsonl", file.name, "--parallel", 1, "--drafter", "none", "--json")
            text = run("generate", "--jsonl", file.name, "--parallel", 5)
        self.assertEqual(together.code, OK, together)
        self.assertEqual([answer["id"] for answer in together.lines()], list(range(len(prompts))))
        self.assertEqual([answer["token_ids"] for answer in together.lines()], [answer["token_ids"] for answer in alone.lines()])
        self.assertEqual(text.out.count("--- line "), len(prompts))


class Interrupt(unittest.TestCase):
    def test_ctrl_c_stops_the_answer_and_the_program_with_130(self):
        process = subprocess.Popen([BINARY, "generate", "--ignore-eos", "-n", "8000", "-p", "Write a very long story."],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.assertTrue(process.stdout.read(1))  # it has begun to answer
            process.send_signal(signal.SIGINT)
            started = time.monotonic()
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, INTERRUPTED, err)
            self.assertLess(time.monotonic() - started, 20)  # eight thousand tokens take longer
        finally:
            process.kill()


if __name__ == "__main__":
    unittest.main()
