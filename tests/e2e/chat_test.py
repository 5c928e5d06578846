#!/usr/bin/env python3
"""`outrider chat` on a pipe and on a terminal."""

import os
import pty
import select
import signal
import socket
import subprocess
import time
import unittest

from outrider import BINARY, DRAFTER, FAILED, OK, json_lines, run

SHORT = ("-n", 12)


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
        outcome = run("chat", *SHORT, "--drafters", DRAFTER, "--drafter", "none", stdin=f"Hello\n/reset\n/drafter {DRAFTER}\nHello\n")
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


if __name__ == "__main__":
    unittest.main()
