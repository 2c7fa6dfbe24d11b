# SPDX-License-Identifier: MIT
"""Files the commands write are whole or not there: limits, full disks, signals, long names."""

import os
import resource
import signal
import subprocess
import time
import unittest

from support import FILE, NEFFLD, SENTENCE, USAGE, CliTest, Neff, read_bytes, run, sample, write_bytes


def broken():
    """A file for `repro`."""
    neff = Neff(sample("vecadd-v3"))
    neff.members["sg00/DVE.bin"] = b"\xfd" + neff.members["sg00/DVE.bin"][1:]
    return neff.save("outputs-broken.neff")


class OutputsTest(CliTest):
    def writers(self):
        """Each kind of output: the words before its name."""
        file = sample("vecadd-v3")
        members = os.path.join(self.fresh_folder(), "members")
        self.assert_ok(run("unpack", file, members))
        write_bytes(os.path.join(members, "noise.bin"), os.urandom(1 << 16))
        return {"pack": ("pack", members, "-o"),
                "dump": ("dump", file, "-o"),
                "dump --zstd": ("dump", file, "--zstd", "-o"),
                "dump --report": ("dump", file, "-o", os.path.join(self.fresh_folder(), "image"),
                                  "--report"),
                "load --record": ("load", file, "--record-data", "--record"),
                "repro": ("repro", broken(), "-o"),
                "run --trace": ("run", file, "--random", "1", "--trace")}

    def check_failed(self, done, folder, before):
        """One sentence, and the folder is as it was."""
        self.assertEqual(FILE, done.returncode, done.stderr)
        self.assertRegex(done.stderr.decode().splitlines(True)[-1], SENTENCE)
        self.assertEqual(sorted(before), sorted(os.listdir(folder)))
        for name, content in before.items():
            self.assertEqual(content, read_bytes(os.path.join(folder, name)))

    def test_names_as_long_as_the_system_takes(self):
        for name, words in self.writers().items():
            for length in (250, 255):
                with self.subTest(name, length=length):
                    folder = self.fresh_folder()
                    path = os.path.join(folder, "n" * length)
                    for _ in range(2):  # new, and replaced
                        self.assert_ok(run(*words, path))
                        self.assertEqual([os.path.basename(path)], os.listdir(folder))
            with self.subTest(name, length=256):
                done = run(*words, os.path.join(folder, "n" * 256))
                self.assertEqual(FILE, done.code, done.err)
                self.assertEqual([os.path.basename(path)], os.listdir(folder))

    def test_a_link_to_a_standard_stream_is_not_replaced(self):
        for name, words in self.writers().items():
            folder = self.fresh_folder()
            link, behind = os.path.join(folder, "stdout"), os.path.join(folder, "behind")
            os.symlink("/proc/self/fd/1", link)
            with self.subTest(name), open(behind, "wb") as stdout:
                done = subprocess.run([NEFFLD, *words, link], stdout=stdout,
                                      stderr=subprocess.PIPE, check=False)
                self.assertEqual(USAGE, done.returncode, done.stderr)
                self.assertIn(b"standard stream", done.stderr)
                self.assertTrue(os.path.islink(link))
                self.assertEqual(b"", read_bytes(behind))

    def test_a_limit_of_the_size_of_files_leaves_no_part_of_one(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (400, 400))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        for name, words in self.writers().items():
            for before in ({}, {"out": b"old"}):
                with self.subTest(name, there=bool(before)):
                    folder = self.fresh_folder()
                    for old, content in before.items():
                        write_bytes(os.path.join(folder, old), content)
                    done = subprocess.run([NEFFLD, *words, os.path.join(folder, "out")],
                                          capture_output=True, check=False, preexec_fn=limit_files)
                    self.check_failed(done, folder, before)

    def test_programs_that_are_run_keep_their_end_by_the_limit(self):
        def limit_files():
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        path = os.path.join(self.fresh_folder(), "out")
        done = subprocess.run([NEFFLD, "run-with", "--", "dd", "if=/dev/zero", "of=" + path,
                               "count=1"], capture_output=True, check=False,
                              preexec_fn=limit_files)
        self.assertEqual(-signal.SIGXFSZ, done.returncode, done.stderr)

    def test_a_full_disk_leaves_no_part_of_a_file(self):
        script = 'mount -t tmpfs -o size=16k none "$1" && cd "$1" && shift && "$@"; code=$?; ls -A; exit $code'
        probe = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", self.fresh_folder(), "true"],
                               capture_output=True, check=False)
        if probe.returncode != 0:
            self.skipTest("no mounts of our own")
        for name, words in self.writers().items():
            if name in ("repro", "dump --zstd", "run --trace", "dump --report"):
                continue  # small
            with self.subTest(name):
                words = [os.path.abspath(word) if os.path.exists(word) else word for word in words]
                done = subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh",
                                       self.fresh_folder(), NEFFLD, *words, "out"],
                                      capture_output=True, check=False)
                self.assertEqual(FILE, done.returncode, done.stderr)
                self.assertIn(b"No space left on device", done.stderr)
                self.assertNotIn("out", done.stdout.decode().splitlines()[-1:])

    def test_where_no_file_is_without_a_name_it_is_the_same(self):
        """Without /proc none can get its name."""
        script = 'mount -t tmpfs none /proc && ulimit -f "$1" && shift && exec "$@"'

        def call(blocks, *words):
            return subprocess.run(["unshare", "-rm", "sh", "-c", script, "sh", blocks, *words],
                                  capture_output=True, check=False)

        if call("unlimited", "true").returncode != 0:
            self.skipTest("no mounts of our own")
        for name, words in self.writers().items():
            with self.subTest(name):
                folder = self.fresh_folder()
                path = os.path.join(folder, "out")
                for _ in range(2):  # new, and replaced
                    done = call("unlimited", NEFFLD, *words, path)
                    self.assertEqual((0, ["out"]), (done.returncode, os.listdir(folder)), done.stderr)
                self.check_failed(call("0", NEFFLD, *words, path), folder, {"out": read_bytes(path)})

    def test_a_killed_writer_leaves_nothing(self):
        folder = os.path.realpath(self.fresh_folder())
        try:
            os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            self.skipTest("a file system without nameless files")
        words = ("dump", sample("scale", "--weights", str(64 << 20)), "-o")
        path = os.path.join(folder, "out")
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
            with self.subTest(number=number):
                # One that is done before the signal comes is another's turn.
                codes = (self.killed(number, folder, *words, path) for _ in range(20))
                self.assertEqual(-number, next(code for code in codes if code != 0))
                self.assertEqual([], os.listdir(folder))

    def killed(self, number, folder, *words):
        """The code of a writer into an empty folder that gets a signal while it writes."""
        for name in os.listdir(folder):
            os.unlink(os.path.join(folder, name))
        def as_in_a_terminal():  # `nohup` and shells in the background ignore some signals for us
            if number != signal.SIGKILL:
                signal.signal(number, signal.SIG_DFL)
        with subprocess.Popen([NEFFLD, *words], stdout=subprocess.DEVNULL,
                              preexec_fn=as_in_a_terminal) as writer:
            while writer.poll() is None and not self.writes_into(writer, folder):
                time.sleep(0.001)
            writer.send_signal(number)
            return writer.wait()

    @staticmethod
    def writes_into(process, folder):
        """Whether the process has an open file there of some size."""
        try:
            with os.scandir(f"/proc/{process.pid}/fd") as files:
                return any(os.readlink(file).startswith(folder + "/") and
                           os.stat(file).st_size > 1 << 20 for file in files)
        except OSError:
            return False  # closed meanwhile


if __name__ == "__main__":
    unittest.main()
