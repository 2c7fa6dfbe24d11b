# SPDX-License-Identifier: MIT
"""The log: line format, levels, destinations, one block per failed call."""

import os
import re
import unittest

import support

LINE = re.compile(r"\d{4}-[A-Z][a-z]{2}-\d\d \d\d:\d\d:\d\d\.\d{6} +\d+:\d+ +"
                  r"(ERROR|WARN|INFO|DEBUG|TRACE) +([A-Z]+):(\S+) *(.*)\Z")


class Log(unittest.TestCase):
    def fail_to_load(self, **env):
        """A load that fails on a file for the other architecture."""
        return support.program("guide", support.sample("vecadd-v2"),
                               env={"NEFFLD_DEVICE": "sim:v3", **env})

    def errors(self, done):
        return [line for line in done.err.splitlines()
                if not line.startswith(("\t", "../")) and LINE.match(line)]

    def test_errors_go_to_stderr_in_the_documented_form(self):
        done = self.fail_to_load()
        api = [line for line in self.errors(done) if " NRT:nrt_load " in line]
        self.assertEqual(len(api), 1, done.err)
        match = LINE.match(api[0])
        self.assertEqual(match.group(1, 2, 3), ("ERROR", "NRT", "nrt_load"))
        self.assertIn("Failed to load the model: ", match.group(4))
        # The function's field is 40 wide.
        self.assertRegex(api[0], r" NRT:nrt_load {32}Failed")

    def test_inner_errors_follow_in_the_same_block(self):
        done = self.fail_to_load()
        lines = done.err.splitlines()
        at = next(i for i, line in enumerate(lines) if " NRT:nrt_load " in line)
        self.assertRegex(lines[at + 1], r"\A\tNMGR:kmgr_load_nn_post_metrics Failed to load NN: ")
        self.assertIn(" Resolution: ", lines[at + 1])

    def test_without_coalescing_inner_errors_are_lines_of_their_own(self):
        done = self.fail_to_load(NEURON_RT_LOG_COALESCING_ENABLED="0")
        self.assertTrue(any(" NMGR:kmgr_load_nn_post_metrics " in line
                            for line in self.errors(done)), done.err)

    def test_failures_describe_their_surroundings_once_a_severity(self):
        done = support.program("misuse", support.sample("vecadd-v3"),
                               env={"NEURON_PROCESS_TAG": "tagged"})
        self.assertEqual(done.code, 0)
        self.assertEqual(re.findall("^Failure: (.*)", done.err, re.M),
                         ["NRT_INVALID in nrt_load", "NRT_TIMEOUT in "
                          "nrt_tensor_check_output_completion"])
        self.assertEqual(done.err.count("NRT:nrt_infodump "), 2)
        self.assertIn("\tNEURON_PROCESS_TAG=tagged", done.err)
        self.assertIn("Visible cores: 0, 1, 2, 3", done.err)

    def test_levels(self):
        quiet = self.fail_to_load(NEURON_RT_LOG_LEVEL="quiet")
        self.assertEqual(self.errors(quiet), [])
        info = support.program("cores", env={"NEURON_RT_LOG_LEVEL": "info"})
        self.assertIn("INFO", info.out)
        self.assertIn("Visible logical cores 0 to 3 of 4", info.out)
        self.assertNotIn("DEBUG", info.out)
        odd = self.fail_to_load(NEURON_RT_LOG_LEVEL="loud")
        self.assertEqual(1, odd.err.count("invalid level loud, default to ERROR"))
        component = support.program("guide", support.sample("vecadd-v3"), 2,
                                    env={"NEURON_RT_LOG_LEVEL_NMGR": "DEBUG"})
        self.assertIn("first worker, creating cache", component.out)
        self.assertNotIn(" NRT:", component.out)

    def test_a_file_as_destination(self):
        path = os.path.join(support.scratch(), "log.txt")
        done = self.fail_to_load(NEURON_RT_LOG_LOCATION=path)
        self.assertEqual(self.errors(done), [])
        with open(path, encoding="utf-8") as file:
            self.assertIn(" NRT:nrt_load ", file.read())

    def test_a_file_that_cannot_be_opened_is_told_once_and_the_console_gets_its_lines(self):
        path = os.path.join(support.scratch(), "none", "log.txt")
        done = self.fail_to_load(NEURON_RT_LOG_LOCATION=path)
        self.assertEqual(1, done.err.count(f"the log file {path} cannot be opened: No such file"))
        self.assertIn(" NRT:nrt_load ", done.err)

    def test_a_value_of_coalescing_that_means_nothing_is_told(self):
        done = self.fail_to_load(NEURON_RT_LOG_COALESCING_ENABLED="4")
        self.assertIn("Invalid value '4' for NEURON_RT_LOG_COALESCING_ENABLED, expected 0 or 1",
                      done.err)

    def test_a_pipe_nobody_reads_as_destination_holds_nobody_up(self):
        path = os.path.join(support.scratch(), "pipe")
        os.mkfifo(path)
        self.assertEqual(self.errors(self.fail_to_load(NEURON_RT_LOG_LOCATION=path)), [])

    def test_values_in_messages_forge_no_lines(self):
        done = support.program("cores", env={"NEURON_RT_VISIBLE_CORES": "a\nb\x1b[31m",
                                             "NEURON_RT_LOG_LEVEL": "c\nd"})
        self.assertIn("Invalid value 'a\\x0ab\\x1b[31m' for NEURON_RT_VISIBLE_CORES", done.err)
        self.assertIn("\tNEURON_RT_VISIBLE_CORES=a\\x0ab\\x1b[31m\n", done.err)
        self.assertIn("invalid level c\\x0ad,", done.err)
        self.assertNotIn("\x1b", done.err)

    def test_unknown_and_ineffective_variables_are_named(self):
        done = support.program("cores", env={"NEURON_RT_LOG_LEVEL": "INFO",
                                             "NEURON_RT_VISIBEL_CORES": "1",
                                             "NEURON_RT_DBG_MESH_CC": "0",
                                             "NEURON_RT_DBG_DMA_PACKETIZATION_SIZE": "4096",
                                             "NEURON_RT_LOCAL_CORE_DUMP_DIRECTORY":
                                             support.scratch()})
        self.assertIn("NEURON_RT_VISIBEL_CORES is unknown", done.out)
        self.assertIn("NEURON_RT_DBG_MESH_CC has no effect", done.out)
        self.assertNotIn("NEURON_RT_LOG_LEVEL is unknown", done.out)
        self.assertEqual(1, done.out.count("has no effect"))

    def test_blocks_of_many_threads_stay_whole(self):
        # Threads that race with closing fail all the time, each with its block.
        done = support.program("threads", support.sample("vecadd-v3"),
                               env={"NEURON_RT_LOG_LEVEL": "DEBUG"})
        self.assertEqual(done.code, 0, done.err)
        for line in done.out.splitlines()[:-1]:
            self.assertRegex(line, LINE)


if __name__ == "__main__":
    unittest.main()
