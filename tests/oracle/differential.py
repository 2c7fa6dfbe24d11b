# SPDX-License-Identifier: MIT
"""Runs the loader and the oracle on one case and says where they differ."""

import contextlib
import io
import os
import re
import shutil
import subprocess

import check_image
import ip_check
from arch import BY_NAME
from container import Refused, parse_neff
from corpus.program import ENGINE_FILES
from kelf import parse_model

RESOURCE = 6                 # a memory report comes before the sentence
REFUSED_CODES = (4, 5, RESOURCE)    # 4 format, 5 unsupported
SENTENCE = re.compile(r"\Aneffld: [^\n]+ \(NRT_[A-Z_]+\)\n\Z")
BIND_FROM, BIND_ALIGN = 0x300000000, 0x10000
TIMEOUT_SECONDS = 60


class Differential:
    def __init__(self, program, folder, keep=None):
        self.program, self.folder, self.keep = program, folder, keep
        self.refused = self.mapped = 0
        self.has_ip = ip_check.available(program)

    def check(self, case):
        """None, or what differs."""
        files = [self._write(case, number, made) for number, made in enumerate(case.programs)]
        problem = self._check(case, files, [])
        if problem is None and case.bind:
            problem = self._check(case, files, self._bind(case))
        if problem and self.keep:
            os.makedirs(self.keep, exist_ok=True)
            for file in files:
                shutil.copy(file, self.keep)
        for file in files:
            os.unlink(file)
        return problem

    def _write(self, case, number, made):
        path = os.path.join(self.folder, f"{case.name}.{number}.neff")
        with open(path, "wb") as stream:
            stream.write(made.bytes())
        return path

    @staticmethod
    def _bind(case):
        address, arguments = BIND_FROM, []
        main = case.programs[0].main
        for name, entry in main.variables.items():
            if entry["type"] in ("input", "output"):
                arguments += ["--bind", f"{name}={address:#x}"]
                address += -(-entry["size"] // BIND_ALIGN) * BIND_ALIGN
        return arguments

    def _check(self, case, files, bind):
        arguments = case.arguments + bind
        image, rings = (os.path.join(self.folder, name) for name in ("image.elf", "rings"))
        report = os.path.join(self.folder, "report.json")
        shutil.rmtree(rings, ignore_errors=True)
        done = subprocess.run(
            [self.program, "dump", *files, "-o", image, "--report", report, "--rings", rings,
             *arguments], capture_output=True, check=False, timeout=TIMEOUT_SECONDS)
        error = done.stderr.decode("utf-8", "backslashreplace")
        reason = self._reason(case, files, arguments)
        if case.refused and reason is None:
            return "the oracle finds no reason to refuse it"
        if reason is not None:
            return self._compare_refusal(case, reason, done.returncode, error)
        if done.returncode:
            return f"must load, but the loader says ({done.returncode}): {error.strip()}"
        os.makedirs(rings, exist_ok=True)
        extra = ["--rings", rings] if len(files) == 1 else []
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            status = check_image.main([*files, image, report, *extra, *arguments])
        if status == 0:
            return self._instruction_pointers(case, files, arguments)
        return "\n" + "\n".join(line for line in text.getvalue().splitlines()
                                if not line.endswith("all equal"))

    def _instruction_pointers(self, case, files, arguments):
        """`neffld ip` of one file that needs no options."""
        if arguments or len(files) > 1 or not self.has_ip:
            return None
        self.mapped += 1
        return ip_check.compare(self.program, files[0], self._plan(case, files, []).plans[0])

    @staticmethod
    def _plan(case, files, arguments):
        options = check_image.parse_arguments([*files, "image.elf", *arguments])
        models = []
        for file in files:
            with open(file, "rb") as stream:
                models.append(parse_model(parse_neff(stream.read())))
        return check_image.plan_models(models, BY_NAME[case.programs[0].arch], options)

    def _reason(self, case, files, arguments):
        """Why one of the files must be refused, else None."""
        try:
            self._plan(case, files, arguments)
        except Refused as reason:
            return reason
        return None

    def _compare_refusal(self, case, reason, code, error):
        self.refused += 1
        if code not in REFUSED_CODES:
            return f"must be refused, because {reason}; exit code {code}, {error.strip()!r}"
        if code == RESOURCE:
            error = error.splitlines(keepends=True)[-1]
        if not SENTENCE.match(error):
            return f"the refusal is no sentence: {error!r}"
        if reason.engine is None:
            return None
        # One change of a random file can break several records; which is named is free.
        if not case.refused and re.search(r"\.bin: slot record \d+: ", error):
            return None
        file_name = f"{ENGINE_FILES[reason.engine]}.bin"
        if file_name not in error or not re.search(rf"\b{reason.slot}\b", error):
            return f"{reason}: the sentence names no {file_name} slot {reason.slot}: {error!r}"
        return None
