# SPDX-License-Identifier: MIT
"""neffld shim: what it says, what it returns, what it leaves."""
import os
import shutil
import signal
import unittest

from support import CLIENTS, NEFFLD, ShimTest


class Command(ShimTest):
    def test_exit_status_is_the_programs(self):
        self.shim("true")
        self.shim("sh", "-c", "exit 42", status=42)
        self.shim("sh", "-c", "kill -TERM $$", status=128 + signal.SIGTERM)

    def test_programs_that_cannot_be_intercepted_are_refused(self):
        done = self.shim(os.environ["NEFFLD_SHIM_STATIC"], status=5)
        self.assertIn("is statically linked", done.stderr)
        script = self.path("script")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"#!{os.environ['NEFFLD_SHIM_STATIC']}\n")
        os.chmod(script, 0o755)
        self.assertIn("is statically linked", self.shim(script, status=5).stderr)

    def test_children_that_cannot_be_followed_are_named(self):
        done = self.shim("sh", "-c", "$0; echo $?", os.environ["NEFFLD_SHIM_STATIC"])
        self.assertEqual(done.stdout, "0\n")
        self.assertEqual(done.stderr.count("is statically linked"), 1)
        for call in ("execl", "execle", "execlp"):
            with self.subTest(call=call):
                done = self.shim(CLIENTS[0], call, os.environ["NEFFLD_SHIM_STATIC"], "word")
                self.assertEqual(done.stderr.count("is statically linked"), 1)
                # Words and environment arrive.
                script = ["echo", "said"] if call == "execlp" else ["/bin/sh", self.path("script")]
                with open(self.path("script"), "w", encoding="utf-8") as file:
                    file.write("echo said $OWN")
                done = self.shim(CLIENTS[0], call, *script)
                self.assertEqual(done.stdout, "said environment\n" if call == "execle" else "said\n")

    @unittest.skipIf(os.getuid() != 0, "only root can make a program of another user's")
    def test_setuid_programs_are_refused(self):
        program = self.path("setuid")
        shutil.copy(CLIENTS[0], program)
        os.chown(program, 65534, 65534)
        os.chmod(program, 0o4755)
        self.assertIn("LD_PRELOAD", self.shim(program, status=5).stderr)

    def test_a_trace_takes_the_place_of_no_program_and_goes_to_no_stream(self):
        program = self.path("program")
        shutil.copy(CLIENTS[0], program)
        with open(program, "rb") as file:
            before = file.read()
        rows = ((program, program, 2, "too, expected another file to write"),
                ("/proc/self/fd/1", "true", 2, "leads to a standard stream"),
                ("/dev/stdout", "true", 2, "leads to a standard stream"),
                (self.path("none") + "/trace", "true", 3, "cannot be created: No such file"))
        for trace, word, code, text in rows:
            for words in (("shim", "--trace", trace),
                          ("trace", "record", "--device", "sim:v3", "-o", trace)):
                with self.subTest(words=words):
                    done = self.run_program(NEFFLD, *words, "--", word, status=code)
                    self.assertIn(text, done.stderr)
                    self.assertEqual(1, len(done.stderr.splitlines()), done.stderr)
        with open(program, "rb") as file:
            self.assertEqual(before, file.read())
        self.shim("true", options=("--trace", "/dev/null"))

    def test_a_program_is_looked_for_where_the_system_does(self):
        program = self.path("program")
        shutil.copy(shutil.which("true"), program)
        for path in ("/usr/bin:/bin:", ":/usr/bin", ""):
            with self.subTest(path=path):
                self.run_program("/bin/sh", "-c", 'cd "$0" && exec "$@"', self.path(""), NEFFLD,
                                 "shim", "--", "program", PATH=path)

    def test_a_program_that_is_not_there(self):
        self.assertIn("cannot be run", self.shim(self.path("nothing"), status=3).stderr)
        self.assertIn("in no folder of PATH", self.shim("no-such-program-here", status=3).stderr)

    def test_wrong_options_are_usage_errors(self):
        self.shim("true", options=("--device", "sim:v9"), status=2)
        self.shim("true", options=("--count", "65"), status=2)
        self.shim("true", options=("--trace", ""), status=2)
        self.run_program(os.environ["NEFFLD_EXE"], "shim", status=2)

    def test_wrong_variables_stop_the_program(self):
        for name, value, allowed in (("NEFFLD_SHIM_DEVICE", "sim:v9", "sim:v2"),
                                     ("NEFFLD_SHIM_COUNT", "0", "1 to 64"),
                                     ("NEFFLD_SHIM_COUNT", "2x", "1 to 64"),
                                     ("NEFFLD_SHIM_DRIVER", "2.25", "2.27"),
                                     ("NEFFLD_SHIM_TRACE_DATA", "yes", "0 or 1"),
                                     ("NEFFLD_SHIM_TRACE", "/nowhere/trace", "/nowhere/trace")):
            with self.subTest(name=name):
                done = self.run_program("echo", "ran", status=2, **self.preload(**{name: value}))
                self.assertEqual(done.stdout, "")
                self.assertIn(name if name != "NEFFLD_SHIM_TRACE" else value, done.stderr)
                self.assertIn(allowed, done.stderr)
        self.wait_for_sessions_to_end()

    def test_variables_are_the_defaults_of_the_options(self):
        facts = ["cat", "/sys/module/neuron/version", "/sys/class/neuron_device/neuron2/core_count"]
        variables = {"NEFFLD_SHIM_DEVICE": "sim:v2", "NEFFLD_SHIM_COUNT": "3",
                     "NEFFLD_SHIM_DRIVER": "2.27", "NEFFLD_SHIM_CLEAN_ERRORS": "1",
                     "NEFFLD_SHIM_TRACE": self.path("trace"), "NEFFLD_SHIM_TRACE_DATA": "1"}
        self.assertEqual(self.shim(*facts, **variables).stdout.split(), ["2.27.4.0", "2"])
        shown = self.run_program(NEFFLD, "trace", "show", self.path("trace")).stdout
        self.assertIn("device: sim:v2\n", shown)
        self.assertIn("data: kept\n", shown)
        # What is given counts.
        given = ("--device", "sim:v3", "--sim-driver", "2.30")
        self.assertEqual(self.shim(*facts, options=given, **variables).stdout.split(),
                         ["2.30.2.0", "8"])
        self.shim("cat", "/dev/neuron2", status=1, options=("--count", "2"), **variables)
        printed = self.run_program(NEFFLD, "shim", "--print", "--count", "1", **variables).stdout
        self.assertIn("export NEFFLD_SHIM_COUNT='1'\n", printed)
        self.assertIn("export NEFFLD_SHIM_DRIVER='2.27'\n", printed)
        self.assertIn("export NEFFLD_SHIM_CLEAN_ERRORS='1'\n", printed)

    def test_variables_without_meaning_are_usage_errors(self):
        for name, value in (("DEVICE", "sim:v9"), ("DEVICE", "node"), ("COUNT", "0"),
                            ("COUNT", "65"), ("COUNT", "2x"), ("DRIVER", "2.25"),
                            ("CLEAN_ERRORS", "yes"), ("TRACE_DATA", "2")):
            with self.subTest(name=name, value=value):
                variable = {"NEFFLD_SHIM_" + name: value}
                done = self.shim("echo", "ran", status=2, **variable)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"NEFFLD_SHIM_{name}: found '{value}'", done.stderr)
                # They are nobody else's.
                self.run_program(NEFFLD, "--help", **variable)
        self.shim("true", options=("--count", "2"), NEFFLD_SHIM_COUNT="0")
        self.shim("true", NEFFLD_SHIM_COUNT="")

    def test_a_session_that_has_ended_has_no_devices(self):
        variables = {**self.preload(), "NEFFLD_SHIM_SESSION": self.path("ended")}
        done = self.run_program(CLIENTS[0], "open", status=1, **variables)
        self.assertIn("are gone", done.stderr)
        self.assertEqual(done.stderr.count("neuron_shim:"), 1)

    def test_a_session_within_a_session_has_devices_of_its_own(self):
        self.shim(NEFFLD, "shim", "--count", "2", "--", CLIENTS[0], "open", options=("--count", "1"))
        self.assertEqual(os.listdir(self.sessions), [])

    def test_background_users_keep_the_devices(self):
        script = ("import os,time; os.open('/dev/neuron0',os.O_RDWR); os.mkdir('{0}'); time.sleep(1); "
                  "print('late')").format(self.path("opened"))
        done = self.shim("sh", "-c", f"python3 -c \"{script}\" & "
                         f"while [ ! -e '{self.path('opened')}' ]; do sleep 0.05; done")
        self.assertEqual(done.stdout, "late\n")
        self.assertEqual(os.listdir(self.sessions), [])

    def test_other_files_are_the_systems(self):
        plain = self.run_program("ls", "/sys/class").stdout.split()
        shown = self.shim("ls", "/sys/class").stdout.split()
        self.assertEqual(shown, sorted({*plain, "neuron_device"}))


if __name__ == "__main__":
    unittest.main()
