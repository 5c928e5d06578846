// Each way a plugin file can be wrong: refused before it can do harm, with file, reason and remedy.
#include <catch2/catch.hpp>

#include "drafting/elf_file.hpp"
#include "drafting/loader.hpp"
#include "drafting/probe.hpp"
#include "support.hpp"

using namespace contract;
using namespace outrider;
using Catch::Matchers::Contains;

namespace {

std::string refusal_of(const std::string& library) {
  Setup setup;
  setup.library = library;
  return refusal(Session(setup));
}

}  // namespace

TEST_CASE("a plugin that keeps the contract is loaded and says who it is") {
  Setup setup;
  setup.name = "echo";
  setup.library = evil("echo");
  Session session(setup);
  REQUIRE(refusal(session) == "");
  const auto report = session->report();
  CHECK(report.name == "echo");
  CHECK(report.id == "org.example.echo");
  CHECK(report.version == "1.0.0");
  CHECK(report.library == evil("echo"));
}

TEST_CASE("a missing library is refused by the name that was asked for") {
  CHECK_THAT(refusal_of("/nowhere/gone.so"),
             Contains("/nowhere/gone.so") && Contains("there is no such file") && Contains("check the path"));
}

TEST_CASE("a folder in place of a library is refused") { CHECK_THAT(refusal_of("/tmp/."), Contains("not a regular file")); }

TEST_CASE("a file that is no ELF library is refused as another type") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal_of(folder.write("text.so", "#!/bin/sh\necho hello, I am a script of some length\n").string()),
             Contains("found a file of another type"));
  CHECK_THAT(refusal_of(folder.write("empty.so", "").string()), Contains("the file is empty"));
}

TEST_CASE("an executable and a library without a note are refused as no plugins") {
  // outrider-probe is a position-independent executable, which ELF calls a shared object too; what it lacks is the note.
  CHECK_THAT(refusal_of(std::string(OUTRIDER_TEST_PLUGINS) + "/../outrider-probe"), Contains("no Outrider plugin"));
}

TEST_CASE("a library for another machine is refused by that machine's name") {
  const TemporaryFolder folder;
  std::string bytes = read(evil("echo"));
  bytes[18] = static_cast<char>(243);  // e_machine: RISC-V
  CHECK_THAT(refusal_of(folder.write("riscv.so", bytes).string()), Contains("it is built for RISC-V"));
}

TEST_CASE("a plugin of another ABI major is refused before its code runs") {
  CHECK_THAT(refusal_of(evil("other_major")), Contains("ABI 2.3") && Contains("this host speaks 1.0"));
}

TEST_CASE("a plugin without the entry symbol is refused by the symbol's name") {
  CHECK_THAT(refusal_of(evil("no_entry")), Contains("does not export the entry symbol outrider_entry_get_v1"));
}

TEST_CASE("a plugin whose note and descriptor differ is refused") {
  CHECK_THAT(refusal_of(evil("note_differs")), Contains("org.example.note_differs") && Contains("org.example.another"));
}

TEST_CASE("a plugin cut anywhere is refused without running it") {
  const TemporaryFolder folder;
  const std::string bytes = read(evil("echo"));
  REQUIRE(bytes.size() > 4096);
  for (size_t i = 0; i < 64; ++i) {
    const size_t length = bytes.size() * i / 64;
    const auto note = drafting::read_plugin_file(std::as_bytes(std::span(bytes.data(), length)), "cut.so");
    INFO("cut at " << length);
    REQUIRE_FALSE(note.ok());
  }
  CHECK_THAT(refusal_of(folder.write("cut.so", std::string_view(bytes).substr(0, bytes.size() / 2)).string()), Contains("cut or damaged"));
}

TEST_CASE("a plugin file with any byte changed is judged without reading beyond its end") {
  std::string bytes = read(evil("echo"));
  // Headers and section table: where offsets and counts are. Run under a sanitizer this finds what is not checked.
  const size_t tail = bytes.size() > 2048 ? bytes.size() - 2048 : 0;
  size_t refused = 0;
  for (size_t at = 0; at < bytes.size(); at = at == 1023 ? tail : at + 1) {
    const char was = bytes[at];
    for (const int value : {0, 0x7F, 0xFF}) {
      bytes[at] = static_cast<char>(value);
      refused += drafting::read_plugin_file(std::as_bytes(std::span(bytes)), "garbled.so").ok() ? 0U : 1U;
    }
    bytes[at] = was;
  }
  CHECK(refused > 0);
  CHECK(drafting::read_plugin_file(std::as_bytes(std::span(bytes)), "whole.so").ok());
}

TEST_CASE("a plugin that calls exit(0) in a constructor is refused though the child ended well") {
  CHECK_THAT(refusal_of(evil("exits")),
             Contains("exit code 0") && Contains("while it was being opened") && Contains("static constructors"));
}

TEST_CASE("a plugin that kills its process in a constructor is refused with the signal") {
  CHECK_THAT(refusal_of(evil("crashes")), Contains("signal Killed"));
}

TEST_CASE("a plugin whose constructor never ends is given up") {
  const auto tried = drafting::probe(evil("loops"), "loops.so", std::chrono::milliseconds(300));
  REQUIRE_FALSE(tried.ok());
  CHECK_THAT(tried.error().message, Contains("had not finished loading after 300 ms"));
}

TEST_CASE("a plugin stays usable when its file is overwritten or removed after loading") {
  const TemporaryFolder folder;
  Setup setup;
  setup.name = "echo";
  setup.library = folder.write("echo.so", read(evil("echo"))).string();
  Session session(setup);
  REQUIRE(refusal(session) == "");
  folder.write("echo.so", "overwritten in place");
  REQUIRE(session->open(1, std::vector<int32_t>{5}, 0, 0, 10));
  CHECK(session.propose(1, {5, 6}, 1).tokens == std::vector<int32_t>{6});
}

TEST_CASE("the same file loaded twice gives two libraries with entries of their own") {
  const auto first = drafting::PluginLibrary::open(evil("echo"));
  const auto second = drafting::PluginLibrary::open(evil("echo"));
  REQUIRE(first.ok());
  REQUIRE(second.ok());
  CHECK(&(*first)->entry() != &(*second)->entry());
}
