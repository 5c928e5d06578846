#!/usr/bin/env python3
"""Plugins that cannot be used, or that propose what no one may: the request is answered with the text of plain decoding, and the
report names the fault."""

import json
import pathlib
import shutil
import tempfile
import unittest

from outrider import DRAFTER, FAILED, LIBRARIES, OK, run

PROMPT = ("-n", 24, "-p", "Repeat: one two three one two three one two three.")
GOOD = LIBRARIES / "plugins" / f"{DRAFTER}.so"


class Refused(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plain = run("generate", "--json", "--drafter", "none", *PROMPT).json()

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.configuration = self.path / "outrider.toml"

    def tearDown(self):
        self.folder.cleanup()

    def configure(self, library, options=""):
        self.configuration.write_text(f"[spec]\nalgorithm = 'tried'\n[drafter.tried]\nlibrary = {json.dumps(str(library))}\n{options}")

    def assert_answered_plainly(self, library, *words, options=""):
        self.configure(library, options)
        outcome = run("generate", "--json", *PROMPT, "--config", self.configuration)
        self.assertEqual(outcome.code, OK, outcome)
        answer = outcome.json()
        self.assertEqual(answer["token_ids"], self.plain["token_ids"])
        self.assertEqual(answer["text"], self.plain["text"])
        self.assertEqual(answer["drafter"]["name"], "none")
        report = " ".join(answer["refusals"])
        for word in (pathlib.Path(library).name, *words):
            self.assertIn(word, report)
            self.assertIn(word, outcome.err)

    def test_a_library_that_is_missing(self):
        self.assert_answered_plainly(self.path / "gone.so")

    def test_a_library_that_is_truncated(self):
        content = GOOD.read_bytes()
        for part in (100, len(content) // 2):
            with self.subTest(part):
                library = self.path / "cut.so"
                library.write_bytes(content[:part])
                self.assert_answered_plainly(library)

    def test_a_file_that_is_no_library(self):
        library = self.path / "text.so"
        library.write_text("not a library\n")
        self.assert_answered_plainly(library)

    def test_a_folder(self):
        (self.path / "folder.so").mkdir()
        self.assert_answered_plainly(self.path / "folder.so")

    def test_another_major_of_the_contract(self):
        self.assert_answered_plainly(LIBRARIES / "evil" / "other_major.so", "ABI")

    def test_no_entry_symbol(self):
        self.assert_answered_plainly(LIBRARIES / "evil" / "no_entry.so")

    def test_a_constructor_that_crashes_or_exits_the_process(self):
        self.assert_answered_plainly(LIBRARIES / "evil" / "crashes.so")
        self.assert_answered_plainly(LIBRARIES / "evil" / "exits.so")

    def test_a_factory_or_a_worker_that_throws(self):
        for mode in ("factory_throws", "factory_fails", "worker_throws"):
            with self.subTest(mode):
                self.assert_answered_plainly(LIBRARIES / "evil" / "misbehaves.so", options=f'mode = "{mode}"\n')

    def test_a_proposal_that_breaks_the_contract_costs_time_alone(self):
        for mode in ("out_of_vocabulary", "too_many", "parents_after_children", "propose_throws", "nan_log_q"):
            with self.subTest(mode):
                self.configure(LIBRARIES / "evil" / "misbehaves.so", f'mode = "{mode}"\n')
                answer = run("generate", "--json", *PROMPT, "--no-planner", "--config", self.configuration).json()  # asked in any case
                self.assertEqual(answer["token_ids"], self.plain["token_ids"])
                self.assertEqual(answer["drafter"]["name"], "tried")
                self.assertGreater(answer["drafter"]["faults"], 0)
                self.assertTrue(answer["drafter"]["last_fault"])
                self.assertEqual(answer["speculation"]["correct_drafts"], 0)

    def test_the_fault_is_in_the_summary_that_a_person_reads(self):
        self.configure(LIBRARIES / "evil" / "misbehaves.so", 'mode = "out_of_vocabulary"\n')
        outcome = run("generate", *PROMPT, "--no-planner", "--config", self.configuration, "--compare-plain")
        self.assertEqual(outcome.code, OK, outcome)
        self.assertIn("output identical: yes", outcome.out)
        self.assertIn("drafter faults", outcome.out)

    def test_a_name_that_nothing_answers_to(self):
        outcome = run("generate", "--json", *PROMPT, "--drafter", "nobody")
        self.assertEqual(outcome.code, OK, outcome)
        self.assertEqual(outcome.json()["token_ids"], self.plain["token_ids"])
        self.assertIn("nobody", outcome.err)

    def test_a_required_drafter_that_is_refused_ends_the_run(self):
        self.configure(self.path / "gone.so")
        outcome = run("generate", "--json", *PROMPT, "--require-drafter", "--config", self.configuration)
        self.assertEqual((outcome.code, outcome.out), (FAILED, ""))
        self.assertIn("gone.so", outcome.err)

    def test_a_list_of_drafters_says_why_one_cannot_be_used(self):
        self.configure(self.path / "gone.so")
        shutil.copy(GOOD, self.path / "good.so")
        (self.path / "text.so").write_text("not a library\n")
        outcome = run("drafters", "--json", "--config", self.configuration, "--set", f"plugins.paths={json.dumps([str(self.path)])}")
        drafters = {entry["name"]: entry for entry in outcome.json()}
        self.assertTrue(drafters["good"]["loadable"], drafters["good"])
        self.assertFalse(drafters["text"]["loadable"])
        self.assertFalse(drafters["tried"]["loadable"])
        self.assertTrue(drafters["text"]["why_not"])


if __name__ == "__main__":
    unittest.main()
