# SPDX-License-Identifier: MIT
"""The project's own pages: nothing of a merge is left in them, and their links lead to files."""

import pathlib
import re
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


if __name__ == "__main__":
    unittest.main()
