#!/usr/bin/env python3
"""The ratchets' own tests: each finds what is planted, and is silent about what only looks like it."""

import pathlib
import tempfile
import unittest

import algorithm_names
import args_writers
import file_names
import global_state
import include_direction
import scopes
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
    def kinds(self, text, language="c"):
        pieces = list(source_text.split(text, language))
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
        self.assertEqual(self.kinds('set(a "#b") # c', "cmake")[1:], [("string", '"#b"'), ("code", ") "), ("comment", "# c")])

    def test_a_bracket_argument_of_cmake_is_a_string_and_an_apostrophe_opens_none(self):
        self.assertEqual(self.kinds("a(don't [=[ #x ]] ]=] it's)", "cmake"),
                         [("code", "a(don't "), ("string", "[=[ #x ]] ]=]"), ("code", " it's)")])

    def test_a_bracket_after_a_hash_is_no_block_comment_of_python(self):
        self.assertEqual(self.kinds("#[[ a\nb = 1", "python"), [("comment", "#[[ a"), ("code", "\nb = 1")])

    def test_a_character_literal_may_follow_a_word_that_ends_like_a_number(self):
        self.assertEqual(self.kinds("case'\"': f();")[1], ("string", "'\"'"))


class Tokens(unittest.TestCase):
    def of(self, text):
        return [(token.line, token.text) for token in source_text.tokens(text)]

    def test_spliced_lines_are_one_and_later_lines_keep_their_numbers(self):
        self.assertEqual(self.of("a\\\nb // c \\\n d\n/* \n */ e"), [(1, "ab"), (5, "e")])

    def test_a_directive_is_one_token_that_holds_its_own(self):
        tokens = source_text.tokens("x\n /* y */ # define A(b) \\\n  b /* \n */ + 1\nz")
        self.assertEqual([(token.line, token.text) for token in tokens], [(1, "x"), (2, "define"), (5, "z")])
        self.assertEqual([(token.line, token.text) for token in tokens[1].inner],
                         [(2, "A"), (2, "("), (2, "b"), (2, ")"), (3, "b"), (4, "+"), (4, "1")])

    def test_a_hash_within_a_line_begins_no_directive(self):
        self.assertEqual(self.of("a # b"), [(1, "a"), (1, "#"), (1, "b")])

    def test_what_if_0_switches_off_is_not_live(self):
        text = "a\n#if 0\nb\n#if X\nc\n#endif\n#else\nd\n#endif\n#ifdef Y\ne\n#elif 0\nf\n#endif\n#if (0) && Z\ng\n#endif\nh"
        live = source_text.live(source_text.tokens(text))
        self.assertEqual([token.text for token in live if token.kind != "directive"], ["a", "d", "e", "h"])

    def test_template_arguments_are_told_from_comparisons(self):
        def end(text):
            words = source_text.tokens(text)
            return source_text.angle_end(words, 1)
        self.assertEqual(end("a<b<c>, d[(e > f)]> g"), 15)
        self.assertIsNone(end("a < b; c > d"))
        self.assertIsNone(end("a < b) c > d"))


class Scopes(unittest.TestCase):
    def path_of(self, text):
        """Kind and path of the scope that the token `here` stands in."""
        reading = scopes.read(text)
        scope = next(scope for token, scope in zip(reading.tokens, reading.scopes) if token.text == "here")
        return scope.kind, scope.path()

    def test_each_brace_opens_what_the_words_before_it_say(self):
        for text, expected in (
            ("namespace a::b { here", ("namespace", "")),
            ('inline namespace a { extern "C" { here', ("namespace", "")),
            ("namespace [[deprecated]] a { here", ("namespace", "")),
            ("class [[nodiscard]] A final : public B<int> { here", ("class", "A")),
            ("template <class T = decltype(f())> struct alignas(64) A { here", ("class", "A")),
            ("enum class A : int { here", ("enum", "A")),
            ("struct A B = { here", ("block", "")),
            ("struct a b{ here", ("block", "")),
            ("std::function<void(int)> f{ here", ("block", "")),
            ("A::A() : a_(1), b_{2}, C<int>{} { here", ("block", "A::A")),
            ("A::A() : a_{ here", ("block", "A::A")),
            ("A::~A() { here", ("block", "A::~A")),
            ("bool A::operator==(const A& b) const { here", ("block", "operator==")),
            ("void A::operator()(int x) { here", ("block", "operator()")),
            ("auto f(int a = 1, B b = {}) noexcept(true) -> C<int> { here", ("block", "f")),
            ("template <class T> requires (sizeof(T) > 4) T A<T>::f() { here", ("block", "A::f")),
            ("void f() { if (x) { auto g = [&](int a) { here", ("block", "f")),
            ("struct A { int f() { struct B { here", ("class", "A::f::B")),
            ("const bool x = [] { here", ("block", "")),
            ("MACRO(x)\nstruct A { here", ("class", "A")),
            ("TEST_CASE(\"a\") { here", ("block", "TEST_CASE")),
        ):
            with self.subTest(text):
                self.assertEqual(self.path_of(text), expected)

    def test_a_scope_ends_at_its_own_brace(self):
        self.assertEqual(self.path_of('struct A { char b = \'}\'; const char* c = "}}"; /* } */ A() : d_{R"(})"} {} here };'),
                         ("class", "A"))
        self.assertEqual(self.path_of("namespace a { void f() { g({1, 2}, [] { return A{}; }); } here }"), ("namespace", ""))

    def test_the_branches_of_an_if_stand_in_one_scope(self):
        self.assertEqual(self.path_of("#ifdef X\nvoid f(int a) {\n#else\nvoid f() {\n#endif\n}\nhere"), ("namespace", ""))
        self.assertEqual(self.path_of("#ifdef X\nvoid f(int a) {\n#else\nhere\n#endif\n}"), ("namespace", ""))
        self.assertEqual(self.path_of('#ifdef __cplusplus\nextern "C" {\n#endif\nint a;\n#ifdef __cplusplus\n}\n#endif\nhere'),
                         ("namespace", ""))


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
    def marks(self, path, text):
        return [(line, what.split()[0]) for line, what in skipped_tests.marks_in(pathlib.Path(path), text)]

    def count(self, path, text):
        return len(self.marks(path, text))

    def test_each_way_to_skip_is_found_in_cpp(self):
        for text in ('TEST_CASE("x", "[.]") {}', 'TEST_CASE("x", "[a]" "[!mayfail]") {}', 'TEMPLATE_TEST_CASE(f("a, b"), "[.slow]", int)',
                     'SCENARIO("x",\n R"([a][!hide])") {}', "#if 0\n#endif", "#  if (0) && X\n#endif", "#if X\n#elif false\n#endif",
                     "void f() { if (a) { SKIP(\"b\"); } }", "GTEST_SKIP ();", "CHECK_NOFAIL(a);", 'WARN("SKIPPED: " << a);',
                     '#define LATER(x) \\\n  SKIP(x)', '#define HIDDEN "[.]"'):
            with self.subTest(text):
                self.assertEqual(self.count("tests/a/a_test.cpp", text), 1)

    def test_what_only_speaks_of_skipping_is_none_in_cpp(self):
        for text in ('// [.] SKIP(\n/* #if 0 */', 'TEST_CASE("skips a byte [.5]", "[a]") { skip_bytes(1); }',
                     'f(R"x(SKIP() [.] TEST_CASE("a", "[.]")\n#if 0\n)x");',
                     'f("SKIP(");', 'check("[.]");', "int SKIP = 1;", "#if 01 + X\n#endif", "#ifdef X\n#else\n#endif",
                     '"it said SKIPPED: b"',
                     "#define SKIP(x) f(x)"):
            with self.subTest(text):
                self.assertEqual(self.marks("tests/a/a_test.cpp", text), [])

    def test_each_way_to_skip_is_found_in_cmake(self):
        for text in ("set_tests_properties(a PROPERTIES DISABLED ON)", 'set_tests_properties(a PROPERTIES "WILL_FAIL" ON)',
                     "set_property(TEST a PROPERTY\n SKIP_RETURN_CODE 77)", 'p(SKIP_REGULAR_EXPRESSION "x")', "if ( FALSE )\nendif()"):
            with self.subTest(text):
                self.assertEqual(self.count("tests/a/CMakeLists.txt", text), 1)
                self.assertEqual(self.count("cmake/a.cmake", text), 1)

    def test_what_only_speaks_of_skipping_is_none_in_cmake(self):
        for text in ("# DISABLED", "#[[ DISABLED\nWILL_FAIL ]]", 'message("WILL_FAIL is DISABLED")', "message([=[ DISABLED ]=])",
                     "set(IS_DISABLED_BY 1)",
                     "if(FALSE_FRIEND)"):
            with self.subTest(text):
                self.assertEqual(self.marks("cmake/a.cmake", text), [])

    def test_each_way_to_skip_is_found_in_python(self):
        for text in ("@unittest.skip('later')\ndef f(): pass", "class A:\n def f(self):\n  if a:\n   self.skipTest('no')",
                     "raise unittest.SkipTest",
                     "from unittest import skipIf as later\n@later(a, 'b')\ndef f(): pass", "@pytest.mark.skip\ndef f(): pass",
                     "@pytest.mark.xfail(strict=True)\ndef f(): pass", "@unittest.expectedFailure\ndef f(): pass", "if False:\n pass",
                     "def f(:"):
            with self.subTest(text):
                self.assertEqual(self.count("tests/a/b.py", text), 1)

    def test_what_only_speaks_of_skipping_is_none_in_python(self):
        for text in ("# skip(\nx = 'unittest.skip('", '"""\n@unittest.skip\n"""', "f'self.skipTest()'", "reader.skip(3)",
                     "def skip(): pass\nskip()"):
            with self.subTest(text):
                self.assertEqual(self.marks("tests/a/b.py", text), [])

    def test_lines_are_those_of_the_file(self):
        self.assertEqual(self.marks("tests/a.cpp", '/*\n*/ f(R"(\n)"); \\\n\nSKIP();\n#if 0\n#endif'), [(5, "a"), (6, "code")])

    def test_more_than_the_baseline_fails_and_fewer_fails_too(self):
        self.plant("tests/a/a_test.cpp", "#if 0\n#endif\nSKIP();\n")
        self.plant("cmake/a.cmake", "p(DISABLED)")
        self.plant("CMakeLists.txt", "p(DISABLED)")
        others = {"cmake/a.cmake": (1, ""), "CMakeLists.txt": (1, "")}
        self.assertEqual(skipped_tests.breaches(self.root, {"tests/a/a_test.cpp": (2, ""), **others}), [])
        self.assertEqual(skipped_tests.breaches(self.root, {"tests/a/a_test.cpp": (3, ""), **others}),
                         ["tests/a/a_test.cpp: 2 skipped tests, 3 allowed: lower BASELINE of tests/a/a_test.cpp to 2 in "
                          "tests/ratchet/skipped_tests.py"])
        found = skipped_tests.breaches(self.root, {"tests/a/a_test.cpp": (1, ""), "gone.cpp": (1, "")})
        self.assertEqual(len(found), 8)
        self.assertIn("tests/a/a_test.cpp: 2 skipped tests, 1 allowed: make them run", found)
        self.assertIn("tests/a/a_test.cpp:3: a test that skips itself", found)

    def test_the_ratchet_reads_tests_and_every_cmake_file_and_nothing_else(self):
        self.plant("host/a/a.cpp", "#if 0\n#endif\n")
        self.plant("docs/a.py", "if False: pass\n")
        self.assertEqual(skipped_tests.skipped(self.root), [])
        self.plant("host/a/CMakeLists.txt", "p(DISABLED)")
        self.plant("tests/a.h", "#if 0\n#endif\n")
        self.assertEqual([file for file, _, _ in skipped_tests.skipped(self.root)], ["host/a/CMakeLists.txt", "tests/a.h"])


class GlobalState(PlantedTree):
    def names(self, text):
        return [variable.name for variable in global_state.state_in(text)]

    def test_each_kind_of_state_is_found(self):
        for text, name in (
            ("int x;", "x"),
            ("namespace a { namespace { std::atomic<bool> flag{false}; } }", "flag"),
            ("static std::mutex m;", "m"),
            ("inline std::once_flag once;", "once"),
            ("constinit thread_local View v;", "v"),
            ("constinit int x = 1;", "x"),
            ("template <class T> inline std::map<T, std::vector<int>> cache = {};", "cache"),
            ("[[maybe_unused]] alignas(64) unsigned long counters[4] = {1, 2};", "counters"),
            ("__attribute__((section(\"a\"))) int x = 1;", "x"),
            ("const char* name = \"a\";", "name"),  # the pointer can change
            ("char* const name = buffer;", "name"),  # what it points to can
            ("int& alias = *new int;", "alias"),
            ("const std::unique_ptr<Table> table = make();", "table"),
            ("struct { int a; } both;", "both"),
            ("static struct Point { int a; } point = {1};", "point"),
            ("struct sigaction before = {};", "before"),
            ("void (*handler)(int) = nullptr;", "handler"),
            ("std::function<void(int)> f;", "f"),
            ("int (A::*member)(int) = nullptr;", "member"),
            ("static const char* names[] = {\"a\"};", "names"),
            ("alignas(64) std::byte arena[1 << 20];", "arena"),
            ("void f() try { static int n; } catch (...) {}", "f::n"),
            ("void f() { if (static int n = 0; n < 2) {} }", "f::n"),
            ("void f() { switch (a) { case 1: static int n = b < c, d = 1; } }", "f::d"),
            ("extern \"C\" { int x; }", "x"),
            ("std::mt19937 engine(42);", "engine"),
            ("std::mt19937 engine(seed());", "engine"),
            ("std::vector<int> table(kSize, 0);", "table"),
            ("auto x = [] { return 1; }();", "x"),
            ("extern int x = 1;", "x"),
            ("int f() {\n static int n = 0;\n return n++; }", "f::n"),
            ("int A::f() { if (a) { thread_local std::vector<B> n; } }", "A::f::n"),
            ("void f() { static auto* const mutex = new std::mutex; }", "f::mutex"),
            ("void f() { static auto [a] = g(); }", "f::a"),
            ("void f() { g([] { static std::string s; }); }", "f::s"),
            ("const bool x = [] { static int n; return n; }();", "n"),
            ("struct A { A() : b_{1} { static int n; } int b_; };", "A::A::n"),
            ("struct A { int b = [] { static int n; return n; }(); };", "A::n"),
            ("class A { static int n; };", "A::n"),
            ("class A { public: inline static std::mutex m{}; };", "A::m"),
            ("#define STATE(name) \\\n  static int name##_state;\n", "STATE::_state"),
            ("#define STATE static int n = 0", "STATE::n"),
            ("#ifdef A\nint f() {\n#else\nint g() {\n#endif\n static int n; }", "f::n"),
            ("MACRO(x)\nint y;", "y"),
            ("int \\\n x \\\n = 1;", "x"),
        ):
            with self.subTest(text):
                self.assertEqual(self.names(text)[-1:], [name])

    def test_each_declarator_is_found(self):
        self.assertEqual(self.names("int a = f(1, 2), b, *c = nullptr;"), ["a", "b", "c"])
        self.assertEqual(self.names("const int *const a = f(), b = 1, *c = nullptr;"), ["c"])
        self.assertEqual(self.names("const int *a = f(), b = 1;"), ["a"])

    def test_what_cannot_change_or_is_no_process_state_is_none(self):
        for text in (
            "constexpr int x = 1;", "const int x = 1;", "int const x = 1;", "static const std::vector<int> t{1, 2};",
            "constinit const int x = 1;",
            "inline constexpr std::array<int, 2> a = {1, 2};", "const char* const name = \"a\";",
            "static constexpr const char* names[] = {\"a\"};",
            "const Table& table = make();", "void (*const handler)(int) = f;", "const std::unique_ptr<const Table> t = make();",
            "template <> const Layout kLayout<A> = {1};",
            "void f();", "static int f(int a, const B& b);", "inline B f(int) { return {}; }", "std::mutex& lock();", "A* f(B b), *g(C c);",
            "static const A* f() { static const A a; return &a; }", "bool operator==(const A& a, const A& b);", "explicit A(int);",
            "int f(outrider_status);", "std::vector<int> f(const std::function<int(int)>& g);",
            "void (*signal(int a, void (*f)(int)))(int);",
            "extern int x;", "extern thread_local constinit View v;", 'extern "C" int x;', "int A::n = 0;",
            "class A;", "enum class A : int;", "enum A { a, b = 2 };", "struct A { int b = 1; std::mutex m; A* next; static void f(); };",
            "struct A { static constexpr int n = 1; static const B b; int c : 3; };", "using A = int;", "typedef int A;",
            "__extension__ typedef int A;",
            "using namespace std;", "namespace a = b::c;", "static_assert(a == b, \"c\");", "template class A<int>;", "friend class B;",
            "concept A = requires(T t) { t.x; };", "MACRO(a, b);", "MACRO(a)\n",
            "int f() { int n = 0; auto g = [n]() mutable { return n; }; static const int m = 1; return m; }",
            "void f() { static_cast<void>(a); static constexpr int kNames[] = {1}; for (int i = 0; i < 2; ++i) {} }",
            "// static int n;\n/* int x; */", 'const char* const t = R"(; static int n; )";', 'void f() { g("static int n;"); }',
            "#if 0\nint x;\n#endif", "#define CONSTANT static const int n = 1", "#define CALL(f) do { f(); } while (0)",
            "#define ENTRY(T) static const T* get(void) { static const T table = {1}; return &table; }",
        ):
            with self.subTest(text):
                self.assertEqual(self.names(text), [])

    def test_state_without_a_reason_and_a_reason_without_state_both_fail(self):
        self.plant("kernels/cpu/a.cpp", "// a\nnamespace a {\nint x;\n}\n")
        self.plant("tests/a.cpp", "int x;\n")
        allowed = {("kernels/cpu/a.cpp", "x"): "a reason"}
        self.assertEqual(global_state.breaches(self.root, allowed), [])
        found = global_state.breaches(self.root, {})
        self.assertEqual(len(found), 1)
        self.assertTrue(found[0].startswith("kernels/cpu/a.cpp:3: process-global state that can change: 'x'"), found)
        self.plant("kernels/cpu/a.cpp", "const int x = 1;\n")
        found = global_state.breaches(self.root, allowed)
        self.assertEqual(len(found), 1)
        self.assertIn("remove the entry", found[0])

    def test_each_variable_of_one_name_needs_its_own_reason(self):
        self.plant("host/a/a.cpp", "void f() { static int n; }\nvoid g() { static int n; }\n")
        self.assertEqual(len(global_state.breaches(self.root, {("host/a/a.cpp", "f::n"): ""})), 1)

    def test_every_entry_has_a_reason(self):
        self.assertTrue(all(len(reason) > 10 for reason in global_state.ALLOWED.values()))


class ArgsWriters(PlantedTree):
    def setUp(self):
        super().setUp()
        self.plant("host/config/field_table.hpp", '#define OUTRIDER_CONFIG_NAMESPACES(N) \\\n'
                   '  N(spec, SpecConfig, F, "a, b") \\\n  N(model, ModelConfig, G, "c")\n')
        self.plant("host/config/server_args.hpp", "class ServerArgs {\n public:\n  std::vector<Table> drafters;\n"
                                                  "  Result<ServerArgs> derive(const std::vector<Write>& writes) const;\n};\n"
                                                  "Result<ServerArgs> load(const Sources& sources);\n"
                                                  "struct LoadOutcome { std::optional<ServerArgs> args; };\n")

    def found(self, text, path="host/cli/a.cpp"):
        self.plant(path, text)
        return [(file, write.line, write.what) for places in args_writers.writes(self.root).values() for file, write in places]

    def test_each_way_to_write_is_found(self):
        for text in (
            "auto a = args.derive(writes);", "auto a = args\n  .\n  derive /* x */ (\n writes);", "auto a = args->derive({});",
            "auto a = (*args).template derive<int>(w);", "auto f = &config::ServerArgs::derive;", "auto a = args.ServerArgs::derive(w);",
            "auto a = ar\\\ngs.der\\\nive(w);", "void f() { if (a) { g([&] { return args.derive(w); }); } }",
            "#define WITH(args, w) \\\n  (args).derive(w)\n", "int f() { return derive(w); }",
            "void f() { config::set(values, id, value); }", "void f() { set(*values, g(1, 2), FieldValue{1, 2}); }",
            "void f(ServerArgs& args) { args.drafters.push_back({}); }", "void f(config::ServerArgs* args) { args->plugin_paths = {}; }",
            "void f() { auto args = config::load(sources); args->drafters.clear(); }",
            "void f() { ServerArgs next = *args; next.drafters[0].name += 'a'; }",
            "void f(const ServerArgs& args) { auto copy = args; copy.drafters.clear(); }",
            "void f() { OUTRIDER_TRY(ServerArgs args, load({})); args.drafters.emplace_back(); }",
            "void f() { auto outcome = load_all(s); outcome.args->drafters.clear(); }",
            "void f(ServerArgs& args) { auto& d = args.drafters; }", "void f(ServerArgs& args) { for (Table& t : args.drafters) g(t); }",
            "void f(ServerArgs& args) { g(std::move(args.drafters)); }", "void f(ServerArgs& args) { g(&args.drafters); }",
            "void f(ServerArgs& args) { ++args.plugin_paths_origin.line; }",
            "struct A { void f() { args_.drafters.clear(); } ServerArgs args_; };",
            "void f() { Namespaces n; n.spec.draft_tokens = 4; }", "void f() { SpecConfig spec; spec.tree = false; }",
            "void f() { auto n = std::make_shared<Namespaces>(*old); n->spec.draft_tokens = 4; }", "auto n = Namespaces{.spec = {}};",
            "SpecConfig s = {.tree = true};",
            "ServerArgs& own(); void f() { own().drafters.clear(); }", "void f() { load(s)->drafters.clear(); }",
            "void f() { session.args->drafters.clear(); }",
            "auto& a = const_cast<config::ServerArgs&>(*args);", "auto p = std::const_pointer_cast<ServerArgs>(args);",
            "auto& s = const_cast<ConfigState&>(*state);", "auto* p = (ServerArgs*)args.get();",
        ):
            with self.subTest(text):
                self.assertEqual(len(self.found(text)), 1)

    def test_what_only_looks_like_a_write_is_none(self):
        for text in (
            "// args.derive(w)\n/* args.derive(w) */", 'f("args.derive(w)");', 'f(R"x(args.derive(w); const_cast<ServerArgs&>(a))x");',
            "Result<ServerArgs> derive(const std::vector<Write>& w) const;", "Result<ServerArgs> ServerArgs::derive(const W& w) const {\n}",
            "ServerArgs& derive(int);", "args.derived(w);", "int derive = 1; f(derive);", "#if 0\nargs.derive(w);\n#endif",
            "#include <args.derive(x)>\n", "#error don't args.derive(w)\n",
            "std::set<int> a; a.set(b, c, d); b->set(1, 2, 3); bits::set(a, b, c); set(a, b);",
            "void set(Namespaces& n, FieldId id, const V& v);",
            "void f(const ServerArgs& args) { for (const Table& t : args.drafters) g(t); auto d = args.drafters; }",
            "void f(ServerArgs args) { const auto& d = args.drafters; g(args.drafters.size()); h(args.drafters == d); }",
            "void f(ServerArgs args) { auto e = args.drafters; }",
            "void f(Options& options) { options.drafters.push_back(a); }",
            "void f(ServerArgs& args) { g(args.drafters); }\nvoid h(Options& args) { args.drafters.clear(); }",
            "void f() { { ServerArgs args; } { Options args; args.drafters.clear(); } }",
            "void f() { auto names = load_names(args); names.list.clear(); }", "const Namespaces n{};", "struct Namespaces { int a; };",
            "SpecConfig make() { return SpecConfig{}; }",
            "auto p = const_cast<void*>(a); auto& b = const_cast<const ServerArgs&>(c); f(sizeof(ServerArgs*));",
            "std::shared_ptr<const ServerArgs> args; void f() { g(args->drafters); args = h(); }", "void f(ServerArgs&);",
            "void f() { auto args = load(s); context.override(\"a\", {{\"b\", args->drafters.size()}}); }",
        ):
            with self.subTest(text):
                self.assertEqual(self.found(text), [])

    def test_outside_the_config_room_writes_are_counted_by_file(self):
        text = "void f() { a.derive(w); }\nvoid g() { b.derive(w); }\n"
        self.plant("host/cli/a.cpp", text)
        self.plant("tests/unit/a.cpp", text)  # tests make configurations as they like
        self.assertEqual(args_writers.breaches(self.root, {"host/cli/a.cpp": (2, "")}), [])
        self.assertEqual(args_writers.breaches(self.root, {"host/cli/a.cpp": (3, "")}),
                         ["host/cli/a.cpp: 2 args-level writes, 3 allowed: lower the baseline of host/cli/a.cpp to 2 "
                          "(BASELINE in tests/ratchet/args_writers.py)"])
        found = args_writers.breaches(self.root, {"host/cli/a.cpp": (1, "")})
        self.assertIn("host/cli/a.cpp:2: a new args-level writer (derive): use RuntimeContext::override", found)
        self.assertEqual(len(found), 3)
        self.assertEqual(len(args_writers.breaches(self.root, {})), 2)

    def test_inside_the_config_room_they_are_counted_by_function(self):
        self.plant("host/config/a.cpp", "class L { void f() { a.derive(w); } };\nvoid L::g() { for (;;) { b.derive(w); } }\n")
        baseline = {"host/config/a.cpp L::f": (1, ""), "host/config/a.cpp L::g": (1, "")}
        self.assertEqual(args_writers.breaches(self.root, baseline), [])
        self.plant("host/config/a.cpp", "class L { void f() { a.derive(w); b.derive(w); } };\n")
        found = args_writers.breaches(self.root, baseline)
        self.assertEqual(len(found), 4)
        self.assertIn("remove host/config/a.cpp L::g from the baseline", found[-1])

    def test_every_entry_has_a_reason(self):
        self.assertTrue(all(number > 0 and len(reason) > 10 for number, reason in args_writers.BASELINE.values()))


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
