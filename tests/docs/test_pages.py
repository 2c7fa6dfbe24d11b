# SPDX-License-Identifier: MIT
"""The project's own pages: nothing of a merge is left in them, and their links lead to files. Its
scripts tell what they do when asked."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("LICENSES/*.md")]
MARKER = re.compile(r"^(<{7}|>{7}|\|{7}|={7})(\s|$)", re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


class PagesTest(unittest.TestCase):
    def test_there_are_pages(self):
        self.assertLessEqual({"README.md", "SECURITY.md", "CHANGELOG.md", "user-guide.md"},
                             {page.name for page in PAGES})

    def test_no_page_holds_both_sides_of_a_merge(self):
        for page in PAGES:
            with self.subTest(page=page.name):
                self.assertIsNone(MARKER.search(page.read_text(encoding="utf-8")))

    def test_links_lead_to_files(self):
        for page in PAGES:
            for target in LINK.findall(page.read_text(encoding="utf-8")):
                if "://" not in target:
                    with self.subTest(page=page.name, target=target):
                        self.assertTrue((page.parent / target).exists())

    def test_every_script_tells_what_it_does_and_does_nothing_else(self):
        scripts = [path for path in (ROOT / "scripts").iterdir()
                   if path.is_file() and os.access(path, os.X_OK)]
        self.assertGreater(len(scripts), 10)
        for script in scripts:
            with self.subTest(script=script.name):
                done = subprocess.run([script, "--help"], capture_output=True, text=True, timeout=20,
                                      check=False)
                self.assertEqual((0, ""), (done.returncode, done.stderr))
                self.assertNotIn("SPDX", done.stdout)
                self.assertGreater(len(done.stdout), 80)


if __name__ == "__main__":
    unittest.main()
