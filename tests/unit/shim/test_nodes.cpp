// SPDX-License-Identifier: MIT
// Why a node cannot be used, each reason with its own sentence and next step.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <set>

#include "neffld/back_ends.hpp"
#include "neuron_abi/ioctl.h"
#include "node_checks.hpp"
#include "older_forms.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;

namespace {

std::string node_refusal(const std::string& path, const NodeOptions& options = {}) {
  const auto file = open_node(path, options);
  return file ? "opened" : to_sentence(file.error());
}

bool has(const std::string& text, std::string_view part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

/// A character device made for the test; false where that is not permitted.
bool make_node(const std::string& path, unsigned major_number, unsigned minor_number, mode_t mode) {
  if (mknod(path.c_str(), S_IFCHR | mode, makedev(major_number, minor_number)) == 0) return true;
  WARN("skipped: device nodes cannot be made here (" << std::strerror(errno) << ")");
  return false;
}

/// What an unprivileged user gets. Empty where this process cannot become one.
std::string refusal_for_nobody(const std::string& path, const NodeOptions& options) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    std::string text;
    if (setgid(65534) == 0 && setuid(65534) == 0) text = node_refusal(path, options);
    const auto written = write(ends[1], text.data(), text.size());
    _exit(written < 0);
  }
  close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t size = read(ends[0], text.data(), text.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (text.empty()) WARN("skipped: this process cannot become another user");
  return text;
}

shim::NodeFacts facts(std::uint32_t architecture, std::uint32_t min, std::uint32_t max) {
  shim::NodeFacts facts;
  facts.architecture = architecture;
  facts.min_version = min;
  facts.max_version = max;
  return facts;
}

}  // namespace

TEST_CASE("an absent node, a file, a folder and a pipe are told apart") {
  const ScratchFolder scratch;
  const std::string absent = node_refusal(scratch.path("neuron0"));
  CHECK(has(absent, "does not exist"));
  CHECK(has(absent, "load the Neuron driver or neuron_sim"));
  write_all(scratch.path("file"), as_bytes("x"));
  CHECK(has(node_refusal(scratch.path("file")), "is not a Neuron node: it is a regular file"));
  CHECK(has(node_refusal(scratch.path("")), "it is a folder"));
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK(has(node_refusal(scratch.path("pipe")), "it is a pipe"));
}

TEST_CASE("another driver's node is refused, by its class or by its answer") {
  CHECK(has(node_refusal("/dev/null"), "/dev/null: is not a Neuron node: character device 1:3"));
  const ScratchFolder empty;
  NodeOptions options;
  options.sysfs_folder = empty.path("");
  CHECK(has(node_refusal("/dev/null", options), "Inappropriate ioctl for device"));
}

TEST_CASE("a node nobody serves is refused") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("neuron0");
  if (!make_node(path, 511, 77, 0600)) return;
  CHECK(has(node_refusal(path), "no driver serves it"));
}

TEST_CASE("a node that may not be opened tells who may") {
  const ScratchFolder scratch;
  REQUIRE(chmod(scratch.path("").c_str(), 0755) == 0);
  const std::string path = scratch.path("neuron0");
  NodeOptions options;
  options.sysfs_folder = scratch.path("sys");
  if (!make_node(path, 1, 3, 0600)) return;
  const std::string text = refusal_for_nobody(path, options);
  if (text.empty()) return;
  CHECK(has(text, "may not be opened for reading and writing by user 65534"));
  CHECK(has(text, "its owner is 0:0 and its mode 0600"));
  REQUIRE(chmod(scratch.path("").c_str(), 0700) == 0);
  CHECK(has(refusal_for_nobody(path, options), "its folder may not be entered"));
}

TEST_CASE("a busy node names who has it open") {
  const int held = open("/dev/zero", O_RDONLY | O_CLOEXEC);
  REQUIRE(held >= 0);
  struct stat info {};
  REQUIRE(fstat(held, &info) == 0);
  const auto holders = shim::holders_of(info.st_rdev);
  const bool found = std::any_of(holders.begin(), holders.end(),
                                 [](const shim::Holder& h) { return h.pid == getpid(); });
  CHECK(found);
  const Error error = shim::open_error("/dev/neuron0", EBUSY, info.st_rdev).value();
  CHECK(has(to_sentence(error), "all 16 process slots of the device are taken, by pid "));
  CHECK(error.error_class == ErrorClass::device);
  close(held);
  const Error unseen = shim::open_error("/dev/neuron0", EBUSY, makedev(511, 78)).value();
  CHECK(has(to_sentence(unseen), "by processes that cannot be seen from here"));
}

TEST_CASE("driver versions below, touching and above ours") {
  CHECK(shim::check_versions(facts(3, 10, 11), "n"));
  CHECK(shim::check_versions(facts(3, 11, 20), "n"));
  CHECK(shim::check_versions(facts(2, 2, 5), "n"));
  const auto old = shim::check_versions(facts(2, 2, 4), "/dev/neuron0");
  REQUIRE_FALSE(old);
  CHECK(has(to_sentence(old.error()),
            "accepts interface versions 2 to 4, this program speaks 5 to "
            "7 on v2: upgrade the driver"));
  const auto newer = shim::check_versions(facts(3, 12, 13), "/dev/neuron0");
  REQUIRE_FALSE(newer);
  CHECK(has(to_sentence(newer.error()),
            "12 to 13, this program speaks 10 to 11 on v3: upgrade neffld"));
  const auto inf1 = shim::check_versions(facts(1, 2, 7), "/dev/neuron0");
  REQUIRE_FALSE(inf1);
  CHECK(has(to_sentence(inf1.error()), "architecture 1"));
}

TEST_CASE("the reasons have different sentences, all with a next step") {
  const ScratchFolder scratch;
  write_all(scratch.path("file"), as_bytes("x"));
  const auto versions = shim::check_versions(facts(3, 12, 13), "n");
  const std::set<std::string> sentences = {node_refusal(scratch.path("neuron0")),
                                           node_refusal(scratch.path("file")),
                                           to_sentence(shim::open_error("n", EACCES, 0).value()),
                                           to_sentence(shim::open_error("n", EBUSY, 0).value()),
                                           to_sentence(shim::open_error("n", ENXIO, 0).value()),
                                           to_sentence(shim::open_error("n", EINVAL, 0).value()),
                                           to_sentence(shim::open_error("n", EMFILE, 0).value()),
                                           to_sentence(versions.error())};
  CHECK(sentences.size() == 8);
  for (const std::string& sentence : sentences) {
    CHECK((has(sentence, "--device sim") || has(sentence, "upgrade")));
  }
}

TEST_CASE("our own module is told by the attribute of its node") {
  const ScratchFolder scratch;
  NodeOptions options;
  options.sysfs_folder = scratch.path("sys");
  const std::string folder = options.sysfs_folder + "/dev/char/240:3";
  CHECK_FALSE(shim::is_simulated(makedev(240, 3), options));
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/simulated") << "no\n";
  CHECK_FALSE(shim::is_simulated(makedev(240, 3), options));
  std::ofstream(folder + "/simulated") << "neuron_sim 0.1.0\n";
  CHECK(shim::is_simulated(makedev(240, 3), options));
  CHECK_FALSE(shim::is_simulated(makedev(240, 4), options));
}

TEST_CASE("auto takes the first usable node, tells why not, and else simulates") {
  const ScratchFolder scratch;
  DeviceOptions options;
  options.name = "auto";
  options.nodes.dev_folder = scratch.path("");
  options.nodes.prefix = "nd";
  std::vector<std::string> lines;
  options.print = [&](std::string_view line) { lines.emplace_back(line); };
  auto opened = open_device(options);
  REQUIRE(opened);
  CHECK(opened->file->traits().name == "sim:v3");
  REQUIRE(lines.size() == 1);
  CHECK(has(lines[0], "no node "));
  lines.clear();
  for (const char* name : {"nd0", "nd10", "nd64", "neuron1"}) write_all(scratch.path(name), {});
  opened = open_device(options);
  REQUIRE(opened);
  REQUIRE(lines.size() == 3);
  CHECK(has(lines[0], "nd0: is not a Neuron node"));
  CHECK(has(lines[1], "nd10: is not a Neuron node"));
  CHECK(has(lines[2], "no usable node"));
}

TEST_CASE("names that mean no device are refused with what is expected") {
  for (const char* name : {"", "sim:v4", "neuron0", "trace"}) {
    DeviceOptions options;
    options.name = name;
    const auto opened = open_device(options);
    REQUIRE_FALSE(opened);
    CHECK(has(to_sentence(opened.error()), "expected sim, sim:v2, sim:v3, auto or the path"));
  }
}

TEST_CASE("a driver without the 64-bit forms is used through the older ones") {
  const bool typed = GENERATE(true, false);  // has it allocations with a category?
  const auto old_driver = [&](std::uint32_t command, void*) -> std::optional<int> {
    switch (command) {
      case NEURON_IOCTL_DRIVER_INFO_GET:
      case NEURON_IOCTL_MEM_ALLOC_V2MT64:
      case NEURON_IOCTL_MEM_BUF_COPY64:
      case NEURON_IOCTL_DMA_COPY_DESCRIPTORS64:
      case NEURON_IOCTL_DMA_QUEUE_INIT_BATCH:
        return -EINVAL;
      case NEURON_IOCTL_MEM_ALLOC_V2MT:
        return typed ? std::nullopt : std::optional<int>(-EINVAL);
      default:
        return std::nullopt;
    }
  };
  CHECK_FALSE(
      try_load(std::make_unique<FakeFile>(old_driver, DeviceTraits{"old", true}), "vecadd-v3"));
  auto fake = std::make_unique<FakeFile>(old_driver, DeviceTraits{"old", true});
  const auto calls = fake->calls;
  load_sample(shim::use_older_forms(std::move(fake)), "vecadd-v3");
  const std::set<std::uint32_t> made(calls->begin(), calls->end());
  CHECK(made.contains(NEURON_IOCTL_MEM_BUF_COPY));
  CHECK(made.contains(NEURON_IOCTL_DMA_COPY_DESCRIPTORS));
  CHECK(made.contains(NEURON_IOCTL_DMA_QUEUE_INIT));
  CHECK(made.contains(NEURON_IOCTL_MEM_ALLOC_V2) != typed);
}

TEST_CASE("older forms refuse what they cannot carry, and pass other answers on") {
  const auto refuse = [](std::uint32_t, void*) -> std::optional<int> { return -EINVAL; };
  const auto device = shim::use_older_forms(std::make_unique<FakeFile>(refuse, foreign()));
  neuron_mem_buf_copy64 copy{1, 1, 1ull << 32, 0, 1};
  CHECK(device->ioctl(NEURON_IOCTL_MEM_BUF_COPY64, &copy) == -EINVAL);
  const auto full = [](std::uint32_t, void*) -> std::optional<int> { return -ENOMEM; };
  auto fake = std::make_unique<FakeFile>(full, foreign());
  const auto calls = fake->calls;
  const auto other = shim::use_older_forms(std::move(fake));
  neuron_mem_alloc_v2mt64 alloc{};
  CHECK(other->ioctl(NEURON_IOCTL_MEM_ALLOC_V2MT64, &alloc) == -ENOMEM);
  CHECK(calls->size() == 1);
}
