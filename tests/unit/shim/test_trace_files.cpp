// SPDX-License-Identifier: MIT
// Where traces lie and what they say: files that are no files, recordings that do not end, and text
// that would act on a terminal.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "neuron_abi/ioctl.h"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::shared_ptr<TraceWriter> writer_of(const std::string& path, bool durable = false) {
  auto writer = TraceWriter::create(path, {false, durable});
  if (!writer) FAIL(to_sentence(writer.error()));
  return *writer;
}

std::string text_of(const std::string& path) {
  const auto bytes = read_all(path);
  return {bytes.begin(), bytes.end()};
}

bool exists(const std::string& path) {
  return std::filesystem::exists(path);
}

}  // namespace

TEST_CASE("a trace that is a pipe, a folder or a device is refused without waiting") {
  const ScratchFolder scratch;
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  std::filesystem::create_directory(scratch.path("folder"));
  for (const std::string& path : {scratch.path("pipe"), scratch.path("folder"),
                                  std::string("/dev/zero"), scratch.path("nothing")}) {
    INFO(path);
    const auto reader = TraceReader::open(path);
    REQUIRE_FALSE(reader);
    CHECK(reader.error().error_class == ErrorClass::file);
  }
  // Nobody reads: the recorder does not wait either.
  CHECK_FALSE(TraceWriter::create(scratch.path("pipe")));
  CHECK_FALSE(TraceWriter::create(scratch.path("folder")));
}

TEST_CASE("a recording takes its name when it is finished and keeps what was there until then") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("t");
  write_all(path, as_bytes("before"));
  write_all(path + ".part", as_bytes("of somebody else"));
  {
    const auto writer = writer_of(path);
    writer->info("key", "value");
    CHECK(text_of(path) == "before");
    CHECK(exists(path + ".part2"));
    CHECK(writer->finish());
    CHECK_FALSE(exists(path + ".part2"));
  }
  auto events = events_of(read_all(path));
  REQUIRE(events);
  CHECK(events->size() == 1);
  CHECK(text_of(path + ".part") == "of somebody else");
}

TEST_CASE("the part file of a recorder that died tells its calls to the last one") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("t");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const auto writer = writer_of(path, true);
    const auto device = record_calls(fresh_device(), writer);
    std::uint8_t argument[64] = {};
    for (int i = 0; i < 3; ++i) device->ioctl(NEURON_IOCTL_DEVICE_APP_PID, argument);
    TraceCall last;
    last.number = 4;
    last.command = NEURON_IOCTL_DEVICE_INIT;
    writer->begin(last);  // and the machine goes down
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  CHECK_FALSE(exists(path));
  auto reader = TraceReader::open(path + ".part");
  REQUIRE(reader);
  std::vector<TraceCall> calls;
  for (;;) {
    auto event = (*reader)->next();
    if (!event) break;
    REQUIRE(*event);
    if ((*event)->call) calls.push_back(*(*event)->call);
  }
  REQUIRE(calls.size() == 4);
  CHECK(calls[2].replied);
  CHECK(calls[3].command == NEURON_IOCTL_DEVICE_INIT);
  CHECK_FALSE(calls[3].replied);
}

TEST_CASE("text of a trace is printed so that it cannot act on a terminal") {
  const auto printed = [](const std::string& text) { return to_line(TraceInfo{text, text}); };
  const auto both = [](const std::string& text) { return text + ": " + text; };
  CHECK(printed("/dev/neuron0") == both("/dev/neuron0"));
  CHECK(printed("g\xC3\xBCnstig \xE6\x97\xA5") == both("g\xC3\xBCnstig \xE6\x97\xA5"));
  CHECK(printed("a\x1b[2J\nb\x7f") == both("a\\x1b[2J\\x0ab\\x7f"));
  CHECK(printed("\xC2\x9B 1A") == both("\\u{9b} 1A"));          // C1: another escape
  CHECK(printed("\xE2\x80\xAE gpj") == both("\\u{202e} gpj"));  // right to left from here
  CHECK(printed("\xE2\x81\xA6x\xD8\x9C") == both("\\u{2066}x\\u{61c}"));
  CHECK(printed("\xE2\x80\xA8") == both("\\u{2028}"));  // a line end
  CHECK(printed("\xFF\xC0\x80\xED\xA0\x80\xC3") ==
        both("\\xff\\xc0\\x80\\xed\\xa0\\x80\\xc3"));  // no UTF-8
  CHECK(printed("a\\x1b") == both("a\\\\x1b"));        // not to be taken for one
  TraceCall call;
  call.command = NEURON_IOCTL_MEM_FREE;
  call.missing.emplace_back("\x1b]0;title\a");
  CHECK(to_line(call).find("(not captured: \\x1b]0;title\\x07)") != std::string::npos);
}
