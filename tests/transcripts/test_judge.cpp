// SPDX-License-Identifier: MIT
// The replay of transcripts must itself find what is wrong.
#include <catch2/catch.hpp>
#include <fstream>

#include "runner.hpp"
#include "scratch_folder.hpp"

using namespace transcripts;

namespace {

/// A file of the folder with this text; its path.
std::string put(const neffld::test::ScratchFolder& folder, const char* name,
                const std::string& text) {
  const std::string path = folder.path(name);
  std::ofstream(path) << text;
  return path;
}

const char* const alloc =
    "transcript 1 t\n"
    "device arch=3\n"
    "- A open rw 0 2 -> 0\n"
    "7 A call rw MEM_ALLOC_V2MT64 0x80384E66 size=8192 mem_type=9 -> 0 mem_handle=1\n"
    "8 A call rw MEM_BUF_COPY64 0xC0284E18 mem_handle=1 size=8192 copy_to_mem_handle=1 -> 0\n"
    "9 A call rw MEM_BUF_COPY64 0xC0284E18 mem_handle=1 size=8192 copy_to_mem_handle=0 -> 0\n"
    "10 A check 0 h1+0 8192\n";

std::vector<std::string> problems(const std::string& script, const std::string& exceptions = "") {
  const neffld::test::ScratchFolder folder;
  put(folder, "t.txt", script);
  const Exceptions list(put(folder, "exceptions.txt", exceptions));
  std::vector<std::string> found;
  for (const auto& group : read_groups(folder.path(""), {})) {
    const auto reports = play(group, "");
    for (std::size_t i = 0; i < group.size(); ++i) {
      const auto judgement = judge(group[i], reports[i], list);
      found.insert(found.end(), judgement.problems.begin(), judgement.problems.end());
    }
  }
  return found;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  text.replace(text.find(what), what.size(), with);
  return text;
}

}  // namespace

TEST_CASE("a transcript that the device answers as recorded has no problem") {
  CHECK(problems(alloc).empty());
}

TEST_CASE("every kind of difference is found, with its line") {
  CHECK(problems(replaced(alloc, "mem_handle=1\n", "mem_handle=2\n")) ==
        std::vector<std::string>{"t line 7: MEM_ALLOC_V2MT64.mem_handle: 1, recorded 2"});
  CHECK(problems(replaced(alloc, "-> 0 mem_handle=1", "-> ENOMEM"))[0].starts_with(
      "t line 7: MEM_ALLOC_V2MT64: 0, recorded ENOMEM"));
  CHECK(problems(replaced(alloc, "8 A", "- A moved h1+4 h1+0 4096\n8 A")).empty());
  // The memory holds something else than the calls put there.
  CHECK(problems(replaced(alloc, "10 A", "- A moved h1+4 h1+0 4096\n10 A"))[0].starts_with(
      "t line 10: buffer: byte 0 is "));
  CHECK(problems(replaced(alloc, "open rw 0 2 -> 0", "open rw 0 2 -> EBUSY"))[0].starts_with(
      "t line 0: "));
}

TEST_CASE("a listed line may differ and must") {
  const std::string differs = replaced(alloc, "mem_handle=1\n", "mem_handle=2\n");
  CHECK(problems(differs, "t 7 both because\n").empty());
  CHECK(problems(differs, "t 7 in-process because\n").empty());
  CHECK(problems(differs, "t 7 module because\n").size() == 1);
  CHECK(problems(differs, "t 8 both because\n").size() == 2);
  CHECK(problems(alloc, "# nothing\nt 7 both because\n") ==
        std::vector<std::string>{"t line 7 is on the list but agrees"});
}

TEST_CASE("a list with patterns, doubles, without reasons or too long is refused") {
  const neffld::test::ScratchFolder folder;
  std::string many;
  for (std::size_t i = 1; i <= Exceptions::most + 1; ++i) {
    many += "t " + std::to_string(i) + " both because\n";
  }
  for (const std::string& text :
       {std::string("t * both because"), std::string("t 1 both"), std::string("t 1 all because"),
        std::string("t 1 both because\nt 1 module because"), many}) {
    CHECK_THROWS(Exceptions(put(folder, "list", text)));
  }
  CHECK_THROWS(Exceptions(folder.path("absent")));
}

TEST_CASE("a transcript that cannot be read is refused with its place") {
  const neffld::test::ScratchFolder folder;
  for (const char* text : {"", "transcript 2 t\n", "transcript 1 t\nx A open rw 0 2 -> 0\n",
                           "transcript 1 t\n1 A\n", "transcript 1 t\n1 A open rw ->\n"}) {
    CHECK_THROWS(read_script(put(folder, "t.txt", text)));
  }
}
