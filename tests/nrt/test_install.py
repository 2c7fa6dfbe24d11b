# SPDX-License-Identifier: MIT
"""An installation is enough to build a program against the C API, or the C++ API, and to run it."""

import os
import shlex
import subprocess
import sys
import unittest

import support

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD = os.environ["NEFFLD_BUILD"]
EXECUTE = "0"

CPP_PROGRAM = """
#include <cstdio>
#include <neffld/session.hpp>

int main(int, char** argv) {
  const auto file = neffld::read_file(argv[1]);
  if (!file) return 1;
  const auto model = neffld::parse_model(*file, neffld::Arch::any);
  if (!model) return 2;
  std::puts(neffld::header_name(model->header).c_str());
}
"""


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.root = os.path.join(support.scratch(), "root")
        subprocess.run(["meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.root],
                       check=True, capture_output=True)
        cls.files = [os.path.join(folder, name)
                     for folder, _, names in os.walk(cls.root) for name in names]

    def path(self, end):
        """The one installed file whose path ends so."""
        found = [path for path in self.files if path.endswith(end)]
        self.assertEqual(len(found), 1, (end, found))
        return found[0]

    def flags(self, package):
        pc = self.path(f"/pkgconfig/{package}.pc")
        environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": self.root,
                       "PKG_CONFIG_PATH": os.path.dirname(pc)}
        words = subprocess.run(["pkg-config", "--cflags", "--libs", package], check=True,
                               capture_output=True, env=environment).stdout.decode()
        # The sysroot goes in front of what other packages say, too; those are really installed.
        return [word if os.path.exists(word.lstrip("-IL")) or not word.startswith(("-I", "-L"))
                else word.replace(self.root, "", 1) for word in shlex.split(words)]

    def compiled(self, name, *flags):
        """A C program that sees the installed headers only, built as users build it."""
        program = os.path.join(support.scratch(), name)
        subprocess.run(["cc", os.path.join(HERE, f"{name}.c"), "-o", program, *flags], check=True)
        return program

    def runs(self, *command):
        """With the installed library in the loader's path and nothing of the build folder."""
        for sample, arch in (("vecadd-v3", "v3"), ("dge-lnc2-v3", "v3"), ("vecadd-v2", "v2")):
            with self.subTest(sample=sample):
                done = support.run(
                    [self.path("/bin/neffld"), "run-with", "--device", f"sim:{arch}", "--",
                     *(support.sample(sample) if word == "NEFF" else word for word in command)],
                    {"NEURON_RT_LOG_LEVEL": "QUIET", "NEFFLD_COMPUTE": "skip"})
                self.assertEqual((done.code, done.err), (0, ""))

    def test_the_developer_guide_sequence(self):
        self.runs(self.compiled("guide", *self.flags("libnrt")), "NEFF", EXECUTE)

    def test_the_c_form_of_the_python_client(self):
        self.runs(self.compiled("client", *self.flags("libnrt")), "NEFF")

    def test_the_python_client_through_ctypes(self):
        self.runs(sys.executable, os.path.join(HERE, "client.py"), "NEFF", EXECUTE)

    def test_the_eager_lookups_of_the_rust_client(self):
        flags = [flag for flag in self.flags("libnrt") if flag.startswith("-I")]
        program = self.compiled("eager", *flags, "-ldl")  # the library is not linked
        self.runs(program, "libnrt.so.1", "NEFF", EXECUTE)

    def test_a_cpp_program_builds_and_runs(self):
        source = os.path.join(support.scratch(), "name.cpp")
        program = os.path.join(support.scratch(), "name")
        with open(source, "w", encoding="ascii") as file:
            file.write(CPP_PROGRAM)
        subprocess.run(["c++", "-std=c++20", source, "-o", program, *self.flags("libneffld")],
                       check=True)
        done = support.run([program, support.sample("vecadd-v3")])
        self.assertEqual((done.code, done.out), (0, "vecadd-v3.neff\n"))

    def test_the_library_is_in_a_folder_of_its_own(self):
        self.assertEqual(os.path.basename(os.path.dirname(self.path("/libnrt.so.1"))), "neffld")


if __name__ == "__main__":
    unittest.main()
