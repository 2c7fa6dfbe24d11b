# SPDX-License-Identifier: MIT
"""compare.py says what got worse, better or misses its target; growth.py tells linear from square."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import compare  # noqa: E402
import growth  # noqa: E402


def ratio(name, value, target=1.0, better="more", reached=True):
    return {"name": name, "value": value, "target": target, "better": better, "reached": reached}


def run_of(*ratios, file="/somewhere/a.neff"):
    return {"files": [{"file": file, "ratios": list(ratios)}]}


def baseline_of(**values):
    return {"schema": 1, "tolerance": {"speed": 0.1, "cost": 0.1}, "targets": {},
            "files": {"a": values}}


class CompareTest(unittest.TestCase):
    def lines(self, run, baseline):
        lines, worse = compare.compare(run, baseline)
        return "\n".join(lines), worse

    def test_less_speed_and_more_cost_are_worse(self):
        for found in (ratio("speed", 0.89), ratio("cost", 1.11, better="less")):
            text, worse = self.lines(run_of(found), baseline_of(speed=1.0, cost=1.0))
            self.assertTrue(worse)
            self.assertIn(f"a: {found['name']} {found['value']:.3f} got worse: was 1.000", text)

    def test_more_speed_and_less_cost_are_better(self):
        for found in (ratio("speed", 1.11), ratio("cost", 0.89, better="less")):
            text, worse = self.lines(run_of(found), baseline_of(speed=1.0, cost=1.0))
            self.assertFalse(worse)
            self.assertIn("got better", text)

    def test_changes_within_the_tolerance_are_not_said(self):
        text, worse = self.lines(run_of(ratio("speed", 0.91), ratio("cost", 1.09, better="less")),
                                 baseline_of(speed=1.0, cost=1.0))
        self.assertEqual(("", False), (text, worse))

    def test_a_missed_target_is_said_and_is_not_worse(self):
        text, worse = self.lines(run_of(ratio("speed", 1.0, target=2, reached=False)),
                                 baseline_of(speed=1.0))
        self.assertFalse(worse)
        self.assertIn("a: speed 1.000 misses its target, at least 2", text)

    def test_what_is_on_one_side_only_is_said(self):
        text, worse = self.lines(run_of(ratio("speed", 1.0)), baseline_of(cost=1.0))
        self.assertFalse(worse)
        self.assertIn("a: cost was not measured", text)
        text, worse = self.lines(run_of(ratio("speed", 0.1), file="b.neff"), baseline_of(speed=1.0))
        self.assertFalse(worse)
        self.assertIn("b: not in the baseline", text)

    def test_the_table_has_a_column_a_file(self):
        run = {"files": run_of(ratio("speed", 1.5))["files"] +
               run_of(ratio("cost", 0.25, better="less"), file="b.neff")["files"]}
        head, speed, cost = compare.table(run)
        self.assertEqual(["a", "b", "target"], head.split())
        self.assertEqual("speed 1.500 - at least 1".split(), speed.split())
        self.assertEqual("cost - 0.250 at most 1".split(), cost.split())

    def main(self, run, baseline, *words):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, content in (("baseline", baseline), ("run", run)):
                paths.append(os.path.join(folder, name))
                with open(paths[-1], "w", encoding="utf-8") as stream:
                    stream.write(content if isinstance(content, str) else json.dumps(content))
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                code = compare.main([*paths, *words])
            with open(paths[0], encoding="utf-8") as stream:
                return code, stream.read()

    def test_exit_codes(self):
        self.assertEqual(0, self.main(run_of(ratio("speed", 1.0)), baseline_of(speed=1.0))[0])
        self.assertEqual(1, self.main(run_of(ratio("speed", 0.5)), baseline_of(speed=1.0))[0])
        self.assertEqual(2, self.main("no json", baseline_of())[0])
        self.assertEqual(2, self.main(run_of(), "no json")[0])
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(2, compare.main(["baseline alone"]))

    def test_update_replaces_what_was_measured_and_keeps_the_rest(self):
        baseline = baseline_of(speed=1.0)
        baseline["files"]["b"] = {"speed": 3.0}
        code, text = self.main(run_of(ratio("speed", 0.5, target=0.4), ratio("new", 7.0)), baseline,
                               "--update")
        self.assertEqual(0, code)
        written = json.loads(text)
        self.assertEqual({"speed": 0.5, "new": 7.0}, written["files"]["a"])
        self.assertEqual({"speed": 3.0}, written["files"]["b"])
        self.assertEqual({"target": 0.4, "better": "more"}, written["targets"]["speed"])
        self.assertEqual(0.1, written["tolerance"]["speed"])
        self.assertEqual(compare.DEFAULT_TOLERANCE, written["tolerance"]["new"])

    def test_the_committed_baseline_has_a_tolerance_for_every_ratio(self):
        with open(os.path.join(os.path.dirname(__file__), "baseline.json"), encoding="utf-8") as stream:
            baseline = json.load(stream)
        for ratios in baseline["files"].values():
            for name, value in ratios.items():
                self.assertGreater(value, 0)
                self.assertIn(name, baseline["tolerance"])
                self.assertIn(name, baseline["targets"])


class GrowthTest(unittest.TestCase):
    def test_equal_cost_of_an_item_is_linear(self):
        self.assertEqual(([1.0, 1.0, 1.0], True), growth.verdict([5.0, 5.0, 5.0]))

    def test_square_time_is_not(self):
        self.assertEqual(([1.0, 4.0, 4.0], False), growth.verdict([1.0, 4.0, 16.0]))

    def test_new_pages_of_the_device_are_not_counted(self):
        stages = {"inflate": 1, "load, parsed before": 10, "copy to device, first": 8, "again": 2,
                  "plan": 100}
        report = {"stages": [{"name": name, "seconds": seconds} for name, seconds in stages.items()]}
        self.assertEqual(5, growth.seconds_of(report, growth.WITH_DEVICE))
        self.assertEqual(1, growth.seconds_of(report, growth.WITHOUT))

    def test_the_generator_is_told_nothing_twice(self):
        for kind in growth.KINDS:
            options = [word for word in growth.sample_words(kind, 16) if word.startswith("--")]
            self.assertEqual(sorted(set(options)), sorted(options), kind)

    def test_kinds_may_stand_behind_options(self):
        with unittest.mock.patch.object(growth, "grow", return_value=True) as grow, \
             unittest.mock.patch.object(sys, "argv", ["growth.py", "neffld", "make", "--part", "0.5",
                                                      "slots", "weights"]):
            self.assertEqual(0, growth.main())
        self.assertEqual(["slots", "weights"], [call.args[2] for call in grow.call_args_list])
        self.assertEqual({0.5}, {call.args[3] for call in grow.call_args_list})

    def test_the_stage_that_grew_most_is_named(self):
        def report(build, plan):
            return {"stages": [{"name": "build", "seconds": build}, {"name": "plan", "seconds": plan}]}
        self.assertEqual(("plan", 4.0), growth.slowest_stage(report(1, 1), report(16, 64)))


if __name__ == "__main__":
    unittest.main()
