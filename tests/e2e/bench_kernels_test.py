#!/usr/bin/env python3
"""`outrider bench kernels`: the JSON's names and whether its figures can be, the peer (a fake one) beside them, and what it refuses."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from outrider import BINARY, FAILED, INTERRUPTED, OK, USAGE, run

ROWS = [str(rows) for rows in [*range(1, 17), 24, 32]]
FAKE = pathlib.Path(__file__).resolve().parent / "fake_peer"
QUICK = ["--threads", 1, "--repeats", 1, "--decode", 4]  # one thread: a machine that does other things too slows several most unevenly
HIGHEST_SHARE = 1.3  # of what the best peaks allow: above 1 where a cache holds weights from pass to pass


def highest_share(result):
    """Where the machine was busy while peaks were taken and idle afterwards, a share of the middle peaks is above one of the best."""
    return HIGHEST_SHARE * max(best / result["peaks"][name] for name, best in result["best_peaks"].items())


class BenchKernels(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.result = pathlib.Path(self.folder.name) / "result.json"

    def tearDown(self):
        self.folder.cleanup()

    def bench(self, *arguments, prompt=40, code=OK, environment=None):
        outcome = run("bench", "kernels", *QUICK, "--prefill", prompt, "--json", self.result, *arguments, environment=environment)
        self.assertEqual(outcome.code, code, outcome)
        return json.loads(self.result.read_text()), outcome

    def check_curve(self, curve):
        self.assertEqual(list(curve), ROWS)
        self.assertEqual(curve["1"], 1.0)
        self.assertTrue(all(cost > 0 for cost in curve.values()), curve)

    def test_the_promised_names_have_figures_that_can_be(self):
        result, outcome = self.bench()
        self.assertIn(result["isa"], ["scalar", "avx2", "avx512", "avx512_vnni"])
        self.assertEqual(result["threads"], 1)
        self.assertIsNone(result["peer"])
        for name in ("read_bandwidth_gb_s", "decode_tokens_per_second", "prefill_tokens_per_second"):
            self.assertGreater(result[name], 0.05, name)
            self.assertLess(result[name], 1e6, name)
        self.assertGreater(result["bandwidth_share"], 0)
        self.assertLess(result["bandwidth_share"], highest_share(result))
        self.check_curve(result["cost_curve"])
        self.assertGreater(result["cost_curve"]["32"], 1)  # more rows are more work, even on a busy machine

        peaks = result["peaks"]
        self.assertEqual(peaks["read_bandwidth_gb_s"], result["read_bandwidth_gb_s"])
        for name, best in result["best_peaks"].items():
            self.assertGreaterEqual(best, peaks[name])
        self.assertNotEqual(result["best_peaks"], peaks)  # medians are not the best, and no two samples are quite alike
        self.assertGreater(peaks["int8_giga_multiply_adds_per_second"], peaks["f32_giga_multiply_adds_per_second"])
        self.assertGreater(result["weights"]["bytes"], 50e6)
        self.assertLess(result["weights"]["bytes"], 200e6)
        self.assertAlmostEqual(result["weights"]["multiply_adds"] / 134.5e6, 1, delta=0.02)  # the default model has 134.5 million weights
        for name in ROWS[:1] + ROWS[-1:]:
            self.assertIn(f"\n{name:>4} ", outcome.out)

    def test_a_prompt_of_just_128_tokens_is_read_once(self):
        result, outcome = self.bench(prompt=128)
        self.assertEqual([figure["tokens"] for figure in result["prefill"]], [128])
        self.assertIn("prefill 128 ", outcome.out)

    def test_shares_are_the_measured_figures_over_the_limits(self):
        result, _ = self.bench()
        decode = result["decode"]
        self.assertEqual(decode["tokens"], 4)
        self.assertEqual(decode["tokens_per_second"], result["decode_tokens_per_second"])
        for figure in (decode, *result["prefill"]):
            self.assertAlmostEqual(figure["share"], figure["tokens_per_second"] / figure["limit_tokens_per_second"])
            self.assertLess(figure["share"], highest_share(result))
        (passes,) = result["passes"]
        self.assertEqual(passes["context"], 64)
        self.assertEqual(passes["cost_curve"], result["cost_curve"])
        self.check_curve(passes["limit_cost_curve"])
        for rows in ROWS:
            self.assertAlmostEqual(passes["share"][rows], passes["limit_milliseconds"][rows] / passes["milliseconds"][rows])
            self.assertAlmostEqual(passes["cost_curve"][rows], passes["milliseconds"][rows] / passes["milliseconds"]["1"])
            self.assertLess(passes["share"][rows], highest_share(result))

    def test_another_context_is_measured_besides_the_short_one(self):
        result, outcome = self.bench("--context", 2048)
        short, long = result["passes"]
        self.assertEqual((short["context"], long["context"]), (64, 2048))
        self.check_curve(long["cost_curve"])
        self.assertGreater(long["limit_milliseconds"]["1"], short["limit_milliseconds"]["1"])
        self.assertIn("after 2048 positions", outcome.out)

    def test_a_prompt_of_128_tokens_is_read_besides_a_longer_one(self):
        result, _ = self.bench(prompt=130)
        self.assertEqual([prefill["tokens"] for prefill in result["prefill"]], [128, 130])
        self.assertEqual(result["prefill"][1]["tokens_per_second"], result["prefill_tokens_per_second"])

    def test_a_peer_is_measured_in_the_same_run(self):
        result, outcome = self.bench("--peer", "llama.cpp", "--python", sys.executable, environment={"PYTHONPATH": str(FAKE)})
        peer = result["peer"]
        self.assertEqual((peer["name"], peer["package_version"]), ("llama.cpp", "0.0.fake"))
        self.check_curve(peer["cost_curve"])
        # A pass of the fake takes at least 1 ms and 0.25 ms a row; a sleep can only be longer.
        self.assertLess(peer["decode_tokens_per_second"], 1 / 0.00125)
        self.assertGreater(peer["decode_tokens_per_second"], 20)
        self.assertLess(peer["prefill_tokens_per_second"], 40 / 0.011)
        (passes,) = peer["passes"]
        self.assertGreaterEqual(passes["milliseconds"]["32"], 9)
        self.assertGreaterEqual(passes["milliseconds"]["1"], 1.25)
        self.assertIn("llama.cpp", outcome.out)
        self.check_curve(result["cost_curve"])

    def test_a_peer_that_is_not_installed_is_a_usage_error_with_the_remedy(self):
        broken = pathlib.Path(self.folder.name) / "llama_cpp.py"
        broken.write_text("raise ImportError('no such package here')")
        outcome = run("bench", "kernels", *QUICK, "--json", self.result, "--peer", "llama.cpp", "--python", sys.executable,
                      environment={"PYTHONPATH": self.folder.name})
        self.assertEqual(outcome.code, USAGE, outcome)
        self.assertIn("no such package here", outcome.err)
        self.assertIn("pip install llama-cpp-python", outcome.err)
        self.assertEqual(outcome.out, "")
        self.assertFalse(self.result.exists())

    def test_a_python_that_is_not_there_is_a_usage_error_that_names_it(self):
        outcome = run("bench", "kernels", "--peer", "llama.cpp", "--python", "/no/such/python")
        self.assertEqual(outcome.code, USAGE, outcome)
        self.assertIn("/no/such/python", outcome.err)

    def test_our_figures_stay_when_the_peer_dies(self):
        result, outcome = self.bench("--peer", "llama.cpp", "--python", sys.executable, code=FAILED,
                                     environment={"PYTHONPATH": str(FAKE), "FAKE_PEER_BREAKS": "12"})
        self.assertIn("the fake broke down", outcome.err)
        self.assertIn("the fake broke down", result["peer"]["error"])
        self.check_curve(result["cost_curve"])

    def test_what_cannot_be_measured_is_a_usage_error(self):
        for arguments, named in ((["--prefill", 1000000], "context"), (["--repeats", 0], "repeats"), (["--peer", "other"], "llama.cpp"),
                                 (["--questions", "x"], "questions"), (["--threads", "many"], "threads")):
            with self.subTest(arguments):
                outcome = run("bench", "kernels", *arguments)
                self.assertEqual(outcome.code, USAGE, outcome)
                self.assertIn(named, outcome.err)
        outcome = run("bench", "--limit", 3, "kernels")
        self.assertEqual(outcome.code, USAGE, outcome)
        self.assertIn("--limit", outcome.err)

    def test_a_result_that_cannot_be_written_is_a_failure_after_the_figures_are_shown(self):
        outcome = run("bench", "kernels", *QUICK, "--json", "/no/such/folder/result.json")
        self.assertEqual(outcome.code, FAILED, outcome)
        self.assertIn("/no/such/folder/result.json", outcome.err)
        self.assertIn("peaks", outcome.out)

    def test_ctrl_c_ends_it_and_its_peer(self):
        with subprocess.Popen([BINARY, "bench", "kernels", "--repeats", "1000", "--peer", "llama.cpp", "--python", sys.executable],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(FAKE)}) as process:
            children = self.wait_for_child(process.pid)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, INTERRUPTED)
        for child in children:
            self.assertFalse(pathlib.Path(f"/proc/{child}").exists(), "the peer was left behind")

    def test_a_peer_does_not_outlive_a_program_that_is_killed(self):
        with subprocess.Popen([BINARY, "bench", "kernels", "--repeats", "1000", "--peer", "llama.cpp", "--python", sys.executable],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(FAKE)}) as process:
            children = self.wait_for_child(process.pid)
            process.kill()
            process.communicate(timeout=60)
        deadline = time.monotonic() + 10
        while any(_runs(child) for child in children):
            self.assertLess(time.monotonic(), deadline, "the peer was left behind")
            time.sleep(0.05)

    def wait_for_child(self, pid):
        """The peer's process id, once it has answered: it stands still then ('T')."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
            if children and _state(children[0]) == "T":
                return children
            time.sleep(0.02)
        self.fail("the peer never stood still")


def _state(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _runs(pid):
    return _state(pid) not in ("", "Z", "X")


if __name__ == "__main__":
    unittest.main()
