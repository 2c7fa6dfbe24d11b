# SPDX-License-Identifier: MIT
"""The C programs on generated files and, when there are some, on the real ones."""

import os
import re
import unittest

import support

EXECUTE = 0
REFUSED = 2  # NRT_INVALID

FILES = {
    "v2": ["vecadd-v2", "conv-like-v2"],
    "v3": ["vecadd-v3", "transpose-v3", "dge-lnc2-v3"],
}
# Right results are the business of other tests.
QUIET = {"NEURON_RT_LOG_LEVEL": "QUIET", "NEFFLD_COMPUTE": "skip"}
QUEUE = {"NEURON_RT_ASYNC_EXEC_MAX_INFLIGHT_REQUESTS": "4"}


def logged(name, *arguments, level="ERROR", env=None):
    """Runs a program that must pass and returns the lines of its log."""
    path = os.path.join(support.scratch(), f"{name}.log")
    if os.path.exists(path):
        os.remove(path)
    done = support.program(name, *arguments, env={**QUIET, "NEURON_RT_LOG_LEVEL": level,
                                                  "NEURON_RT_LOG_LOCATION": path, **(env or {})})
    assert (done.code, done.err) == (0, ""), done.err
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


class Programs(unittest.TestCase):
    def passes(self, name, arch, *arguments, env=None):
        done = support.program(name, *arguments,
                               env={"NEFFLD_DEVICE": f"sim:{arch}", **QUIET, **(env or {})})
        self.assertEqual((done.code, done.err), (0, ""), f"{name} {arguments} on {arch}")
        return done

    def on_every_sample(self, name, *arguments):
        for arch, samples in FILES.items():
            for sample in samples:
                with self.subTest(sample=sample):
                    self.passes(name, arch, support.sample(sample), *arguments)

    def test_the_developer_guide_sequence(self):
        self.on_every_sample("guide", EXECUTE)

    def test_the_developer_guide_sequence_on_real_files(self):
        for arch in FILES:
            for path in support.real_files(arch):
                with self.subTest(file=os.path.basename(path)):
                    self.passes("guide", arch, path, EXECUTE)

    def test_the_python_client_order(self):
        self.on_every_sample("client")

    def test_the_state_machine(self):
        self.on_every_sample("life")

    def test_every_misuse_has_its_status(self):
        self.on_every_sample("misuse")

    def test_functions_beside_models_and_tensors(self):
        self.on_every_sample("extras")

    def test_every_function_has_its_status_in_every_state_and_in_forked_children(self):
        for arch, samples in FILES.items():
            self.passes("gates", arch, support.sample(samples[0]), env=QUEUE)

    def test_each_state_says_what_it_is(self):
        lines = logged("gates", support.sample("vecadd-v3"), env=QUEUE)
        for function, text in (("nrt_load", "NRT uninitialized"),
                               ("nrt_execute", "NRT already closed"),
                               ("nrt_execute", "Incompatible runtime state: NRT_STATE_CHILD"),
                               ("nrt_tensor_get_va", "Unexpected runtime state: NRT_STATE_START"),
                               ("nrt_tensor_get_va", "Unexpected runtime state: NRT_STATE_CLOSED"),
                               ("nrt_tensor_get_va", "Unexpected runtime state: NRT_STATE_CHILD")):
            self.assertTrue(any(re.search(rf" NRT:{function} +{text}$", line) for line in lines),
                            f"{function}: {text}")

    def test_a_function_with_nothing_behind_it_says_so_once(self):
        lines = logged("gates", support.sample("vecadd-v3"), env=QUEUE)
        said = [re.search(r" NRT:(\S+) +(\S+) is not supported by this library$", line)
                for line in lines]
        names = [match.group(1) for match in said if match and match.group(1) == match.group(2)]
        self.assertEqual(len(names), len(set(names)))
        with open(os.path.join(os.path.dirname(__file__), "gates.c"), encoding="utf-8") as file:
            stubs = file.read().split("static void stubs")[1].split("\n}\n")[0]
        self.assertEqual(set(names), set(re.findall(r"CHECK_STATUS\(\s*(nrta?_\w+)", stubs)))
        self.assertGreater(len(names), 30)

    def test_misuse_says_what_the_reference_says(self):
        text = "\n".join(logged("misuse", support.sample("vecadd-v3")))
        for sentence in ("vnc_count is deprecated. only use -1.",
                         "Invalid NEFF buffer",
                         "Invalid number of NEFF bytes received 0:",
                         "Invalid number of NEFF bytes received 3ff:",
                         "Invalid NEFF file size hdr sz: ",
                         "Invalid NEFF data size(",
                         "Unsupported NEFF packager: 7",
                         "NEFF version: 3.",
                         "Could not find VNC id 4096",
                         "Failed to load NN: ",
                         "Tensors must be allocated on same HBM (SRC: 0) (DST: 3)"):
            self.assertIn(sentence, text)

    def test_a_model_of_several_ranks_loads_with_the_address_of_the_first(self):
        path, root = support.sample("vecadd-v3"), "NEURON_RT_ROOT_COMM_ID"
        for address in ("10.0.0.1:1", "127.0.0.1:65535", "[::1]:62128", "[fe80::1:2]:7"):
            self.passes("collectives", "v3", path, 2, 5, EXECUTE, EXECUTE, env={root: address})
        # One rank needs none.
        self.passes("collectives", "v3", path, 0, 1, EXECUTE, EXECUTE, env={root: "nonsense"})
        for address in ("10.0.0.1", "10.0.0.1:", "10.0.0.1:0", "10.0.0.1:65536", "10.0.0.1:x",
                        "10.0.0:1", "rank0:62128", "::1:62128", "[10.0.0.1]:62128", "[]:1", ":1"):
            lines = logged("collectives", path, 0, 2, REFUSED, env={root: address})
            self.assertTrue(any(f"Invalid value '{address}' for {root}, expected an address and a "
                                "port" in line for line in lines), address)
        lines = logged("collectives", path, 0, 2, REFUSED)
        self.assertTrue(any(f"several ranks needs {root}" in line for line in lines))
        for rank, count in ((0, 0), (1, 1), (7, 5), (0xFFFFFFFF, 0xFFFFFFFF)):
            lines = logged("collectives", path, rank, count, REFUSED, env={root: "10.0.0.1:1"})
            self.assertTrue(any(f"ctx_device_id {rank} of ctx_device_count {count}, expected" in line
                                for line in lines))

    def test_trn1_has_rings_of_certain_numbers_of_cores(self):
        path = support.sample("vecadd-v2")
        root = {"NEURON_RT_ROOT_COMM_ID": "10.0.0.1:62128"}
        trn1 = {"NEFFLD_DEVICE": "sim:v2", **root}
        for count in (1, 2, 8, 16, 32, 64, 4096):
            self.passes("collectives", "v2", path, 0, count, EXECUTE, env=root)
        for instance in ({}, {"NEURON_RT_FAKE_INSTANCE_TYPE": "trn1.32xlarge"},
                         {"NEURON_RT_FAKE_INSTANCE_TYPE": "trn1n.32xlarge"}):
            for count in (3, 4, 31, 48):
                lines = logged("collectives", path, 0, count, REFUSED, env={**trn1, **instance})
                self.assertTrue(any("Unsupported topology. Supported number of Neuron Cores is 1, "
                                    "2, 8, 16 or a multiple of 32, found ctx_device_count "
                                    f"{count}" in line for line in lines), (instance, count))
        # Other instances have no such rings.
        self.passes("collectives", "v2", path, 0, 3, EXECUTE,
                    env={"NEURON_RT_FAKE_INSTANCE_TYPE": "inf2.48xlarge", **root})

    def test_what_is_no_handle_is_refused_by_every_function(self):
        self.on_every_sample("stale")

    def test_what_execution_checks(self):
        self.on_every_sample("execute", EXECUTE)

    def test_each_check_of_execution_says_what_is_wrong(self):
        path = os.path.join(support.scratch(), "execute.log")
        done = support.program("execute", support.sample("vecadd-v3"), EXECUTE,
                               env={"NEURON_RT_LOG_LOCATION": path, "NEFFLD_COMPUTE": "skip"})
        self.assertEqual((done.code, done.err), (0, ""))
        with open(path, encoding="utf-8") as file:
            lines = [line for line in file if " NRT:nrt_execute" in line]
        for count, sentence in (
                (1, "bytes, the model expects"),
                (1, "allocated on HBM 3 was passed to a model loaded on lnc 0."),
                (1, "Incorrect number of inputs, expected: 2, received: 0"),
                (1, "Failed to find tensor sum in tensor set"),
                (1, "input_set is NULL"),
                (1, "output_set is NULL"),
                (1, "Supports for loops on the host is deprecated"),
                (1, "tensor left in the set was freed"),
                (1, "the handle is no loaded model")):
            self.assertEqual(sum(sentence in line for line in lines), count, sentence)
        self.assertEqual(len(lines), 9)

    def test_tensors(self):
        for arch in FILES:
            self.passes("tensors", arch)

    def test_sixteen_threads_load_and_unload(self):
        for arch, samples in FILES.items():
            self.passes("threads", arch, *map(support.sample, samples))

    def test_sixteen_threads_load_and_unload_a_hundred_times(self):
        for arch, samples in FILES.items():
            self.passes("crowd", arch, 100, *map(support.sample, samples))

    def test_sixteen_threads_on_real_files(self):
        for arch in FILES:
            # The smallest ones: sixteen threads hold sixteen of them.
            paths = sorted(support.real_files(arch), key=os.path.getsize)[:3]
            if paths:
                self.passes("threads", arch, *paths)

    def test_threads_meet_at_one_file_at_one_handle_and_at_files_that_cannot_be_parsed(self):
        for arch, samples in FILES.items():
            self.passes("race", arch, *map(support.sample, samples))

    def test_loads_that_overlap_share_one_parse(self):
        path = os.path.join(support.scratch(), "shared.log")
        self.passes("race", "v3", support.sample("vecadd-v3"),
                    env={"NEURON_RT_LOG_LEVEL": "DEBUG", "NEURON_RT_LOG_LOCATION": path})
        with open(path, encoding="utf-8") as file:
            log = file.read()
        # Nobody parses on its own for want of the slot: it is the only file that can be parsed.
        self.assertGreater(log.count("using cache"), 0)
        self.assertGreater(log.count("first worker, creating cache"), 0)

    def test_a_thousand_loads_leave_nothing_behind(self):
        self.passes("loop", "v3", support.sample("vecadd-v3"), 1000)
        self.passes("loop", "v2", support.sample("vecadd-v2"), 100)

    def test_a_device_without_host_memory_is_a_lack_of_resources(self):
        program = os.path.join(support.PROGRAMS, "nrt-guide")
        done = support.run(["sh", "-c", 'ulimit -v 20000000; exec "$@"', "sh", program,
                            support.sample("vecadd-v3"), EXECUTE],
                           env={"NEFFLD_DEVICE": "sim:v3", "NEURON_RT_LOG_LEVEL": "ERROR"})
        self.assertEqual(done.code, 1)
        self.assertRegex(done.err, r"nrt_init\(.*: NRT_RESOURCE, expected NRT_SUCCESS")
        self.assertIn("address space", done.err)

    def test_a_file_for_another_architecture_says_what_to_do(self):
        done = support.program("guide", support.sample("vecadd-v2"),
                               env={"NEFFLD_DEVICE": "sim:v3", "NEURON_RT_LOG_LEVEL": "ERROR"})
        self.assertEqual(done.code, 1)
        self.assertIn("NRT_INVALID", done.err)
        self.assertIn("NEFFLD_DEVICE=sim:v2", done.err)
        self.passes("guide", "v3", support.sample("vecadd-v2"), REFUSED,
                    env={"NEURON_RT_ALLOW_LEGACY_NEFF": "1"})

    def test_a_file_for_another_core_size_names_both_sizes_and_the_variable(self):
        done = support.program("guide", support.sample("vecadd-v3"),
                               env={"NEURON_LOGICAL_NC_CONFIG": "1"})
        self.assertEqual(done.code, 1)
        self.assertIn("compiled for LNC size 2, this process uses size 1; "
                      "set NEURON_LOGICAL_NC_CONFIG=2", done.err)
        for name in ("NEURON_RT_VIRTUAL_CORE_SIZE", "NEFFLD_SIM_LNC"):  # the one that decided it
            done = support.program("guide", support.sample("vecadd-v3"), env={name: "1"})
            self.assertIn(f"this process uses size 1; set {name}=2", done.err)

    def test_the_last_core_of_many_devices_and_a_part_of_one_work(self):
        # The client loads on the last visible core.
        for env in ({"NEURON_RT_FAKE_INSTANCE_TYPE": "trn2.48xlarge"},
                    {"NEURON_RT_VISIBLE_CORES": "2"}):
            done = support.program("client", support.sample("vecadd-v3"), env={**env, **QUIET})
            self.assertEqual((done.code, done.err), (0, ""), env)

    def test_the_hash_is_checked_on_request(self):
        path = os.path.join(support.scratch(), "damaged.neff")
        with open(support.sample("vecadd-v3"), "rb") as file:
            neff = bytearray(file.read())
        neff[0xAC] ^= 1  # the header's hash
        with open(path, "wb") as file:
            file.write(neff)
        self.passes("guide", "v3", path, EXECUTE)
        done = support.program("guide", path, env={"NEURON_RT_VALIDATE_HASH": "1"})
        self.assertEqual(done.code, 1)
        self.assertIn("MD5", done.err)

    def test_packets_are_an_option_of_the_original(self):
        name, path = "NEURON_RT_DBG_DMA_PACKETIZATION_SIZE", support.sample("vecadd-v3")
        for size in ("0", "4096", "0x10000", "1048575"):
            self.passes("guide", "v3", path, EXECUTE, env={name: size})
        for size in ("4095", "1048576", "x"):
            done = support.program("guide", path, EXECUTE, env={name: size})
            self.assertEqual(done.code, 1, size)
            self.assertIn(name, done.err)

    def test_inspection_keeps_the_neff(self):
        folder = os.path.join(support.scratch(), "kept")
        path = support.sample("vecadd-v3")
        self.passes("guide", "v3", path, EXECUTE,
                    env={"NEURON_RT_INSPECT_ENABLE": "1", "NEURON_RT_INSPECT_OUTPUT_DIR": folder})
        kept = os.listdir(folder)
        self.assertEqual(len(kept), 1)
        with open(path, "rb") as file, open(os.path.join(folder, kept[0]), "rb") as copy:
            self.assertEqual(file.read(), copy.read())

    def test_inspection_on_failure_keeps_what_fails_to_load(self):
        folder = os.path.join(support.scratch(), "failed")
        env = {"NEURON_RT_INSPECT_ON_FAIL": "1", "NEURON_RT_INSPECT_OUTPUT_DIR": folder}
        self.passes("guide", "v3", support.sample("vecadd-v3"), EXECUTE, env=env)
        self.assertFalse(os.path.exists(folder))
        path = support.sample("vecadd-v2")
        for _ in range(2):
            done = support.program("guide", path, env={"NEFFLD_DEVICE": "sim:v3", **env})
            self.assertEqual(done.code, 1)
            kept = os.listdir(folder)
            self.assertEqual(len(kept), 1)
            self.assertRegex(kept[0], r"^neff_[0-9a-f-]{36}_failed\.neff$")
            self.assertIn(f"the NEFF is kept in {folder}/{kept[0]}", done.err)
            with open(path, "rb") as file, open(os.path.join(folder, kept[0]), "rb") as copy:
                self.assertEqual(file.read(), copy.read())
        # What is no NEFF is not kept, and a folder that cannot be made is no other error.
        env["NEURON_RT_INSPECT_OUTPUT_DIR"] = path
        done = support.program("guide", path, env={"NEFFLD_DEVICE": "sim:v3", **env})
        self.assertIn("Loading a NEFF compiled for a different arch is not allowed", done.err)
        bad = support.program("guide", path, env={"NEURON_RT_INSPECT_ON_FAIL": "perhaps"})
        self.assertIn("Invalid value 'perhaps' for NEURON_RT_INSPECT_ON_FAIL", bad.err)


if __name__ == "__main__":
    unittest.main()
