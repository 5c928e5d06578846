#!/usr/bin/env python3
"""`outrider chat` on a pipe and on a terminal, and SIGHUP while it runs."""

import json
import os
import pathlib
import pty
import select
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from outrider import BINARY, DRAFTER, FAILED, LIBRARIES, OK, json_lines, run

SHORT = ("-n", 12)


def holds_sighup_back(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    blocked = next(line for line in status.splitlines() if line.startswith("SigBlk:"))
    return bool(int(blocked.split()[1], 16) & 1 << signal.SIGHUP - 1)


class Piped(unittest.TestCase):
    def expected(self, *messages):
        """What generate makes of the conversation, for comparison."""
        outcome = run("generate", "--jsonl", "-", "--json", *SHORT, stdin=json_lines([{"messages": list(messages)}]))
        return outcome.lines()[0]["text"]

    def test_each_line_is_answered_with_the_conversation_before_it(self):
        first = self.expected({"role": "user", "content": "My name is Ann."})
        second = self.expected({"role": "user", "content": "My name is Ann."}, {"role": "assistant", "content": first},
                               {"role": "user", "content": "Who am I?"})
        outcome = run("chat", *SHORT, stdin="My name is Ann.\nWho am I?")
        self.assertEqual((outcome.code, outcome.out), (OK, first + "\n" + second + "\n"))

    def test_reset_and_system_forget_the_conversation(self):
        fresh = self.expected({"role": "user", "content": "Who am I?"})
        brief = self.expected({"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who am I?"})
        outcome = run("chat", *SHORT, stdin="My name is Ann.\n/reset\nWho am I?\n/system Be brief.\nWho am I?\n")
        self.assertEqual(outcome.code, OK)
        self.assertTrue(outcome.out.endswith(fresh + "\n" + brief + "\n"), outcome.out)

    def test_the_drafter_can_be_changed_and_the_text_stays(self):
        outcome = run("chat", *SHORT, "--drafters", f"{DRAFTER},none", "--drafter", "none", stdin=f"Hello\n/reset\n/drafter {DRAFTER}\nHello\n")
        self.assertEqual(outcome.code, OK, outcome)
        half = len(outcome.out) // 2
        self.assertEqual(outcome.out[:half], outcome.out[half:])

    def test_an_unknown_command_or_drafter_is_told_and_the_talk_goes_on(self):
        outcome = run("chat", *SHORT, stdin="/fly\n/drafter nobody\n/help\nHello\n")
        self.assertEqual(outcome.code, FAILED)
        self.assertIn("/fly", outcome.err)
        self.assertIn("nobody", outcome.err)
        self.assertGreater(len(outcome.out), 1)

    def test_a_message_too_long_for_the_context_is_told_and_taken_back(self):
        outcome = run("chat", *SHORT, stdin="word " * 12000 + "\nHello\n")
        self.assertEqual(outcome.code, FAILED)
        self.assertIn("context", outcome.err)
        self.assertEqual(outcome.out, self.expected({"role": "user", "content": "Hello"}) + "\n")


class Reload(unittest.TestCase):
    """SIGHUP re-reads the configuration. That it has an effect is seen by the deadline of a drafter that takes 30 ms for each proposal:
    no one minds until a shorter one is asked for."""

    QUESTION = "Count to a hundred."
    LENGTH = ("--ignore-eos", "-n", 60)

    @classmethod
    def setUpClass(cls):
        outcome = run("generate", *cls.LENGTH, "-p", cls.QUESTION, "--json", "--drafter", "none")
        cls.plain = outcome.json()["text"] + "\n"

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.file = self.path / "outrider.toml"
        self.process = None

    def tearDown(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
        if self.process is not None:
            self.process.wait()
            self.process.stdin.close()
        self.folder.cleanup()

    def configure(self, deadline_us=10000000, more=""):
        self.file.write_text(f"""[spec]
algorithm = "slow"
planner = false
proposal_deadline_us = {deadline_us}
{more}
[drafter.slow]
library = {json.dumps(str(LIBRARIES / "evil" / "misbehaves.so"))}
mode = "slow"
""")

    def start(self, *arguments):
        self.out, self.err = self.path / "out", self.path / "err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            command = [BINARY, "chat", "--config", self.file, *map(str, self.LENGTH), *arguments]
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=out, stderr=err)
        self.wait_for(lambda: holds_sighup_back(self.process.pid))
        self.hang_up()  # the model is being loaded: it is taken when that is done
        self.wait_for_told("reload: nothing to apply")

    def say(self, line):
        self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def hang_up(self):
        self.process.send_signal(signal.SIGHUP)

    def wait_for(self, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            self.assertIsNone(self.process.poll(), self.err.read_text())
            self.assertLess(time.monotonic(), end, f"out {self.out.read_text()!r}, err {self.err.read_text()!r}")
            time.sleep(0.01)

    def wait_for_told(self, text, times=1):
        self.wait_for(lambda: self.err.read_text().count(text) >= times)

    def end(self):
        self.process.stdin.close()
        self.assertEqual(self.process.wait(timeout=120), OK, self.err.read_text())
        return self.out.read_text()

    def test_sighup_before_the_first_message_takes_effect_in_the_answer(self):
        self.configure()
        self.start()
        self.configure(deadline_us=1000)
        self.hang_up()
        self.wait_for_told("reload: applied spec.proposal_deadline_us")
        self.say(self.QUESTION)
        self.wait_for_told("microseconds where 1000 were allowed")
        self.assertEqual(self.end(), self.plain)

    def test_sighup_during_an_answer_takes_effect_in_that_answer_and_its_text_stays(self):
        self.configure()
        self.start()
        self.say(self.QUESTION)
        self.wait_for(lambda: len(self.out.read_bytes()) > 4)
        self.assertNotIn("were allowed", self.err.read_text())
        self.configure(deadline_us=1000)
        self.hang_up()
        self.wait_for_told("reload: applied spec.proposal_deadline_us")
        self.wait_for_told("microseconds where 1000 were allowed")  # there is no other answer it could come from
        self.assertEqual(self.end(), self.plain)

    def test_a_faulty_file_changes_nothing_and_is_told_with_place_and_remedy(self):
        self.configure(deadline_us=10000000)
        self.start()
        self.configure(deadline_us=1000, more="draft_tokns = 4")
        self.hang_up()
        self.wait_for_told("did you mean 'draft_tokens'")
        told = self.err.read_text()
        self.assertIn("reload: nothing was changed", told)
        self.assertIn(f"{self.file}:5:1", told)
        self.say(self.QUESTION)
        self.assertEqual(self.end(), self.plain)
        self.assertNotIn("were allowed", self.err.read_text())  # the deadline is the old one

    def test_what_needs_a_restart_is_named_and_the_rest_is_applied(self):
        self.configure()
        self.start()
        self.configure(more="draft_tokens = 4\n[memory]\nkv_type = 'f32'\n[drafter.other]\nlibrary = 'other.so'")
        self.hang_up()
        self.wait_for_told("reload: applied spec.draft_tokens; changed, and need a restart: memory.kv_type, drafter.other")
        self.say(self.QUESTION)
        self.assertEqual(self.end(), self.plain)

    def test_a_burst_of_sighups_leaves_the_last_file_in_force_and_the_answer_as_it_is(self):
        self.configure()
        self.start()
        self.say(self.QUESTION)
        self.wait_for(lambda: len(self.out.read_bytes()) > 4)
        for i in range(200):
            self.configure(deadline_us=10000000 + i, more="" if i % 3 else "no_such_key = 1")
            self.hang_up()
        self.configure(deadline_us=1000)
        self.hang_up()
        self.wait_for_told("microseconds where 1000 were allowed")
        self.assertEqual(self.end(), self.plain)


class OnATerminal(unittest.TestCase):
    """Where the machine has no pseudo-terminals (a bare chroot), the same conversation goes over pipes, with signals for keys."""

    def setUp(self):
        command = [BINARY, "chat", "--ignore-eos", "-n", "7000"]
        self.typed = True
        try:
            self.process, self.terminal = pty.fork()
        except OSError:
            self.typed = False
        if not self.typed:
            here, there = socket.socketpair()
            self.child = subprocess.Popen(command, stdin=there, stdout=there, stderr=there)
            self.process = self.child.pid
            there.close()
            self.terminal = here.detach()
        elif self.process == 0:
            try:
                os.execv(BINARY, command)
            finally:
                os._exit(127)  # this is a copy of the test; it must not go on
        self.seen = ""
        self.status = None

    def wait_for_prompt(self):
        if self.typed:
            self.wait_for("> ")

    def interrupt(self):
        if self.typed:
            os.write(self.terminal, b"\x03")
        else:
            os.kill(self.process, signal.SIGINT)

    def end_input(self):
        if self.typed:
            os.write(self.terminal, b"\x04")
        else:
            with socket.socket(fileno=os.dup(self.terminal)) as half:
                half.shutdown(socket.SHUT_WR)

    def tearDown(self):
        os.close(self.terminal)
        if self.status is None:
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)

    def wait_for(self, text, seconds=30):
        """Reads until `text` has come; forgets what came up to it."""
        end = time.monotonic() + seconds
        while text not in self.seen:
            left = end - time.monotonic()
            ready, _, _ = select.select([self.terminal], [], [], max(left, 0))
            self.assertTrue(ready, f"waited for {text!r}, saw {self.seen[-400:]!r}")
            try:
                self.seen += os.read(self.terminal, 65536).decode("utf-8", "replace")
            except OSError:  # the other side is closed
                self.assertIn(text, self.seen)
        self.seen = self.seen[self.seen.index(text) + len(text):]

    def test_ctrl_c_stops_the_answer_not_the_program_and_ctrl_d_ends_it(self):
        self.wait_for_prompt()
        os.write(self.terminal, b"Write a very long story.\n")
        self.wait_for("story.\r\n" if self.typed else " ")  # the echo, or the answer's beginning
        time.sleep(0.5)  # some of the answer
        self.interrupt()
        self.wait_for("(stopped)")
        self.wait_for_prompt()
        self.interrupt()  # with no answer under way
        self.wait_for("Ctrl-D ends")
        os.write(self.terminal, b"/help\n")
        self.wait_for("/reset")
        self.end_input()
        _, self.status = os.waitpid(self.process, 0)
        self.assertEqual(os.waitstatus_to_exitcode(self.status), OK)

    def test_a_terminal_that_is_closed_ends_the_program_and_sighup_alone_does_not(self):
        self.wait_for_prompt()
        while not holds_sighup_back(self.process):
            time.sleep(0.01)
        os.kill(self.process, signal.SIGHUP)
        self.wait_for("reload: nothing to apply")
        os.write(self.terminal, b"Write a very long story.\n")
        self.wait_for("story.\r\n" if self.typed else " ")
        if not self.typed:
            return
        self.wait_for(" ")  # the answer's beginning
        os.close(self.terminal)
        self.terminal = os.open(os.devnull, os.O_RDONLY)  # for tearDown
        end = time.monotonic() + 5  # the whole answer takes longer
        ended = 0
        while not ended and time.monotonic() < end:
            ended, status = os.waitpid(self.process, os.WNOHANG)
            time.sleep(0.01)
        self.assertTrue(ended, "it goes on for a terminal that is gone")
        self.status = status
        self.assertEqual(os.WTERMSIG(self.status), signal.SIGHUP)


if __name__ == "__main__":
    unittest.main()
