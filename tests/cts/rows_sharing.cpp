// SPDX-License-Identifier: MIT
// Cores, locks, resets and data stores between processes (spec 06 sections 4.3 to 4.5).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

using Marks = neuron_crwl_nc_map_ext0;

std::uint64_t mark(const Trial& t, const Client& client, std::uint32_t count, std::uint32_t first,
                   std::uint32_t last, int expected = 0) {
  Marks marks{count, first, last, 77, {}};
  t.result(fmt::format("a mark of {} cores from {} to {}", count, first, last),
           client.call(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, marks), expected);
  return marks.bitmap[0];
}

void unmark(const Trial& t, const Client& client, std::uint64_t bitmap) {
  Marks marks{};
  marks.bitmap[0] = bitmap;
  t.result("CRWL_NC_RANGE_UNMARK_EXT0", client.call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, marks),
           0);
}

void marks_exclude(Trial& t) {
  const Party first = t.party(Access::write_only);
  const Party second = t.party(Access::write_only);
  t.equal("a mark of 1 core", "bitmap", mark(t, first.client, 1, 0, 1), 1);
  t.equal("a mark by another process", "bitmap", mark(t, second.client, 1, 0, 1), 2);
  mark(t, second.client, 1, 0, 1, -EBUSY);
}

void unmark_own_only(Trial& t) {
  const Party first = t.party(Access::write_only);
  const Party second = t.party(Access::write_only);
  mark(t, first.client, 1, 0, 0);
  unmark(t, second.client, 1);
  mark(t, second.client, 1, 0, 0, -EBUSY);
  unmark(t, first.client, 1);
  mark(t, second.client, 1, 0, 0);
}

void exit_drops_marks(Trial& t) {
  Party first = t.party(Access::write_only);
  const Party second = t.party(Access::write_only);
  mark(t, first.client, 2, 0, 1);
  mark(t, second.client, 1, 0, 1, -EBUSY);
  first.process->exit();
  t.equal("a mark after the owner's exit", "bitmap", mark(t, second.client, 2, 0, 1), 3);
}

void any_free_access_close(Trial& t) {
  Party first = t.party(Access::write_only);
  const Party second = t.party(Access::write_only);
  const int other = first.process->open(Access::write_only);
  mark(t, first.client, 1, 0, 0);
  // Marks are the process's: closing any write-only file of it gives them back.
  t.result("close of another write-only file", first.process->close(other), 0);
  t.equal("a mark after that", "bitmap", mark(t, second.client, 1, 0, 0), 1);
}

void normal_close_keeps_marks(Trial& t) {
  Party first = t.party(Access::read_write);
  const Party second = t.party(Access::write_only);
  mark(t, first.client, 1, 0, 0);
  t.result("close of the file marked through", first.process->close(first.descriptor), 0);
  mark(t, second.client, 1, 0, 0, -EBUSY);
  // Only a write-only file can still give them back.
  const int last = first.process->open(Access::write_only);
  t.result("open and close of a write-only file", first.process->close(last), 0);
  t.equal("a mark after that", "bitmap", mark(t, second.client, 1, 0, 0), 1);
}

void child_keeps_marks(Trial& t) {
  Party first = t.party(Access::write_only);
  const Party second = t.party(Access::write_only);
  mark(t, first.client, 1, 0, 0);
  { const Party child = t.child_of(first); }
  mark(t, second.client, 1, 0, 0, -EBUSY);
}

void mark_skips_foreign(Trial& t) {
  const Party first = t.party(Access::write_only);
  const Party second = t.party(Access::write_only);
  mark(t, first.client, 1, 2, 2);
  t.equal("a mark of 2 cores from 1 with core 2 taken", "bitmap", mark(t, second.client, 2, 1, 7),
          0x30);
}

void lock(const Trial& t, const char* what, const Client& client, std::uint32_t command,
          int expected, std::uint8_t uuid = 1) {
  t.result(what, client.lock(command, 0, uuid), expected);
}

void writer_excludes(Trial& t) {
  const Party first = t.party();
  const Party second = t.party();
  lock(t, "CRWL_WRITER_ENTER", first.client, NEURON_IOCTL_CRWL_WRITER_ENTER, 0);
  lock(t, "CRWL_WRITER_ENTER by another", second.client, NEURON_IOCTL_CRWL_WRITER_ENTER, -EBUSY);
  lock(t, "CRWL_WRITER_DOWNGRADE by another", second.client, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE,
       -ENOENT);
  lock(t, "CRWL_WRITER_DOWNGRADE", first.client, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0);
  lock(t, "CRWL_WRITER_ENTER with a reader", second.client, NEURON_IOCTL_CRWL_WRITER_ENTER, -EBUSY,
       2);
  lock(t, "CRWL_READER_EXIT", first.client, NEURON_IOCTL_CRWL_READER_EXIT, 0);
  lock(t, "CRWL_WRITER_ENTER by another, later", second.client, NEURON_IOCTL_CRWL_WRITER_ENTER, 0,
       2);
}

void exit_drops_locks(Trial& t) {
  const Party second = t.party();
  {
    const Party first = t.party();
    lock(t, "CRWL_WRITER_ENTER", first.client, NEURON_IOCTL_CRWL_WRITER_ENTER, 0);
  }
  lock(t, "CRWL_WRITER_ENTER after the writer's exit", second.client,
       NEURON_IOCTL_CRWL_WRITER_ENTER, 0, 2);
  lock(t, "CRWL_WRITER_DOWNGRADE", second.client, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, 2);
  lock(t, "CRWL_READER_EXIT", second.client, NEURON_IOCTL_CRWL_READER_EXIT, 0, 2);
  {
    const Party third = t.party();
    lock(t, "CRWL_WRITER_ENTER", third.client, NEURON_IOCTL_CRWL_WRITER_ENTER, 0, 3);
    lock(t, "CRWL_WRITER_DOWNGRADE", third.client, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, 3);
  }
  lock(t, "CRWL_WRITER_ENTER after the reader's exit", second.client,
       NEURON_IOCTL_CRWL_WRITER_ENTER, 0, 4);
}

std::uint32_t request_reset(const Trial& t, const Client& client) {
  neuron_nc_reset request{1, 0};
  t.result("NC_RESET", client.call(NEURON_IOCTL_NC_RESET, request), 0);
  return request.request_id;
}

std::uint32_t reset_result(const Trial& t, const Client& client, std::uint32_t id) {
  neuron_nc_reset_ready ready{id, 77};
  t.result("NC_RESET_READY", client.call(NEURON_IOCTL_NC_RESET_READY, ready), 0);
  return ready.result;
}

void resets_are_per_process(Trial& t) {
  const Party first = t.party();
  const Party second = t.party();
  const std::uint32_t one = request_reset(t, first.client);
  const std::uint32_t two = request_reset(t, second.client);
  t.equal("NC_RESET", "request id", one, static_cast<std::uint64_t>(first.id()));
  t.equal("NC_RESET by another process", "request id", two,
          static_cast<std::uint64_t>(second.id()));
  t.equal("NC_RESET_READY of the own request", "result", reset_result(t, second.client, two), 0);
  t.equal("NC_RESET_READY of another's request", "result", reset_result(t, second.client, one), 0);
  t.equal("NC_RESET_READY of a request asked for already", "result",
          reset_result(t, first.client, one), 1);
}

void store_of(const Trial& t, const Client& client, std::int32_t pid, int expected,
              std::uint64_t& offset) {
  neuron_neuron_ds store{};
  store.pid = pid;
  t.result(fmt::format("ACQUIRE_NEURON_DS of {}", pid == 0 ? "the caller" : "another process"),
           client.call(NEURON_IOCTL_ACQUIRE_NEURON_DS, store), expected);
  offset = store.mmap_offset;
}

void stores_are_shared(Trial& t) {
  Party first = t.party();
  const Party second = t.party();
  std::uint64_t own = 0, seen = 0, mine = 0;
  store_of(t, second.client, first.id(), -ENOENT, seen);
  store_of(t, first.client, 0, 0, own);
  store_of(t, second.client, first.id(), 0, seen);
  t.equal("ACQUIRE_NEURON_DS of another process", "offset", seen, own);
  store_of(t, second.client, 0, 0, mine);
  t.holds("ACQUIRE_NEURON_DS of the caller", mine != own, "the other's store", "another one");
  const std::int32_t gone = first.id();
  first.process->exit();
  store_of(t, second.client, gone, -ENOENT, seen);
}

}  // namespace

void add_sharing(Rows& rows) {
  const auto idle = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) -> Row& {
    Row& made = add(rows, name, run, spec);
    made.needs = Needs::idle;
    made.safety = Safety::intrusive;
    return made;
  };
  idle("sharing.marks-exclude-other-processes", marks_exclude, "06 4.3");
  idle("sharing.unmark-spares-foreign-cores", unmark_own_only, "06 4.3");
  idle("sharing.exit-drops-marks", exit_drops_marks, "06 2");
  idle("sharing.any-write-only-close-drops-marks", any_free_access_close, "06 2");
  idle("sharing.normal-close-keeps-marks", normal_close_keeps_marks, "06 2");
  idle("sharing.exit-of-a-child-keeps-marks", child_keeps_marks, "06 2");
  idle("sharing.search-skips-after-a-foreign-core", mark_skips_foreign, "06 4.3").architectures =
      For::v3;
  idle("sharing.writer-lock-excludes", writer_excludes, "06 4.3");
  idle("sharing.exit-drops-locks", exit_drops_locks, "06 2, 4.3");
  idle("sharing.resets-are-per-process", resets_are_per_process, "06 4.4");
  add(rows, "sharing.data-stores", stores_are_shared, "06 4.5, 11 B.2.16");
}

}  // namespace neffld::cts
