// SPDX-License-Identifier: MIT
// Reading and writing whole files: each failure has its own sentence.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>
#include <thread>

#include "support.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;
namespace fs = std::filesystem;

namespace {

std::string reason(const std::string& path) {
  const auto read = read_file(path);
  REQUIRE_FALSE(read);
  CHECK(read.error().error_class == ErrorClass::file);
  CHECK(read.error().where.member == path);
  return read.error().text;
}

}  // namespace

TEST_CASE("missing files, folders, empty files and pipes are told apart") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path("folder"));
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  REQUIRE(write_file(scratch.path("empty"), {}));
  std::set<std::string> reasons;
  reasons.insert(reason(scratch.path("absent")));
  reasons.insert(reason(scratch.path("folder")));
  reasons.insert(reason(scratch.path("empty")));
  reasons.insert(reason(scratch.path("pipe")));
  CHECK(reasons.size() == 4);
  CHECK_THAT(reason(scratch.path("absent")), Contains("does not exist"));
  CHECK_THAT(reason(scratch.path("folder")), Contains("is a folder"));
  CHECK_THAT(reason(scratch.path("empty")), Contains("is empty"));
}

TEST_CASE("a file larger than the limits let a payload be is refused before it is read") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("sparse");
  REQUIRE(write_file(path, as_bytes("x")));
  fs::resize_file(path, 1ull << 40);  // more than any machine of ours has
  const auto read = read_file(path, ContainerLimits{}.file_bytes());
  REQUIRE_FALSE(read);
  CHECK(read.error().status == Status::resource);
  CHECK(read.error().where.member == path);
  CHECK_THAT(read.error().text, Contains("has 1099511627776 bytes, the limit is"));
  fs::resize_file(path, 1000);
  CHECK(read_file(path, 1000)->size() == 1000);
  CHECK_FALSE(read_file(path, 999));
}

TEST_CASE("the limit of a file leaves room for any payload within the limit") {
  for (const std::size_t size : {1u, 100'000u, 3'000'000u}) {
    PackOptions options;
    options.compression = Compression::stored;
    const Buffer file = pack({member("a", std::string(size, 'x'))}, options);
    const ContainerLimits limits{.inflated_bytes = parse_container(file)->facts().inflated_bytes};
    CHECK(file.size() <= limits.file_bytes());
  }
  CHECK(ContainerLimits{.inflated_bytes = UINT64_MAX}.file_bytes() > UINT64_MAX / 2);
}

TEST_CASE("a file that may not be read is refused as such") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("secret");
  REQUIRE(write_file(path, as_bytes("x")));
  fs::permissions(path, fs::perms::none);
  // In a child, because root may read everything and must become somebody else first.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    const auto read = read_file(path);
    const bool denied = !read && read.error().error_class == ErrorClass::file &&
                        read.error().text.find("permission denied") != std::string::npos;
    _exit(denied ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
}

TEST_CASE("files are written whole, replaced, and leave nothing else behind") {
  const ScratchFolder scratch;
  const Buffer big = patterned(300'000, 4);
  REQUIRE(write_file(scratch.path("out"), as_bytes("old")));
  REQUIRE(write_file(scratch.path("out"), big));
  CHECK((*read_file(scratch.path("out")) == big));
  const auto begin = fs::directory_iterator(scratch.path(""));
  CHECK(std::distance(begin, fs::directory_iterator()) == 1);
}

TEST_CASE("write_file refuses folders, devices and absent parents and cleans up") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path("folder"));
  REQUIRE(mkfifo(scratch.path("pipe").c_str(), 0600) == 0);
  CHECK_THAT(write_file(scratch.path("folder"), {}).error().text, Contains("folder"));
  CHECK_THAT(write_file(scratch.path("pipe"), {}).error().text, Contains("pipe"));
  CHECK(write_file(scratch.path("no/such"), {}).error().error_class == ErrorClass::file);
  const auto begin = fs::directory_iterator(scratch.path(""));
  CHECK(std::distance(begin, fs::directory_iterator()) == 2);
}

TEST_CASE("a file that grows and shrinks while it is read gives bytes or an error, never a crash") {
  const ScratchFolder scratch;
  const std::string path = scratch.path("moving");
  const Buffer file = pack(sample_members());
  REQUIRE(write_file(path, file));
  std::atomic<bool> stop = false;
  std::thread writer([&] {
    const int fd = open(path.c_str(), O_WRONLY);
    for (off_t size = 0; !stop; size = (size + 7'001) % 60'000) {
      if (ftruncate(fd, size) != 0) break;
    }
    close(fd);
  });
  for (int i = 0; i < 300; ++i) {
    const auto bytes = read_file(path);
    if (!bytes) {
      CHECK(bytes.error().error_class == ErrorClass::file);
      continue;
    }
    // Only the first round can still see the file as it was; a longer one is mostly zeros.
    CHECK(((*bytes == file) || !parse_container(*bytes)));
  }
  stop = true;
  writer.join();
}
