#!/usr/bin/env python3
"""Commands that answer without running the model, and how the program says that it was asked wrongly."""

import json
import pathlib
import subprocess
import tempfile
import unittest

from outrider import BINARY, DRAFTER, FAILED, OK, USAGE, run

COMMANDS = ["generate", "chat", "bench", "drafters", "models", "config", "tokenize", "detokenize", "render", "score"]


class Help(unittest.TestCase):
    def test_every_command_shows_examples(self):
        for command in COMMANDS:
            with self.subTest(command):
                outcome = run(command, "--help")
                self.assertEqual(outcome.code, OK)
                self.assertIn("Example", outcome.out)
                self.assertIn(f"outrider {command}", outcome.out)

    def test_a_command_of_a_command_shows_examples(self):
        outcome = run("bench", "kernels", "--help")
        self.assertEqual(outcome.code, OK)
        self.assertIn("outrider bench kernels", outcome.out)

    def test_the_exit_codes_are_in_the_help(self):
        outcome = run("--help")
        self.assertEqual(outcome.code, OK)
        for code in ("0 ", "1 ", "2 ", "3 ", "130 "):
            self.assertIn(f"\n  {code}", outcome.out)
        for command in COMMANDS:
            self.assertIn(command, outcome.out)

    def test_the_version_is_told(self):
        self.assertRegex(run("--version").out, r"^outrider \d+\.\d+\.\d+\n$")


class WrongCommandLines(unittest.TestCase):
    def refused(self, *arguments):
        outcome = run(*arguments)
        self.assertEqual(outcome.code, USAGE, outcome)
        self.assertTrue(outcome.err.startswith("error: "), outcome.err)
        self.assertEqual(outcome.out, "")
        return outcome.err

    def test_no_command_or_an_unknown_one_is_a_usage_error(self):
        self.refused()
        self.assertIn("--help", self.refused("fly"))

    def test_an_unknown_option_is_a_usage_error_that_names_it(self):
        self.assertIn("--spead", self.refused("generate", "--spead", "-p", "x"))

    def test_values_out_of_range_are_usage_errors_that_name_field_and_value(self):
        for option, value, field in (
                ("--temperature", "-1", "temperature"), ("--top-p", "1.5", "top_p"), ("--logit-bias", "7", "logit-bias"),
                ("--draft-tokens", "0", "draft_tokens"), ("--n", "0", "n"), ("--max-tokens", "many", "max-tokens")):
            with self.subTest(option):
                message = self.refused("generate", f"{option}={value}", "-p", "x")
                self.assertIn(field, message)
                self.assertIn(value, message)


class Configuration(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.file = pathlib.Path(self.folder.name) / "outrider.toml"

    def tearDown(self):
        self.folder.cleanup()

    def test_a_bad_file_is_told_with_place_and_nearest_name(self):
        self.file.write_text("[spec]\nalgorithm = 'none'\ndraft_tokns = 4\n")
        outcome = run("config", "check", self.file)
        self.assertEqual(outcome.code, USAGE, outcome)
        told = outcome.out + outcome.err
        self.assertIn(f"{self.file}:3:1", told)
        self.assertIn("draft_tokens", told)
        self.assertEqual(run("generate", "--config", self.file, "--prompt", "x").code, USAGE)

    def test_a_good_file_is_good_and_what_is_shown_can_be_read_again(self):
        self.file.write_text("[spec]\ndraft_tokens = 4\n")
        self.assertEqual(run("config", "check", self.file).code, OK)
        shown = run("config", "show", "--config", self.file, "--set", "spec.draft_depth=3")
        self.assertEqual(shown.code, OK, shown)
        self.file.write_text(shown.out)
        again = json.loads(run("config", "show", "--json", self.file).out)
        self.assertIn("draft_tokens", json.dumps(again))
        self.assertEqual(run("config", "check", self.file).code, OK)

    def test_the_schema_is_json(self):
        self.assertIn("properties", run("config", "schema").json())

    def test_a_value_is_explained_by_its_steps(self):
        outcome = run("config", "explain", "spec.draft_tokens", "--set", "spec.draft_tokens=5")
        self.assertEqual(outcome.code, OK, outcome)
        self.assertIn("default", outcome.out)
        self.assertIn("--set", outcome.out)
        self.assertEqual(run("config", "explain", "spec.draft_tokns").code, USAGE)

    def test_a_drafts_copy_is_explained_with_the_step_that_set_each_value(self):
        self.file.write_text("[spec]\ndraft_tokens = 4\ndraft_kv_type = 'f32'\n"
                             f"[drafter.{DRAFTER}]\nmax_n = 3\n[drafter.{DRAFTER}.corpora]\nmanual = 'm.jsonl'\n")
        outcome = run("config", "explain", "--draft", DRAFTER, "--config", self.file, "--set", f"drafter.{DRAFTER}.branches=2",
                      environment={"OUTRIDER_SPEC_BREAKER_STRIKES": "5"})
        self.assertEqual(outcome.code, OK, outcome)
        for expected in (
                "memory.kv_type = \"f32\"\n  from draft copy: spec.draft_kv_type: \"f32\"\n  over override target load: \"f16\"\n"
                "  over default: \"auto\"\n",
                "model.context_length = 8192\n  from draft copy: the target's context length: 8192\n  over override target load: 8192\n"
                "  over default: 0\n",
                f"spec.draft_tokens = 4\n  from {self.file}:2:16: 4\n  over default: 8\n",
                "spec.breaker_strikes = 5\n  from environment OUTRIDER_SPEC_BREAKER_STRIKES: 5\n",
                "  from pass host-threads: ",
                f"drafter.{DRAFTER}: /", f"{DRAFTER}.so\n",
                f"drafter.{DRAFTER}.max_n = 3\n  from {self.file}:5:9: 3\n",
                f"drafter.{DRAFTER}.branches = 2\n  from option --set drafter.{DRAFTER}.branches: 2\n",
                f"drafter.{DRAFTER}.corpora.manual = \"m.jsonl\"\n  from {self.file}:7:"):
            self.assertIn(expected, outcome.out)

    def test_a_drafts_copy_has_the_targets_own_context_length_when_one_is_set(self):
        told = run("config", "explain", "--json", "--draft", DRAFTER, "--context-length", 2048, "model.context_length").json()
        self.assertEqual(list(told), ["model.context_length", f"drafter.{DRAFTER}"])
        field = told["model.context_length"]
        self.assertEqual(field["value"], 2048)
        self.assertEqual([step["origin"]["kind"] for step in field["steps"]], ["default", "option", "draft_copy"])
        self.assertEqual(told[f"drafter.{DRAFTER}"]["options"], {})
        self.assertTrue(told[f"drafter.{DRAFTER}"]["found_at"].endswith(f"{DRAFTER}.so"))

    def test_a_drafter_that_does_not_exist_cannot_be_explained_and_those_that_do_are_named(self):
        outcome = run("config", "explain", "--draft", DRAFTER + "x")
        self.assertEqual((outcome.code, outcome.out), (USAGE, ""), outcome)
        self.assertIn(f"there are: {DRAFTER}", outcome.err)
        self.assertIn(f"did you mean '{DRAFTER}'?", outcome.err)
        self.assertIn("plain decoding", run("config", "explain", "--draft", "none").err)
        self.assertIn("[plugins] paths", run("config", "explain", "--draft", "zzzzzz").err)
        self.assertEqual(run("config", "explain", "--draft").code, USAGE)


class Lists(unittest.TestCase):
    def test_the_default_model_is_listed_as_here(self):
        outcome = run("models", "--json")
        self.assertEqual(outcome.code, OK)
        model = {entry["name"]: entry for entry in outcome.json()}["smollm2-135m-instruct"]
        self.assertTrue(model["file"].endswith("smollm2-135m-instruct.gguf"))
        self.assertEqual(model["licence"], "Apache-2.0")
        self.assertIn("gemma-3-270m", run("models").out)

    def test_the_drafter_that_comes_with_the_program_is_found_and_loadable(self):
        outcome = run("drafters", "--json")
        self.assertEqual(outcome.code, OK)
        drafter = {entry["name"]: entry for entry in outcome.json()}[DRAFTER]
        self.assertTrue(drafter["loadable"], drafter)
        self.assertTrue(drafter["library"].endswith(".so"))
        self.assertIsNone(drafter["why_not"])
        self.assertIn(DRAFTER, run("drafters").out)

    def test_a_full_disk_behind_standard_output_is_a_failure(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([BINARY, "models"], stdout=full, stderr=subprocess.PIPE, timeout=60)
        self.assertEqual(done.returncode, FAILED)
        self.assertIn(b"standard output", done.stderr)


if __name__ == "__main__":
    unittest.main()
