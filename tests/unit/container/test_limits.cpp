// SPDX-License-Identifier: MIT
// Limits and exhausted memory (decisions 25 and 26).
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <new>

#include "replaced_new.hpp"
#include "support.hpp"

using namespace neffld;
using namespace neffld::test;
using Catch::Matchers::Contains;

namespace {

/// Allocations of this thread until one fails; negative means none does.
thread_local long allocations_left = -1;

/// Runs `call` with the first, second, ... allocation failing until it succeeds; each failure
/// must be a resource status. Returns how many failures there were.
template <class Call>
long fail_each_allocation(Call call) {
  for (long k = 0; k < 100'000; ++k) {
    allocations_left = k;
    auto result = call();
    allocations_left = -1;
    if (result) return k;
    CHECK(result.error().status == Status::resource);
    CHECK(result.error().error_class == ErrorClass::resource);
  }
  FAIL("never succeeds");
  return 0;
}

}  // namespace

bool neffld::test::refuse_new() noexcept {
  if (allocations_left == 0) return true;
  if (allocations_left > 0) --allocations_left;
  return false;
}

TEST_CASE("each limit is a resource error that names the member and the limit") {
  const Buffer file = pack(sample_members());
  const auto with = [&file](auto change) {
    ContainerOptions options;
    change(options.limits);
    return refusal(file, options);
  };
  const Error members = with([](ContainerLimits& limits) { limits.members = 6; });
  const Error member = with([](ContainerLimits& limits) { limits.member_bytes = 99'999; });
  const Error path = with([](ContainerLimits& limits) { limits.path_bytes = 15; });
  for (const Error* error : {&members, &member, &path}) {
    CHECK(error->status == Status::resource);
    CHECK(error->error_class == ErrorClass::resource);
    CHECK_THAT(error->text, Contains("limit"));
  }
  CHECK(members.where.member == "sg00/def.json");
  CHECK(member.where.member == "sg00/const.npy");
  CHECK(path.where.member == "sg00/deep/er/table.bin");

  ContainerOptions exact;
  exact.limits.members = 7;
  exact.limits.member_bytes = 100'000;
  exact.limits.path_bytes = 22;
  CHECK(parse_container(file, exact));
}

TEST_CASE("every single failing allocation while parsing is a status") {
  const Buffer file = pack(sample_members());
  ContainerOptions options;
  options.verify_hash = true;
  CHECK(fail_each_allocation([&] { return parse_container(file, options); }) > 10);
}

TEST_CASE("every single failing allocation while packing is a status") {
  const auto members = sample_members();
  for (const auto compression : {Compression::stored, Compression::deflate}) {
    PackOptions options;
    options.compression = compression;
    CHECK(fail_each_allocation([&] { return pack_neff(members, options); }) > 10);
  }
}

#ifndef __SANITIZE_ADDRESS__  // the sanitizer itself needs address space
TEST_CASE("a process without address space gets a resource status, not a crash") {
  const Buffer file = pack(sample_members());
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit none{1, 1};
    setrlimit(RLIMIT_AS, &none);
    const auto parsed = parse_container(file);
    _exit(!parsed && parsed.error().status == Status::resource ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif
