// SPDX-License-Identifier: MIT
// Core marks and per-core locks (spec 06 section 4.3).
#include <cerrno>

#include "row.hpp"
#include "trial.hpp"

namespace neffld::cts {
namespace {

using Marks = neuron_crwl_nc_map_ext0;

/// Marks of one row. They outlive a file on a driver, so each row takes its own back.
class Marker {
 public:
  explicit Marker(const Trial& t) : trial_(t) {}
  ~Marker() {
    Marks mine{};
    mine.bitmap[0] = taken_;
    trial_.client().call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, mine);
  }
  Marker(const Marker&) = delete;
  Marker& operator=(const Marker&) = delete;

  Marks ask(std::uint32_t count, std::uint32_t first, std::uint32_t last, int expected) {
    Marks marks{count, first, last, 77, {}};
    const int result = trial_.client().call(NEURON_IOCTL_CRWL_NC_RANGE_MARK_EXT0, marks);
    if (result == 0) taken_ |= marks.bitmap[0];
    trial_.result(fmt::format("a mark of {} cores from {} to {}", count, first, last), result,
                  expected);
    return marks;
  }
  void give_back(std::uint64_t bitmap) {
    Marks mine{};
    mine.bitmap[0] = bitmap;
    trial_.result("CRWL_NC_RANGE_UNMARK_EXT0",
                  trial_.client().call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK_EXT0, mine), 0);
  }

 private:
  const Trial& trial_;
  std::uint64_t taken_ = 0;
};

void bitmap_is(const Trial& t, std::string_view sent, const Marks& marks, std::uint64_t expected) {
  t.equal(sent, "bitmap", marks.bitmap[0], expected);
}

void first_free(Trial& t) {
  Marker marker(t);
  bitmap_is(t, "a mark of 1 core", marker.ask(1, 0, 1, 0), 1);
  bitmap_is(t, "a second mark of 1 core", marker.ask(1, 0, 1, 0), 2);
  const Marks none = marker.ask(1, 0, 1, -EBUSY);
  t.equal("a third mark of 1 core", "longest run", none.max_nc_available, 0);
  bitmap_is(t, "a third mark of 1 core", none, 0);
}

void not_twice(Trial& t) {
  Marker marker(t);
  marker.ask(1, 0, 0, 0);
  marker.ask(1, 0, 0, -EBUSY);
  marker.give_back(1);
  marker.ask(1, 0, 0, 0);
}

void skips_after_blocked(Trial& t) {
  Marker marker(t);
  bitmap_is(t, "a mark of core 2", marker.ask(1, 2, 2, 0), 4);
  const Marks two = marker.ask(2, 1, 7, 0);
  bitmap_is(t, "a mark of 2 cores from 1 to 7 with 2 taken", two, 0x30);
  t.equal("a mark of 2 cores from 1 to 7 with 2 taken", "longest run", two.max_nc_available, 1);
  const Marks five = marker.ask(5, 0, 7, -EBUSY);
  t.equal("a mark of 5 cores", "longest run", five.max_nc_available, 2);
}

void range_checks(Trial& t) {
  Marker marker(t);
  t.equal("a mark with start above end", "longest run",
          marker.ask(1, 1, 0, -EINVAL).max_nc_available, 0);
  marker.ask(1, 0, 512, -EINVAL);
  marker.ask(1, 512, 512, -EINVAL);
}

void end_511(Trial& t) {
  Marker marker(t);
  bitmap_is(t, "a mark of 1 core from 0 to 511", marker.ask(1, 0, 511, 0), 1);
}

void count_zero(Trial& t) {
  Marker marker(t);
  bitmap_is(t, "a mark of no cores", marker.ask(0, 0, 0, 0), 0);
  marker.ask(1, 0, 0, 0);
  marker.ask(0, 0, 0, -EBUSY);
}

void older_form(Trial& t) {
  Marker marker(t);
  neuron_crwl_nc_map marks{1, 0, 1, 77, 0};
  t.result("CRWL_NC_RANGE_MARK", t.client().call(NEURON_IOCTL_CRWL_NC_RANGE_MARK, marks), 0);
  const std::uint64_t first = marks.bitmap;
  bitmap_is(t, "a mark beside it", marker.ask(1, 0, 1, 0), 2);
  marks.bitmap = 1;
  t.result("CRWL_NC_RANGE_UNMARK", t.client().call(NEURON_IOCTL_CRWL_NC_RANGE_UNMARK, marks), 0);
  t.equal("CRWL_NC_RANGE_MARK", "bitmap", first, 1);
}

void lock_limits(Trial& t) {
  for (const std::uint32_t command :
       {NEURON_IOCTL_CRWL_READER_ENTER, NEURON_IOCTL_CRWL_READER_EXIT,
        NEURON_IOCTL_CRWL_WRITER_ENTER, NEURON_IOCTL_CRWL_WRITER_DOWNGRADE}) {
    t.result(fmt::format("lock command {:#x} of core 8", command), t.client().lock(command, 8, 1),
             -EINVAL);
  }
}

void reader_without_writer(Trial& t) {
  const Client& c = t.client();
  t.result("CRWL_READER_ENTER without a writer before",
           c.lock(NEURON_IOCTL_CRWL_READER_ENTER, 0, 7), -ENOENT);
  t.result("CRWL_READER_EXIT without a reader", c.lock(NEURON_IOCTL_CRWL_READER_EXIT, 0, 7),
           -ENOENT);
}

void lock_round(Trial& t) {
  const Client& c = t.client();
  t.result("CRWL_WRITER_ENTER", c.lock(NEURON_IOCTL_CRWL_WRITER_ENTER, 0, 1), 0);
  t.result("CRWL_WRITER_DOWNGRADE with another uuid",
           c.lock(NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, 9), -ENOENT);
  t.result("CRWL_WRITER_DOWNGRADE", c.lock(NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, 1), 0);
  t.result("CRWL_READER_ENTER", c.lock(NEURON_IOCTL_CRWL_READER_ENTER, 0, 1), 0);
  t.result("CRWL_READER_EXIT", c.lock(NEURON_IOCTL_CRWL_READER_EXIT, 0, 1), 0);
  t.result("CRWL_READER_EXIT", c.lock(NEURON_IOCTL_CRWL_READER_EXIT, 0, 1), 0);
  t.result("CRWL_READER_EXIT once too often", c.lock(NEURON_IOCTL_CRWL_READER_EXIT, 0, 1), -EINVAL);
}

void same_writer_again(Trial& t) {
  const Client& c = t.client();
  constexpr std::uint8_t uuid = 2;  // of no other row: a node remembers its last writer
  t.result("CRWL_WRITER_ENTER", c.lock(NEURON_IOCTL_CRWL_WRITER_ENTER, 0, uuid), 0);
  t.result("CRWL_WRITER_DOWNGRADE", c.lock(NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, uuid), 0);
  t.result("CRWL_READER_EXIT", c.lock(NEURON_IOCTL_CRWL_READER_EXIT, 0, uuid), 0);
  t.result("CRWL_WRITER_ENTER of the same process and uuid",
           c.lock(NEURON_IOCTL_CRWL_WRITER_ENTER, 0, uuid), -EALREADY);
  // The lock is held all the same.
  t.result("CRWL_WRITER_DOWNGRADE", c.lock(NEURON_IOCTL_CRWL_WRITER_DOWNGRADE, 0, uuid), 0);
}

}  // namespace

void add_marks(Rows& rows) {
  const auto idle = [&](std::string_view name, void (*run)(Trial&), std::string_view spec) -> Row& {
    Row& made = add(rows, name, run, spec);
    made.needs = Needs::idle;
    // A mark keeps others off the cores, and a lock makes them wait.
    made.safety = Safety::intrusive;
    return made;
  };
  idle("marks.first-free-cores", first_free, "06 4.3");
  idle("marks.own-cores-are-taken-too", not_twice, "06 4.3");
  idle("marks.search-skips-after-a-taken-core", skips_after_blocked, "06 4.3, 11 B.3")
      .architectures = For::v3;
  add(rows, "marks.range-checks", range_checks, "06 4.3");
  idle("marks.end-511-is-accepted", end_511, "11 B.1");
  idle("marks.count-0", count_zero, "11 B.1");
  idle("marks.older-form", older_form, "06 4.3");
  add(rows, "marks.lock-limits", lock_limits, "06 4.3");
  idle("marks.reader-needs-a-writer-before", reader_without_writer, "11 B.2.15");
  idle("marks.lock-round", lock_round, "06 4.3");
  idle("marks.same-writer-again", same_writer_again, "06 4.3, 11 B.2.15");
}

}  // namespace neffld::cts
