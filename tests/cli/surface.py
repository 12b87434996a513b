"""Tests of work on the surface: `--method bone-heat` and `surface-heat`, `sinew transfer`, scripts/research/evaluate.

surface.py [CLASS…]; run like cli.py."""
import json
import math
import os
import re
import sys

import cli
import make
import support


class BoneHeat(cli.Case):
    METHOD = ("--method", "bone-heat", "--deform-from", "all")

    def test_heat_falls_exponentially_along_the_bar(self):
        report = self.report(self.bar(), *self.METHOD)
        self.assertEqual(report["method"], "bone-heat")
        self.assertEqual(report["options"]["heat_transfer"], 4)
        self.assertEqual((report["options"]["falloff_law"], report["options"]["power"]), ("power", 1))
        self.assertEqual(report["coverage"]["weighted"], report["counts"]["vertices"])
        self.assertEqual(report["warnings"], [])
        self.assertIn("heat", report["seconds"])
        # The joint between the bones is at y = 1, and every vertex is RADIUS away from the axis. From ring to ring
        # heat falls by the factor that solves (L + M H) w = 0 along a row of vertices.
        spacing = 2 / (make.RINGS - 1)
        q = 4 * (spacing / make.RADIUS) ** 2
        fall = 1 + q / 2 - math.sqrt(q + q**2 / 4)
        for (_, y, _), row in zip(make.bar()[0], self.weights(), strict=True):
            far = 0.5 * fall ** (abs(y - 1) / spacing)
            self.assertAlmostEqual(row.get("upper", 0), far if y < 1 else 1 - far, delta=0.01, msg=f"y = {y}")
        self.sound()

    def test_options_have_their_effect(self):
        source = self.bar()
        self.bind(source, *self.METHOD)
        plain = self.weights()
        for options in (("--heat-transfer", "0.3"), ("--power", "2")):
            self.bind(source, *self.METHOD, *options)
            self.assertNotEqual(plain, self.weights(), options)

    def test_inputs_that_do_not_match_are_refused(self):
        source = self.bar()
        self.refuse(2, ["heat-transfer", "above 0"], source, *self.METHOD, "--heat-transfer", "0")
        self.refuse(2, ["bone-heat", "power"], source, *self.METHOD, "--falloff-law", "linear")
        for option, value, readers in (("--resolution", "128", "or pixel-geodesic"), ("--cooling", "250", "voxel-heat"),
                                       ("--penalty", "4", "surface-heat or geodesic-voxel"),
                                       ("--smoothness", "0.1", "law power .* exponential")):
            self.refuse(2, [f"does not read {option}: leave it out, or choose", readers], source, *self.METHOD, option,
                        value)

    def test_memory_is_estimated_before_the_work(self):
        source = self.at / "quadruped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "quadruped", source).returncode, 0)
        self.refuse(3, ["bone-heat may need .* MB"], source, *self.METHOD, "--memory-limit", "2", speed=())

    def test_parts_that_see_no_bone_are_counted(self):
        source = self.at / "caped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
        report = self.report(source, "--method", "bone-heat")
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["coverage"]["none"], 0)
        self.assertGreater(report["coverage"]["bridged"], 100)
        self.assertTrue(any(f"({report['coverage']['bridged']} vertices)" in w for w in report["warnings"]))
        self.sound()


class SurfaceHeat(cli.Case):
    def test_the_volume_reaches_every_part(self):
        source = self.at / "caped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "caped", source).returncode, 0)
        report = self.report(source, "--method", "surface-heat")
        self.assertEqual((report["method"], report["options"]["falloff_law"]), ("surface-heat", "power"))
        self.assertEqual((report["coverage"]["share"], report["coverage"]["none"]), (1, 0))
        self.assertFalse(any("see (almost) nothing" in w for w in report["warnings"]))
        for stage in ("voxelize", "distances", "heat"):
            self.assertIn(stage, report["seconds"])
        self.sound()
        # The cape hangs behind the skirt: no bone of the skirt moves it.
        bare = json.loads(support.sinew("compare", self.at / "out.glb", self.at / "out.glb", "--json", "--random-poses",
                                        "0", "--no-standard-poses").stdout)
        bleed = {j["name"]: j["bleed_a"] or 0 for j in bare["joints"]}
        self.assertLess(bleed["skirt_B_01"], 0.1)

    def test_the_learned_correction_can_be_scaled(self):
        source = self.at / "quadruped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "quadruped", source).returncode, 0)
        weights = {}
        for share in ("0", "0.7", "1"):
            report = self.report(source, "--method", "surface-heat", "--learned", share)
            self.assertAlmostEqual(report["options"]["learned"], float(share), 6)
            weights[share] = self.weights()
        self.bind(source)
        self.assertEqual(self.weights(), weights["0.7"])
        self.assertEqual(len({json.dumps(w, sort_keys=True) for w in weights.values()}), 3)
        self.refuse(2, ["learned 1.5 is not within 0..1"], source, "--learned", "1.5")
        self.refuse(2, ["bone-heat does not read --learned", "surface-heat"], source, "--method", "bone-heat", "--learned", "0")

    def test_the_memory_estimate_covers_volume_and_surface(self):
        source = self.at / "quadruped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "quadruped", source).returncode, 0)
        self.refuse(3, ["may need .* MB"], source, "--method", "surface-heat", "--memory-limit", "2")


class Evaluate(cli.Case):
    """scripts/research/evaluate over a corpus of one generated character with weights."""

    def evaluate(self, *options):
        corpus = self.at / "corpus/one_bar"
        corpus.mkdir(parents=True, exist_ok=True)
        make.glb(corpus / "bar.glb")
        return support.run(sys.executable, support.ROOT / "scripts/research/evaluate", "--sinew", support.SINEW, "--cache",
                           self.at / "cache", *options, env={**os.environ, "SINEW_CORPUS": str(self.at / "corpus")})

    def test_tables_name_every_method_and_the_second_run_uses_the_cache(self):
        options = ("--methods", "bone-heat", "closest-distance", "--hints", "skin")
        first = self.evaluate(*options)
        self.assertEqual(first.returncode, 0, first.stderr)
        for heading in ("corpus, with hints", "By part of the body", "By source", "In standard poses", "by character"):
            self.assertIn(heading, first.stdout)
        self.assertRegex(first.stdout, r"\| one_bar \| 104 \| 0\.\d{3}, ")
        kept = sorted((self.at / "cache").iterdir())
        times = [f.stat().st_mtime_ns for f in kept]
        again = self.evaluate(*options)
        seconds = r"\| \d+\.\d\d \|$"
        self.assertEqual(re.sub(seconds, "", first.stdout, flags=re.M), re.sub(seconds, "", again.stdout, flags=re.M))
        self.assertEqual([f.stat().st_mtime_ns for f in kept], times)

    def test_the_peer_is_skipped_without_blender(self):
        done = support.run(sys.executable, support.ROOT / "scripts/research/blender-peer", env={**os.environ, "PATH": str(self.at)})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("skipped", done.stdout)

    def test_a_missing_corpus_is_reported(self):
        done = support.run(sys.executable, support.ROOT / "scripts/research/evaluate", "--sinew", support.SINEW,
                           env={**os.environ, "SINEW_CORPUS": str(self.at / "nowhere")})
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("set SINEW_CORPUS", done.stderr)


class Transfer(cli.Case):
    def bound_bar(self):
        self.bind(self.bar(), "--deform-from", "all", out="source.glb")
        return self.at / "source.glb"

    def move(self, source, target, *options, code=0, out="out.glb"):
        done = support.sinew("transfer", source, target, "-o", self.at / out, *options)
        self.assertEqual(done.returncode, code, f"{options}\n{done.stdout}{done.stderr}")
        return done

    def moved(self, source, target, *options):
        return json.loads(self.move(source, target, "--json", *options).stdout)

    def obj(self, positions, triangles, name="target.obj"):
        path = self.at / name
        lines = [f"v {x} {y} {z}" for x, y, z in positions] + ["f " + " ".join(str(i + 1) for i in t) for t in triangles]
        path.write_text("\n".join(lines) + "\n")
        return path

    def test_a_mesh_to_itself_keeps_its_weights(self):
        source = self.bound_bar()
        report = self.moved(source, source)
        self.assertEqual(report["coverage"]["share"], 1)
        self.assertEqual(report["coverage"]["matched"], report["counts"]["vertices"])
        self.assertEqual(report["warnings"], [])
        for a, b in zip(self.weights("source.glb"), self.weights(), strict=True):
            self.assertEqual(a.keys(), b.keys())
            for joint in a:
                self.assertAlmostEqual(a[joint], b[joint], delta=1e-6)
        self.sound()

    def test_a_mesh_without_a_skin_takes_the_source_s_skeleton(self):
        source = self.bound_bar()
        positions, triangles = make.bar()
        sleeve = [(1.1 * x, y, 1.1 * z) for x, y, z in positions]
        report = self.moved(source, self.obj(sleeve, triangles))
        self.assertEqual(report["counts"]["joints"], 2)
        self.assertEqual(report["coverage"]["nearest"], 0)
        for a, b in zip(self.weights("source.glb"), self.weights(), strict=True):
            self.assertAlmostEqual(a.get("upper", 0), b.get("upper", 0), delta=0.03)
        self.sound()
        plain = make.glb(self.at / "plain.glb", skin=False)
        self.move(source, plain, out="plain.out.glb")
        self.sound("plain.out.glb")

    def test_unmatched_parts_are_counted_and_fail_the_gate(self):
        source = self.bound_bar()
        positions, triangles = make.bar()
        far = [(x + 3, y, z) for x, y, z in positions]
        target = self.obj(positions + far, triangles + [[i + len(positions) for i in t] for t in triangles])
        report = self.moved(source, target, "--report", self.at / "r.json")
        self.assertEqual(report["coverage"]["nearest"], len(far))
        self.assertEqual(len(report["warnings"]), 1)
        # The report cannot contain the time of its own writing; the rest is the same.
        self.assertEqual(json.loads((self.at / "r.json").read_text())["coverage"], report["coverage"])
        done = self.move(source, target, "--require-coverage", "0.9", code=1)
        self.assertRegex(done.stderr, rf"{len(far)} vertices are in parts without any match")
        self.sound()
        self.move(source, target, "--require-matched", "0.5")
        done = self.move(source, target, "--require-matched", "0.6", code=1)
        self.assertIn("a fraction of 0.500000 of the vertices lies on the source, which is below --require-matched 0.600000", done.stderr)

    def test_options_have_an_effect(self):
        source = self.bound_bar()
        positions, triangles = make.bar()
        coat = self.obj([(2 * x, y, 2 * z) for x, y, z in positions], triangles)
        near = self.moved(source, coat)["coverage"]["matched"]
        self.assertEqual(self.moved(source, coat, "--distance", "0.3", "--angle", "60")["coverage"]["matched"], len(positions))
        self.assertLess(near, len(positions))
        self.move(source, coat, "--max-influences", "1")
        self.assertTrue(all(len(row) == 1 for row in self.weights()))
        self.assertEqual(self.move(source, coat, "--quiet").stdout, "")

    def test_refusals(self):
        source, plain = self.bound_bar(), self.bar()
        other = make.glb(self.at / "other.glb", joints=[("lower", -1, (0, 0.1, 0)), ("top", 0, (0, 1.0, 0))])
        bare = make.glb(self.at / "bare.glb", skin=False)
        for code, words, args in (
            (3, ["other.glb", "no joint 'upper'"], (source, other)),
            (3, ["bare.glb", "no weights"], (bare, plain)),
            (2, ["distance"], (source, plain, "--distance", "0")),
            (2, ["angle"], (source, plain, "--angle", "200")),
            (2, ["--max-influences"], (source, plain, "--max-influences", "9")),
            (3, ["missing.glb"], (source, self.at / "missing.glb")),
            (2, ["overwrite"], (source, plain, "--report", source)),
        ):
            done = self.move(*args, code=code, out="refused.glb")
            for word in words:
                self.assertIn(word, done.stderr)
            self.assertFalse((self.at / "refused.glb").exists())

    def test_the_caped_figure_gives_weights_to_its_level_of_detail(self):
        character, bound = self.at / "caped.glb", self.at / "bound.glb"
        self.assertEqual(support.run(support.CHARACTERS, "caped", character).returncode, 0)
        self.bind(character, out="bound.glb")
        report = self.moved(bound, bound)
        self.assertEqual(report["coverage"]["unused"], 0)
        self.assertGreater(report["coverage"]["share"], 0.99)
        # The body gives weights to the caped figure: cape, skirt and hair are filled or take the nearest weights.
        body = self.at / "biped.glb"
        self.assertEqual(support.run(support.CHARACTERS, "biped", body).returncode, 0)
        self.bind(body, out="body.glb")
        report = self.moved(self.at / "body.glb", character)
        self.assertGreater(report["coverage"]["inpainted"], 100)
        self.assertGreater(report["coverage"]["matched"], report["counts"]["vertices"] / 2)
        self.sound()


if __name__ == "__main__":
    support.main()
