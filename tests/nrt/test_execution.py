# SPDX-License-Identifier: MIT
"""Executions through the C API: failures, residents, threads, queues, real files."""

import os
import shutil
import struct
import tempfile
import unittest

import support

SKIPS = {"NEFFLD_COMPUTE": "skip"}
QUIET = {"NEURON_RT_LOG_LEVEL": "QUIET"}
TIMEOUT, INVALID = 5, 2
# Files whose outputs depend on no compute record.
MOVERS = {
    "v2": ["virtual-overlap-v2", "one-partition-v2", "rearm-v2", "placement-v2"],
    "v3": ["cast-v3", "transpose-v3", "copy-shapes-v3", "long-runs-v3", "many-queues-v3",
           "pointers-v3", "records-v3", "scratchpad-lnc2-v3"],
}


def patched(name, member, change):
    """A sample with one member changed: `change` gets its bytes as a bytearray."""
    folder = tempfile.mkdtemp(dir=support.scratch())
    path = os.path.join(folder, "changed.neff")
    members = os.path.join(folder, "members")
    done = support.run([support.MAKE_SAMPLE, name, "--folder", members])
    assert done.code == 0, done.err
    with open(os.path.join(members, member), "rb") as file:
        content = bytearray(file.read())
    change(content)
    with open(os.path.join(members, member), "wb") as file:
        file.write(content)
    done = support.run([support.NEFFLD, "pack", members, "-o", path])
    assert done.code == 0, done.err
    shutil.rmtree(members)
    return path


def first_slot(stream, opcode):
    return next(i for i in range(len(stream) // 64) if stream[64 * i] == opcode)


class Execution(unittest.TestCase):
    def passes(self, name, arch, *arguments, env=None):
        done = support.program(name, *arguments,
                               env={"NEFFLD_DEVICE": f"sim:{arch}", **QUIET, **(env or SKIPS)})
        self.assertEqual((done.code, done.err), (0, ""), f"{name} {arguments} on {arch}")

    def fails(self, bad, status, *parts, env=None):
        """`bad` ends with the status, the log says why, and another model goes on working."""
        log = os.path.join(tempfile.mkdtemp(dir=support.scratch()), "log")
        done = support.program("faults", support.sample("copy-shapes-v3"), bad, status,
                               env={"NEURON_RT_LOG_LOCATION": log, **SKIPS, **(env or {})})
        self.assertEqual((done.code, done.err), (0, ""))
        with open(log, encoding="utf-8") as file:
            text = file.read()
        for part in parts:
            self.assertIn(part, text)

    def test_a_missing_increment_is_a_timeout_that_names_engine_slot_and_semaphore(self):
        def no_update(stream):
            slot = first_slot(stream, 0x41)
            stream[64 * slot + 6:64 * slot + 8] = b"\0\0"

        bad = patched("vecadd-v3", "sg00/DVE.bin", no_update)
        self.fails(bad, TIMEOUT,
                   "the program cannot go on: sg00 POOL waits at slot 3 (image slot 34, WRITE) "
                   "for semaphore 6 >= 2, is 1 (NRT_TIMEOUT)", "with status 5")

    def test_a_wait_for_a_semaphore_nobody_raises_names_it(self):
        def wait_for_200(stream):
            slot = first_slot(stream, 0x41)
            struct.pack_into("<BBBBI", stream, 64 * slot + 4, 5, 200, 0x13, 6, 7)

        bad = patched("vecadd-v3", "sg00/DVE.bin", wait_for_200)
        self.fails(bad, TIMEOUT, "sg00 DVE waits at slot 2 (image slot 2, TENSOR_TENSOR_ARITH_OP) "
                   "for semaphore 200 >= 7, is 0")

    def test_an_endless_program_ends_when_its_time_is_up(self):
        def jump_to_itself(stream):
            slot = first_slot(stream, 0x41)
            record = bytearray(64)
            record[0:2] = b"\xa9\x10"
            record[0x0E] = 3
            stream[64 * slot:64 * slot + 64] = record

        bad = patched("vecadd-v3", "sg00/DVE.bin", jump_to_itself)
        self.fails(bad, TIMEOUT, "its time was up", env={"NEURON_RT_EXEC_TIMEOUT": "1"})

    def test_a_record_nobody_can_run_is_refused_before_anything_runs(self):
        def other_opcode(stream):
            stream[64 * first_slot(stream, 0x41)] = 0x4D  # RNG

        bad = patched("vecadd-v3", "sg00/DVE.bin", other_opcode)
        self.fails(bad, INVALID, "sg00 DVE slot 2, opcode 0x4d RNG, byte 0x00: ",
                   env={"NEFFLD_COMPUTE": "run"})

    def test_residents_of_a_core_take_turns(self):
        for arch, names in MOVERS.items():
            self.passes("residents", arch, 1, 6, *map(support.sample, names))

    def test_sixteen_threads_execute(self):
        for arch, names in MOVERS.items():
            self.passes("busy", arch, *map(support.sample, names[:3]))

    def test_requests_queue_up(self):
        env = {**SKIPS, "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "4"}
        for arch, names in MOVERS.items():
            self.passes("async", arch, support.sample(names[0]), env=env)

    def test_requests_of_many_threads_queue_up(self):
        env = {**SKIPS, "NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "4"}
        for arch, names in MOVERS.items():
            self.passes("queued", arch, *map(support.sample, names[:3]), env=env)

    def test_unloading_a_model_with_queued_requests_says_so(self):
        log = os.path.join(tempfile.mkdtemp(dir=support.scratch()), "log")
        done = support.program("async", support.sample("cast-v3"),
                               env={"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "4",
                                    "NEURON_RT_LOG_LOCATION": log, "NEURON_RT_LOG_LEVEL": "WARN",
                                    **SKIPS})
        self.assertEqual((done.code, done.err), (0, ""))
        with open(log, encoding="utf-8") as file:
            self.assertRegex(file.read(), r"Execution requests on model 1001 have not been drained "
                             "before unloading")

    def test_collectives_of_several_ranks_do_not_run(self):
        def all_reduce(stream):
            slot = 64 * first_slot(stream, 0x41)
            stream[slot] = 0xC8
            stream[slot + 0x0C:slot + 64] = bytes(64 - 0x0C)
            stream[slot + 0x0C:slot + 0x0E] = bytes((4, 10))  # add, float32
            struct.pack_into("<IIQ", stream, slot + 0x10, 1, 1, 16)
            stream[slot + 0x20] = 1

        bad = patched("vecadd-v3", "sg00/DVE.bin", all_reduce)
        log = os.path.join(tempfile.mkdtemp(dir=support.scratch()), "log")
        done = support.program("collectives", bad, 1, 2, 0, INVALID,
                               env={"NEURON_RT_LOG_LOCATION": log, **SKIPS,
                                    "NEURON_RT_ROOT_COMM_ID": "10.0.0.1:62128"})
        self.assertEqual((done.code, done.err), (0, ""))
        with open(log, encoding="utf-8") as file:
            self.assertIn("collectives beyond one rank are not supported: the model was loaded as "
                          "rank 1 of 2 and has 1 collective operations on core 0", file.read())

    def test_inspection_on_failure_keeps_what_fails_to_execute(self):
        def no_update(stream):
            slot = first_slot(stream, 0x41)
            stream[64 * slot + 6:64 * slot + 8] = b"\0\0"

        bad = patched("vecadd-v3", "sg00/DVE.bin", no_update)
        for queued in ({}, {"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "1"}):
            folder = os.path.join(tempfile.mkdtemp(dir=support.scratch()), "kept")
            done = support.program("guide", bad, 0 if queued else TIMEOUT,
                                   env={"NEURON_RT_INSPECT_ON_FAIL": "1", **SKIPS, **queued,
                                        "NEURON_RT_INSPECT_OUTPUT_DIR": folder})
            self.assertEqual(done.code, 0, done.err)
            kept = os.listdir(folder)
            self.assertEqual(len(kept), 1)
            self.assertRegex(kept[0], r"^neff_[0-9a-f-]{36}_1001\.neff$")
            self.assertIn(f"the NEFF is kept in {folder}/{kept[0]}", done.err)
            with open(bad, "rb") as file, open(os.path.join(folder, kept[0]), "rb") as copy:
                self.assertEqual(file.read(), copy.read())

    def test_few_ring_sets_are_enough(self):
        env = {**SKIPS, "NEURON_RT_IO_RING_CACHE_SIZE": "1"}
        self.passes("residents", "v3", 1, 3, *map(support.sample, MOVERS["v3"]), env=env)

    def test_real_files_execute_to_their_end_when_compute_is_skipped(self):
        for arch in MOVERS:
            for path in support.real_files(arch):
                with self.subTest(file=os.path.basename(path)):
                    self.passes("residents", arch, 0, 2, path)

    def test_sixteen_threads_execute_all_real_files_of_one_architecture(self):
        for arch in ("v2", "v3"):
            paths = support.real_files(arch)
            if paths:
                self.passes("busy", arch, "alone", *paths)

    def test_real_files_of_one_architecture_are_resident_together(self):
        for arch in MOVERS:
            paths = support.real_files(arch)
            if paths:
                self.passes("residents", arch, 0, 2, *paths)

    def test_settings_that_make_no_sense_fail_the_start(self):
        for name, value in (("NEFFLD_COMPUTE", "maybe"),
                            ("NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS", "many")):
            done = support.program("guide", support.sample("vecadd-v3"), env={name: value})
            self.assertEqual(done.code, 1)
            self.assertIn(f"Invalid value '{value}' for {name}", done.err)


if __name__ == "__main__":
    unittest.main()
