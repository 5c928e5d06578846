#!/usr/bin/env python3
"""The ratchets' own tests: each finds what is planted, and is silent about what only looks like it."""

import pathlib
import tempfile
import unittest

import algorithm_names
import file_names
import include_direction
import skipped_tests
import source_text


class PlantedTree(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)

    def tearDown(self):
        self.folder.cleanup()

    def plant(self, path, text=""):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


class SourceText(unittest.TestCase):
    def kinds(self, text, c_like=True):
        pieces = list(source_text.split(text, c_like))
        self.assertEqual("".join(piece.text for piece in pieces), text)
        return [(piece.kind, piece.text) for piece in pieces]

    def test_a_comment_mark_in_a_string_opens_no_comment(self):
        self.assertEqual(self.kinds('f("// no", 1);'), [("code", "f("), ("string", '"// no"'), ("code", ", 1);")])

    def test_a_quote_in_a_comment_opens_no_string(self):
        self.assertEqual(self.kinds("a; // don't\nb;"), [("code", "a; "), ("comment", "// don't"), ("code", "\nb;")])

    def test_a_raw_string_ends_at_its_own_mark_only(self):
        self.assertEqual(self.kinds('x = R"q(a)" // )q";')[1], ("string", 'R"q(a)" // )q"'))

    def test_a_digit_separator_is_no_character_literal(self):
        self.assertEqual(self.kinds("n = 1'000'000; m = 'a';"), [("code", "n = 1'000'000; m = "), ("string", "'a'"), ("code", ";")])

    def test_lines_are_counted_through_block_comments(self):
        self.assertEqual(source_text.includes('/* a\n b */\n#include "x.hpp"\n'), [source_text.Include(3, "x.hpp", True)])

    def test_an_include_in_a_comment_or_a_raw_string_is_none(self):
        self.assertEqual(source_text.includes('// #include "a"\n/*\n#include "b"\n*/\nR"(\n#include "c"\n)";\n#include <d>\n'),
                         [source_text.Include(8, "d", False)])

    def test_a_hash_in_a_cmake_string_opens_no_comment(self):
        self.assertEqual(self.kinds('set(a "#b") # c', c_like=False)[1:], [("string", '"#b"'), ("code", ") "), ("comment", "# c")])


class IncludeDirection(PlantedTree):
    def setUp(self):
        super().setUp()
        for path in ("host/base/log.hpp", "host/config/load.hpp", "host/verify/draft_tree.hpp", "host/verify/law.hpp",
                     "host/scheduler/engine.hpp", "host/cli/app.hpp", "kernels/cpu/isa.hpp", "plugin_api/include/outrider/abi.h",
                     "sdk/include/outrider/plugin.hpp", "plugins/one/index.hpp", "plugins/two/index.hpp"):
            self.plant(path)

    def found(self, path, *includes):
        self.plant(path, "".join(f"#include {include}\n" for include in includes))
        return include_direction.breaches(self.root)

    def test_an_arrow_that_points_down_is_allowed(self):
        self.assertEqual(self.found("host/cli/run.cpp", '"scheduler/engine.hpp"', '"kernels/cpu/isa.hpp"', '"cli/app.hpp"', "<vector>"), [])

    def test_an_arrow_that_climbs_is_found(self):
        self.assertEqual(self.found("host/config/a.cpp", '"base/log.hpp"', '"scheduler/engine.hpp"'),
                         ["host/config/a.cpp:2: host/config may not include host/scheduler (scheduler/engine.hpp)"])

    def test_a_relative_way_up_is_found(self):
        self.assertEqual(len(self.found("host/base/a.cpp", '"../cli/app.hpp"')), 1)

    def test_angle_brackets_hide_nothing(self):
        self.assertEqual(len(self.found("plugins/one/a.cpp", "<scheduler/engine.hpp>")), 1)

    def test_kernels_include_nothing_of_the_host(self):
        self.assertEqual(len(self.found("kernels/cpu/a.cpp", '"base/log.hpp"')), 1)

    def test_a_plugin_sees_the_sdk_and_the_contract_alone(self):
        self.assertEqual(self.found("plugins/one/a.cpp", '"outrider/plugin.hpp"', '"outrider/abi.h"', '"one/index.hpp"'), [])
        self.assertEqual(len(self.found("plugins/one/a.cpp", '"kernels/cpu/isa.hpp"', '"base/log.hpp"', '"two/index.hpp"')), 3)

    def test_the_contract_includes_nothing_of_the_sdk(self):
        self.assertEqual(len(self.found("plugin_api/include/outrider/a.h", '"outrider/plugin.hpp"')), 1)

    def test_a_single_header_may_be_let_through(self):
        self.assertEqual(self.found("host/drafting/a.cpp", '"verify/draft_tree.hpp"'), [])
        self.assertEqual(len(self.found("host/drafting/a.cpp", '"verify/law.hpp"')), 1)

    def test_a_room_that_the_table_does_not_know_is_found(self):
        self.assertEqual(len(self.found("host/attic/a.cpp", '"base/log.hpp"')), 1)

    def test_a_quoted_include_of_nothing_is_found(self):
        self.assertEqual(len(self.found("host/cli/a.cpp", '"cli/gone.hpp"')), 1)


class AlgorithmNames(PlantedTree):
    def count(self, text):
        self.plant("host/scheduler/a.cpp", text)
        return len(algorithm_names.breaches(self.root))

    def test_a_name_is_found_in_code_comment_and_string(self):
        self.assertEqual(self.count('int eagle; // the n-gram one\nf("DFlash");'), 3)

    def test_a_name_is_found_inside_an_identifier(self):
        self.assertEqual(self.count("is_eagle(); EagleWorker w; kNgramSize; NGram n; eagle3();"), 5)

    def test_a_part_of_another_word_is_none(self):
        self.assertEqual(self.count("beagle(); engrams; standalones_x2; text.remove_suffix(1); suffixed;"), 1)  # standalones

    def test_a_folder_of_plugins_is_a_name(self):
        self.assertEqual(self.count("use lookahead here"), 0)
        self.plant("plugins/lookahead/plugin.cpp")
        self.assertEqual(self.count("use lookahead here"), 1)

    def test_documents_count_too(self):
        self.plant("host/README.md", "MULTI_LAYER_EAGLE")
        self.assertEqual(len(algorithm_names.breaches(self.root)), 1)

    def test_other_rooms_may_name_them(self):
        self.plant("plugins/ngram/a.cpp", "ngram")
        self.assertEqual(algorithm_names.breaches(self.root), [])


class SkippedTests(PlantedTree):
    def count(self, path, text):
        self.plant(path, text)
        return len(skipped_tests.skipped(self.root))

    def test_each_way_to_skip_is_found(self):
        # The tree grows, so the counts add up: three, and two more, and two more.
        self.assertEqual(self.count("tests/a/a_test.cpp",
                                    'TEST_CASE("x", "[.]") {}\nTEST_CASE("y", "[a][!mayfail]") {}\n#if 0\n#endif\n'), 3)
        self.assertEqual(self.count("tests/a/CMakeLists.txt", "set_tests_properties(a PROPERTIES DISABLED ON SKIP_RETURN_CODE 77)\n"), 5)
        self.assertEqual(self.count("tests/a/b.py", "@unittest.skip('later')\nself.skipTest('no')\n"), 7)

    def test_what_only_speaks_of_skipping_is_none(self):
        self.assertEqual(self.count("tests/a/a_test.cpp", '// [.] SKIP(\nTEST_CASE("skips a byte [0.5]", "[a]") { skip_bytes(1); }\n'), 0)
        self.assertEqual(self.count("tests/a/b.py", "# skip(\nx = 'skip('\n"), 0)

    def test_fewer_than_the_baseline_fails_too(self):
        self.assertEqual(len(skipped_tests.breaches(self.root, baseline=1)), 1)
        self.assertEqual(skipped_tests.breaches(self.root, baseline=0), [])


class FileNames(PlantedTree):
    def test_wrong_names_are_found(self):
        for path in ("kernels/cpu/MatMul.cpp", "kernels/cpu/mat-mul.cpp", "kernels/cpu/matmul.cc", "kernels/CPU/a.cpp", "tests/a b.txt"):
            with self.subTest(path):
                self.plant("kernels/README.md")
                self.plant(path)
                self.assertTrue(any(path in breach for breach in file_names.breaches(self.root)))

    def test_a_room_without_a_readme_is_found(self):
        self.plant("host/README.md")
        self.plant("host/base/log.cpp")
        self.assertEqual(file_names.breaches(self.root), ["host/base: a room without a README.md"])

    def test_a_header_without_its_guard_is_found(self):
        self.plant("kernels/README.md")
        self.plant("kernels/a.hpp", "// #pragma once\n")
        self.assertEqual(file_names.breaches(self.root), ["kernels/a.hpp: a header without #pragma once"])


if __name__ == "__main__":
    unittest.main()
