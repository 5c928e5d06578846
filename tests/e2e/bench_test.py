#!/usr/bin/env python3
"""`outrider bench`: the JSON's names, the choice of questions, and that every answer stays as it was."""

import json
import pathlib
import tempfile
import unittest

from outrider import DATA, DRAFTER, FAILED, LIBRARIES, OK, USAGE, json_lines, run

QUESTIONS = DATA / "spec_bench_dev.jsonl"
SUBTASKS = ["mt_bench", "translation", "summarization", "qa", "math_reasoning", "rag"]


class Bench(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.result = pathlib.Path(self.folder.name) / "result.json"

    def tearDown(self):
        self.folder.cleanup()

    def bench(self, *arguments):
        outcome = run("bench", "--drafters", DRAFTER, "--json", self.result, *arguments)
        self.assertEqual(outcome.code, OK, outcome)
        return json.loads(self.result.read_text()), outcome.out

    def test_each_category_has_a_row_with_the_names_that_are_promised(self):
        result, text = self.bench("--questions", QUESTIONS, "--limit", 6, "--max-tokens", 12)
        self.assertEqual(set(result), {"machine", "model", "rows"})
        self.assertIn("thread", result["machine"])
        self.assertEqual({row["category"] for row in result["rows"]}, set(SUBTASKS) | {"overall"})
        for row in result["rows"]:
            self.assertEqual(set(row), {"category", "drafter", "tokens_per_second", "plain_tokens_per_second", "speedup",
                                        "acceptance_length", "identical"})
            self.assertEqual(row["drafter"], DRAFTER)
            self.assertIs(row["identical"], True)
            self.assertGreaterEqual(row["acceptance_length"], 1)
            self.assertAlmostEqual(row["speedup"], row["tokens_per_second"] / row["plain_tokens_per_second"], places=6)
            self.assertIn(row["category"], text)

    def test_conversations_repeats_and_sampling_keep_the_answers(self):
        questions = pathlib.Path(self.folder.name) / "questions.jsonl"
        questions.write_text(json_lines([{"question_id": 1, "category": "writing", "turns": ["Say one word.", "Say it again."]}]))
        result, _ = self.bench("--questions", questions, "--turns", "all", "--repeats", 2, "--max-tokens", 12, "--temp", 0.8, "--seed", 3)
        self.assertEqual([row["category"] for row in result["rows"]], ["mt_bench", "overall"])
        self.assertIs(result["rows"][1]["identical"], True)

    def test_each_of_several_drafters_has_its_rows(self):
        settings = pathlib.Path(self.folder.name) / "settings.toml"
        library = (LIBRARIES / "plugins" / f"{DRAFTER}.so").resolve()
        settings.write_text(f'[drafter.one]\nlibrary = "{library}"\n[drafter.two]\nlibrary = "{library}"\nmax_n = 3\n')
        outcome = run("bench", "--config", settings, "--drafters", "one,two", "--json", self.result, "--questions", QUESTIONS, "--limit", 1,
                      "--max-tokens", 4)
        self.assertEqual(outcome.code, OK, outcome)
        rows = json.loads(self.result.read_text())["rows"]
        self.assertEqual([row["drafter"] for row in rows if row["category"] == "overall"], ["one", "two"])

    def test_a_drafter_that_cannot_be_loaded_is_a_failure_that_names_it(self):
        outcome = run("bench", "--drafters", "no_such_drafter", "--questions", QUESTIONS, "--limit", 1, "--max-tokens", 2)
        self.assertEqual(outcome.code, FAILED, outcome)
        self.assertIn("no_such_drafter", outcome.err)

    def test_bad_questions_are_named_by_line(self):
        questions = pathlib.Path(self.folder.name) / "questions.jsonl"
        questions.write_text('{"category": "qa", "turns": ["x"]}\n{"category": "qa"}\n')
        outcome = run("bench", "--drafters", DRAFTER, "--questions", questions)
        self.assertEqual(outcome.code, FAILED)
        self.assertIn("line 2", outcome.err)
        self.assertIn("turns", outcome.err)

    def test_without_a_drafter_there_is_nothing_to_measure(self):
        self.assertEqual(run("bench", "--questions", QUESTIONS).code, USAGE)


if __name__ == "__main__":
    unittest.main()
