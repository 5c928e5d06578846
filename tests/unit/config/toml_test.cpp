// TOML's corners, and the report of what is wrong, word for word.
#include "config/toml_reader.hpp"
#include "support.hpp"

using namespace outrider;
using namespace outrider::config;
using namespace outrider::config::test;
using Catch::Contains;

namespace {

std::string report(std::string_view text) {
  std::string all;
  for (const Fault& fault : read_toml("a.toml", text).faults) all += fault.text() + '\n';
  return all;
}

}  // namespace

TEST_CASE("the report of a file with many faults names each with place, expectation and nearest name") {
  CHECK(report(R"([spec]
draft_tokns = 4
draft_tokens = "four"
law = "gredy"
tree = 1
kv_type = "f16"
[sepc]
x = 1
[memory]
kv_tokens = 2.0
kv_type = f16
[model]
path = 7
)") == R"(a.toml:2:1: unknown key 'draft_tokns' in [spec]
  2 | draft_tokns = 4
    | ^
  did you mean 'draft_tokens'?
a.toml:3:16: expected an integer from 1 to 1024 (tokens) for spec.draft_tokens, found "four"
  3 | draft_tokens = "four"
    |                ^
a.toml:4:7: expected one of "auto", "greedy", "coupled" for spec.law, found "gredy"
  4 | law = "gredy"
    |       ^
  did you mean 'greedy'?
a.toml:5:8: expected true or false for spec.tree, found 1
  5 | tree = 1
    |        ^
a.toml:6:1: unknown key 'kv_type' in [spec]
  6 | kv_type = "f16"
    | ^
  did you mean 'kv_type' in [memory]?
a.toml:7:2: unknown table or key 'sepc'
  7 | [sepc]
    |  ^
  did you mean 'spec'?
a.toml:10:13: expected an integer from 0 to 1073741824 (tokens) for memory.kv_tokens, found 2.0
  10 | kv_tokens = 2.0
     |             ^
a.toml:11:12: not TOML: expected 'false', saw 'f1'
  11 | kv_type = f16
     |            ^
  booleans are written true and false
a.toml:13:8: expected a text that is not empty for model.path, found 7
  13 | path = 7
     |        ^
  write it in quotes
)");
}

TEST_CASE("faults of syntax say what to do") {
  CHECK_THAT(report("[model]\npath = \"C:\\stuff\"\n"), Contains("a backslash begins an escape") && Contains("a.toml:2:12"));
  CHECK(report("[spec]\ntree = true\n  tree = false\n") ==
        "a.toml:3:3: not TOML: duplicate key 'tree'\n  3 |   tree = false\n    |   ^\n  a key or table may stand once in a file\n");
  CHECK_THAT(report("[spec]\n[spec]\n"), Contains("a.toml:2:1: not TOML: duplicate key 'spec'"));
  CHECK_THAT(report("[spec]\ndraft_tokens = 012\n"), Contains("without leading zeros"));
  CHECK_THAT(report("[spec]\ntree = True\n"), Contains("booleans are written true and false"));
  CHECK_THAT(report("spec = { tree = true,\n law = \"auto\" }\n"), Contains("an inline table { … } stands on one line"));
  CHECK_THAT(report("[model]\npath = \"abc\n"), Contains("ends on the line it begins on"));
  CHECK_THAT(report("[model]\npath \"abc\"\n"), Contains("settings are written key = value"));
  CHECK_THAT(report("[spec\n"), Contains("a.toml:1:6: not TOML: expected ']'"));
}

TEST_CASE("one fault of syntax does not hide the others of the file") {
  const std::string text = report("[spec]\ntree = maybe\ndraft_tokens = 0\nlaw = [\n");
  CHECK_THAT(text, Contains("a.toml:2:8") && !Contains("draft_tokens"));  // an array that never ends: nothing after it can be trusted
  const std::string more = report("[spec]\ntree = maybe\ndraft_tokens = 0\nlaw = what\n");
  CHECK_THAT(more, Contains("a.toml:2:8") && Contains("spec.draft_tokens, found 0") && Contains("a.toml:4:7"));
}

TEST_CASE("dotted keys, inline tables and quoted keys are the tables they stand for") {
  const FileContents contents =
      read_toml("a.toml", "spec.draft_tokens = 4\n\"model\" = { path = 'm.gguf', \"name\" = \"n\" }\nmemory.\"kv_type\" = \"f32\"\n");
  CHECK(contents.faults.empty());
  REQUIRE(contents.settings.size() == 4);
  for (const Write& one : contents.settings) {
    if (one.field == "spec.draft_tokens") CHECK(one.origin.text() == "a.toml:1:21");
    if (one.field == "model.path") CHECK(one.value == FieldValue("m.gguf"));
  }
}

TEST_CASE("a byte order mark, CRLF and tabs are no trouble, and columns count characters") {
  const FileContents contents = read_toml("a.toml", "\xEF\xBB\xBF[spec]\r\n\tdraft_tokens\t=\t4\r\n");
  CHECK(contents.faults.empty());
  REQUIRE(contents.settings.size() == 1);
  CHECK(contents.settings[0].origin.text() == "a.toml:2:17");
  CHECK(report("\xEF\xBB\xBFspec = { law = \"grün\", tree = 1 }\r\n") ==
        "a.toml:1:16: expected one of \"auto\", \"greedy\", \"coupled\" for spec.law, found \"grün\"\n"
        "  1 | spec = { law = \"grün\", tree = 1 }\n"
        "    |                ^\n"
        "a.toml:1:31: expected true or false for spec.tree, found 1\n"
        "  1 | spec = { law = \"grün\", tree = 1 }\n"
        "    |                               ^\n");
}

TEST_CASE("values of types no field has are faults: dates, numbers with a point, nan, inf, arrays, tables") {
  CHECK_THAT(report("[spec]\ndraft_tokens = 1979-05-27\n"), Contains("found a date"));
  CHECK_THAT(report("[spec]\ndraft_tokens = 1979-05-27T07:32:00Z\n"), Contains("found a date and time"));
  CHECK_THAT(report("[spec]\ndraft_tokens = 07:32:00\n"), Contains("found a time of day"));
  CHECK_THAT(report("[spec]\ndraft_tokens = nan\n"), Contains("found nan"));
  CHECK_THAT(report("[spec]\ndraft_tokens = -inf\n"), Contains("found -inf"));
  CHECK_THAT(report("[spec]\ndraft_tokens = 3.5\n"), Contains("found 3.5"));
  CHECK_THAT(report("[spec]\ndraft_tokens = [4]\n"), Contains("found an array"));
  CHECK_THAT(report("[spec.draft_tokens]\nx = 1\n"), Contains("found a table"));
  CHECK_THAT(report("[[spec]]\ntree = true\n"), Contains("expected a table, [spec], found an array of tables"));
  CHECK_THAT(report("spec = 3\n"), Contains("expected a table, [spec], found 3"));
  CHECK_THAT(report("draft_tokens = 3\n"), Contains("'draft_tokens' belongs under [spec]"));
  CHECK_THAT(report("[spec]\ndraft_tokens = \"4\"\n"), Contains("write it without quotes"));
  CHECK_THAT(report("[spec]\ndraft_tokens = 99999999999999999999\n"), Contains("not representable in 64 bits"));
  CHECK_THAT(report("[spec]\ndraft_tokens = 9223372036854775807\n"), Contains("found 9223372036854775807"));
}

TEST_CASE("hexadecimal, octal, binary and grouped integers are integers") {
  CHECK(read_toml("a.toml", "[spec]\ndraft_tokens = 0x10\n").settings.at(0).value == FieldValue(16));
  CHECK(read_toml("a.toml", "[spec]\ndraft_tokens = 0b11\n").settings.at(0).value == FieldValue(3));
  CHECK(read_toml("a.toml", "[spec]\ndraft_tokens = 1_000\n").settings.at(0).value == FieldValue(1000));
}

TEST_CASE("plugin tables with what a plugin cannot be given are faults") {
  CHECK_THAT(report("[plugins]\npath = [\"/x\"]\n"), Contains("the only key of [plugins] is 'paths'"));
  CHECK_THAT(report("[plugins]\npaths = \"/x\"\n"), Contains("expected an array of folders"));
  CHECK_THAT(report("drafter = 1\n"), Contains("expected a table, [drafter], found 1"));
  CHECK_THAT(report("[drafter]\nngram = 1\n"), Contains("expected a table, [drafter.ngram], found 1"));
  CHECK_THAT(report("[drafter.x]\nlibrary = 1\n"), Contains("drafter.x.library, found 1"));
  CHECK_THAT(report("[drafter.x]\nn = nan\n"), Contains("a finite number") && Contains("found nan"));
  CHECK_THAT(report("[drafter.x]\nn = [1, 2]\n"), Contains("an array of texts for drafter.x.n, found an array"));
  CHECK_THAT(report("[drafter.x.n]\nm = 1\n"), Contains("drafter.x.n, found a table"));
  CHECK_THAT(report("[drafter.x]\ncorpora = \"/f\"\n"), Contains("[drafter.x.corpora], found \"/f\""));
  CHECK_THAT(report("[drafter.x.corpora]\nlaw = 3\n"), Contains("drafter.x.corpora.law, found 3"));
}

TEST_CASE("very long texts, very deep nesting, odd bytes and empty files are handled") {
  CHECK(report("").empty());
  CHECK(report("\n# a comment\n").empty());
  const std::string megabyte(1 << 20, 'x');
  const std::string text = report("[spec]\nlaw = \"" + megabyte + "\"\n");
  CHECK(text.size() < 1000);
  CHECK_THAT(text, Contains("(1048576 bytes)"));
  CHECK(report("[" + megabyte + "]\n").size() < 3u << 20);
  CHECK(read_toml("a.toml", "[model]\npath = \"" + megabyte + "\"\n").settings.at(0).value == FieldValue(megabyte));
  CHECK_THAT(report("x = " + std::string(100000, '[')), Contains("not TOML"));
  std::string dotted = "x";
  for (int i = 0; i < 5000; ++i) dotted += ".x";
  CHECK_FALSE(report(dotted + " = 1\n").empty());
  CHECK_THAT(report(std::string("[model]\npath = \"a\0b\"\n", 21)), Contains("not TOML"));
  CHECK_THAT(report("\xff\xfe\x00"), Contains("not TOML"));
  CHECK_THAT(report("[model]\npath = \"\\u0000\"\n"), Contains("a text that is not empty"));
}

TEST_CASE("a missing file, a folder and an enormous file are refused with the reason") {
  const Folder folder;
  CHECK_THAT(read_file(folder / "none.toml").error().message, Contains("No such file or directory"));
  CHECK_THAT(read_file(folder / "").error().message, Contains("Is a directory"));
  CHECK_THAT(read_file("/dev/zero").error().message, Contains("16 MiB"));
}

TEST_CASE("a secret on a faulty line is not shown") {
  const std::string secret = "s3cret";
  for (const std::string text :
       {"[serving]\napi_key = 's3cret' x\nprt = 1\n", "serving = { api_key = \"s3cret\", prt = 1 }\n",
        "[serving]\n\"api_key\" = [ \"s3cret\" ]\n", "[serving]\napi_key = \"\"\"\ns3cret \\q\n\"\"\"\n", "[serving]\napi_key = s3cret\n",
        "[serving]\napi_key = [\n's3cret' 2\n]\n", "[drafter.x]\nauth_token = { a = \"s3cret\" }\n", "[serving]\napi_key = 1979\n"}) {
    INFO(text);
    const std::string shown = report(text);
    CHECK_FALSE(shown.empty());
    CHECK_THAT(shown, !Contains(secret) && !Contains("1979"));
  }
}
