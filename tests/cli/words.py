"""What the command line says to a newcomer: help, suggestions, inspect, and files that other programs can read.

    tests/cli/words.py [Class …]
"""
import base64
import json
import re
import struct
import subprocess
import sys

import cli
import glb
import make
import support


def run(*args, code=0):
    done = support.sinew(*args)
    assert done.returncode == code, f"{args}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done


class Patterns(cli.Case):
    def test_a_pattern_without_a_joint_warns(self):
        source = self.bar()
        plain = self.bind(source, out="plain.glb")
        self.assertNotIn("warning", plain.stdout)
        for option in ("--exclude", "--include", "--lock"):
            with self.subTest(option=option):
                report = self.report(source, option, "ik_*")
                self.assertEqual(report["warnings"], [f'`{option[2:]} "ik_*"` matches no joint of the skeleton'])
                self.assertEqual((self.at / "out.glb").read_bytes(), (self.at / "plain.glb").read_bytes())
                self.assertIn(f'warning   {option} "ik_*"', self.bind(source, option, "ik_*").stdout)

    def test_it_suggests_names(self):
        source = self.bar()
        for pattern, near in (("Lower", "'lower'"), ("loer", "'lower'"), ("Upp*", "'upper'"), ("*per_", "'upper'")):
            with self.subTest(pattern=pattern):
                self.assertIn(f"did you mean {near}", self.report(source, "--exclude", pattern)["warnings"][0])
        named = make.glb(self.at / "named.glb", joints=[(f"rig:{n}", p, at) for n, p, at in make.JOINTS])
        self.assertIn("did you mean 'rig:lower'?", self.report(named, "--exclude", "lower")["warnings"][0])

    def test_strict_makes_it_an_error(self):
        source = self.bar()
        for option in ("--exclude", "--include", "--lock"):
            self.refuse(2, ["Lower", "did you mean 'lower'"], source, option, "Lower", "--strict")
        self.bind(source, "--exclude", "upper", "--strict")


class Help(cli.Case):
    def names(self, *args):
        return re.findall(r"^  (?:-\w,)?(--[\w-]+)", run(*args).stdout, re.M)

    def test_the_short_help_has_the_options_that_matter(self):
        short = self.names("bind", "--help")
        self.assertEqual(short, """--help --output --help-advanced --skeleton --report --method --resolution --falloff
            --max-influences --exclude --include --edits --lock --only-missing""".split())

    def test_the_advanced_help_has_all_by_method(self):
        text = run("bind", "--help-advanced").stdout
        every = self.names("bind", "--help-advanced")
        self.assertEqual(len(every), len(set(every)))
        self.assertLess(set(self.names("bind", "--help")), set(every))
        more = int(re.search(r"--help-advanced shows (\d+) more options", run("bind", "--help").stdout)[1])
        self.assertEqual(len(every), len(self.names("bind", "--help")) + more)
        group = re.search(r"^Method: connectivity:\n((?:  .*\n)+)", text, re.M)
        self.assertIn("--hard-range", group[1])
        group = re.search(r"^Weights: power:\n((?:  .*\n)+)", text, re.M)
        self.assertIn("--power", group[1])

    def test_manual_pages_and_completions_have_all(self):
        done = support.run(sys.executable, "-c", (
            f"import sys; sys.argv=['x', {support.SINEW!r}, '.']; "
            f"text=open({str(support.ROOT / 'scripts/shell-files')!r}).read().rsplit('main()', 1)[0]; exec(text); "
            "every={n: (s, help_of(sys.argv[1], n)) for n, s in commands(help_of(sys.argv[1])).items()}; "
            "print(bash(every)); print(zsh(every))"))
        self.assertEqual(done.returncode, 0, done.stderr)
        completed = re.search(r"^        bind\) mapfile .*compgen -W '(.*?)'", done.stdout, re.M)[1].split()
        self.assertEqual([n for n in self.names("bind", "--help-advanced") if n not in completed], [])
        described = dict(reversed(re.findall(r"^        '(--[\w-]+)\[(.*?)\](?::value:.*)?' ", done.stdout, re.M)))
        self.assertEqual(described["--winding-numbers"], "Decide by winding numbers whether ambiguous voxels are inside")
        self.assertRegex(described["--skeleton-scale"], "^Factor on the lengths")


class Typos(cli.Case):
    def says(self, words, *args):
        done = support.sinew(*args)
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertRegex(done.stderr, words)
        self.assertLess(len(done.stderr.splitlines()), 6)

    def test_commands(self):
        self.says(r"there is no command 'bnid' \(did you mean 'bind'\?\)$", "bnid", "a.glb")
        self.says(r"there is no command 'trans' \(did you mean 'transfer'\?\)$", "trans")
        self.says(r"no command 'qqq' \(commands: bind, rig, batch, apply", "qqq")

    def test_options(self):
        source, out = self.bar(), self.at / "o.glb"
        self.says(r"sinew bind has no option --falof \(did you mean '--falloff'", "bind", source, "-o", out, "--falof", "1")
        self.says(r"did you mean '--output'", "bind", source, "--outptu", out)
        self.says(r"did you mean '--max-influences'", "bind", source, "-o", out, "--max_influences=2")
        self.says(r"sinew pose has no option --qqqqqq \(sinew pose --help lists them\)", "pose", source, "-o", out, "--qqqqqq")
        self.says(r"--quiet goes after the command: sinew bind --quiet$", "--quiet", "bind", "a.glb")
        self.says(r"--threads: .* 1000000", "bind", source, "-o", out, "--threads", "-1")
        self.says(r"sinew has no option --qqqqqq \(sinew --help lists them\)", "--qqqqqq")

    def test_a_usage_error_on_a_full_stderr_exits_with_2(self):
        for words in ((), ("bnid",), ("bind",), ("bind", "--qqqqqq")):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                self.assertEqual(subprocess.run([support.SINEW, *words], stderr=full, stdin=subprocess.DEVNULL).returncode, 2)

    def test_a_missing_word_leads_to_the_help_of_its_command(self):
        self.says(r"^sinew: error: input is required \(sinew bind --help shows options and examples\)$", "bind")
        self.says(r"^sinew: error: --output is required \(sinew rig --help", "rig", self.bar())
        self.says(r"^sinew: error: --falloff z: a number is needed \(sinew bind --help", "bind", self.bar(), "-o",
                  self.at / "o.glb", "--falloff", "z")

    def test_methods_and_laws(self):
        source, out = self.bar(), self.at / "o.glb"
        for option, word, meant in (("--method", "surface-heta", "surface-heat"), ("--method", "geodesic", "geodesic-voxel"),
                                    ("--method", "bone_heat", "bone-heat"), ("--falloff-law", "cubic", "cubic-hermite"),
                                    ("--deform-from", "name", "names"), ("--weight-format", "u61", "u16")):
            with self.subTest(word=word):
                self.says(rf"did you mean '{meant}'", "bind", source, "-o", out, option, word)


PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def with_images(doc):
    doc["images"] = [{"uri": "skin.png"}, {"uri": "data:image/png;base64," + base64.b64encode(PNG).decode()},
                     {"uri": "missing.png"}]
    doc["textures"] = [{"source": i} for i in range(3)]
    doc["materials"] = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}]
    doc["meshes"][0]["primitives"][0]["material"] = 0


class Pack(cli.Case):
    def test_gltf_to_glb_embeds_images(self):
        folder = self.at / "in"
        folder.mkdir()
        source = make.gltf(folder / "bar.gltf", edit=with_images)
        (folder / "skin.png").write_bytes(PNG)
        report = self.report(source)
        self.assertEqual(sorted(p.name for p in self.at.iterdir()), ["in", "out.glb", "report.json"])
        self.assertEqual(sum("missing.png" in note for note in report["notes"]), 1, report["notes"])
        doc = glb.Doc(self.at / "out.glb")
        images = doc.json["images"]
        for image in images[:2]:
            view = doc.json["bufferViews"][image["bufferView"]]
            at = view.get("byteOffset", 0)
            self.assertEqual(bytes(doc.buffers[0][at:at + view["byteLength"]]), PNG)
            self.assertEqual((image["mimeType"], "uri" in image), ("image/png", False))
        self.assertEqual(images[2], {"uri": "missing.png"})
        self.sound()
        # As .gltf everything stays where it is.
        self.bind(source, out="in/again.gltf")
        self.assertEqual(json.loads((folder / "again.gltf").read_text())["images"][0], {"uri": "skin.png"})

    def test_the_validator_accepts_it(self):
        source = make.gltf(self.at / "bar.gltf", edit=lambda doc: (with_images(doc), doc["images"].pop(), doc["textures"].pop()))
        (self.at / "skin.png").write_bytes(PNG)
        self.bind(source, "--decompress")
        found = support.validate([source, self.at / "out.glb"])
        if found is None:
            self.skipTest("gltf-validator is not installed")
        before, after = found.values()
        self.assertEqual(support.new_messages(before, after), {})

    def test_decompress_merges_buffers(self):
        def two_buffers(doc):
            doc["buffers"].append({"byteLength": 8, "uri": "data:application/octet-stream;base64," + base64.b64encode(b"12345678").decode()})
            doc["bufferViews"].append({"buffer": 1, "byteLength": 8})
        source = self.bar(edit=two_buffers)
        self.bind(source, "--decompress")
        self.bind(source, out="kept.glb")
        doc = glb.Doc(self.at / "out.glb")
        self.assertEqual(len(doc.json["buffers"]), 1)
        self.assertEqual(len(glb.Doc(self.at / "kept.glb").json["buffers"]), 2)
        self.assertEqual(self.weights(), self.weights("kept.glb"))
        view = doc.json["bufferViews"][5]
        self.assertEqual(bytes(doc.buffers[0][view["byteOffset"]:view["byteOffset"] + 8]), b"12345678")
        self.bind(source, "--decompress", out="out.gltf")
        self.assertEqual(self.weights("out.gltf"), self.weights())

    def test_real_compressed_files(self):
        sources = [support.CORPUS / p for p in ("q_astronaut_flamingo/Astronaut_FernandoTheFlamingo-transformed.glb",)]
        if not sources[0].exists():
            self.skipTest("no corpus")
        for source in sources:
            self.bind(source, "--decompress", "--method", "closest-distance")
            text = json.dumps(glb.Doc(self.at / "out.glb").json)
            self.assertNotRegex(text, "draco|meshopt")
            found = support.validate([self.at / "out.glb"])
            if found is not None:
                self.assertEqual([k for k in next(iter(found.values())) if k.startswith("0")], [])


class Vrm(cli.Case):
    def test_only_a_vrm_becomes_a_vrm(self):
        self.refuse(2, ["out.vrm", "bar.glb is no VRM", "name the output .glb"], self.bar(), out="out.vrm")
        done = support.sinew("apply", self.bar(), "--edits", self.edits(), "-o", self.at / "a.vrm")
        self.assertEqual((done.returncode, "no VRM" in done.stderr), (2, True))
        for key in ("VRM", "VRMC_vrm"):
            source = self.bar(edit=lambda doc: doc.update(extensions={key: {}}, extensionsUsed=[key]))
            self.bind(source, out="out.vrm")
            self.sound("out.vrm")

    def edits(self):
        path = self.at / "e.json"
        path.write_text('{"edits": []}')
        return path


class Inspect(cli.Case):
    def seen(self, *args, code=0):
        return json.loads(run("inspect", *args, "--json", code=code).stdout)

    def test_what_is_in_a_file(self):
        def edit(doc):
            doc["animations"] = [{"name": "wave", "samplers": [{"input": 5, "output": 6}],
                                  "channels": [{"sampler": 0, "target": {"node": 2, "path": "translation"}}]}]
            doc["extensionsUsed"] = ["KHR_materials_unlit"]
            doc["accessors"] += [
                {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]},
                {"bufferView": 0, "componentType": 5126, "count": 2, "type": "VEC3"}]
        source = self.bar(edit=edit, joints=[*make.JOINTS, ("ik_target", -1, (0, 3, 0))])
        seen = self.seen(source)
        self.assertEqual([seen[k] for k in ("format", "version", "generator")], ["GLB", "2.0", "sinew tests"])
        counts = {k: seen["counts"][k] for k in ("meshes", "vertices", "skins", "joints", "deforming_joints", "parts")}
        self.assertEqual(counts, {"meshes": 1, "vertices": 104, "skins": 1, "joints": 3, "deforming_joints": 2, "parts": 1})
        self.assertEqual(seen["weights"], {"joints": 2, "max_influences": 2, "unweighted": 0})
        self.assertEqual([j["reason"] for j in seen["joints"]], ["deforms", "deforms", "unused_by_skin"])
        self.assertEqual(seen["joints"][0]["weight"], 52)
        self.assertEqual(seen["extensions"], {"used": ["KHR_materials_unlit"], "required": []})
        self.assertEqual(seen["box"][1][1], 2)
        text = run("inspect", source).stdout
        for words in (r"bar\.glb: GLB 2\.0 by sinew tests", r"104 vertices", r"size      0\.5 x 2 x 0\.5",
                      r"deforms   2 of 3 joints, those with weights", r"1 without weight in the file: 'ik_target'",
                      r"uses      'KHR_materials_unlit'"):
            self.assertRegex(text, words)

    def test_an_empty_file(self):
        (self.at / "empty.glb").write_bytes(b"")
        self.assertIn("the file is empty", run("inspect", self.at / "empty.glb", code=3).stderr)

    def test_joints_as_a_tree(self):
        source = self.bar(joints=[*make.JOINTS, ("ik_target", 1, (0, 3, 0)), ("second root", -1, (0, 3, 0))])
        self.assertNotIn("joints\n", run("inspect", source).stdout)
        tree = run("inspect", source, "--joints").stdout.split("  joints\n")[1]
        lines = [re.sub(" {3,}", " | ", line[4:]) if line[4] != " " else "+" + re.sub(" {3,}", " | ", line.strip()) for line in tree.splitlines()]
        self.assertEqual(lines, ["lower | 50.0 % of the weights", "+upper | 50.0 % of the weights",
                                 "+ik_target | idle: without weight in the file", "second root | idle: without weight in the file"])
        names = make.glb(self.at / "names.glb", skin=False)
        self.assertRegex(run("inspect", names, "--joints").stdout, r"  joints\n    lower\n      upper\n$")

    def test_it_selects_as_bind_does(self):
        source = make.glb(self.at / "names.glb", skin=False, joints=[*make.JOINTS, ("ik_target", 1, (0, 1.5, 0)), ("weapon_slot", 1, (0, 1.9, 0))])
        seen = self.seen(source)
        report = self.report(source)
        self.assertEqual([(j["name"], j["deforms"], j["reason"]) for j in seen["joints"]],
                         [(j["name"], j["deforms"], j["reason"]) for j in report["joints"]])
        self.assertEqual(seen["defects"], report["defects"])
        self.assertIn("by names and structure", run("inspect", source).stdout)
        every = self.seen(source, "--deform-from", "all")
        self.assertEqual(every["counts"]["deforming_joints"], 4)

    def test_what_is_odd(self):
        said = lambda *args: " | ".join(f"{o['what']} ({o['advice']})" for o in self.seen(*args)["odd"])
        self.assertEqual(said(self.bar()), "")
        self.assertIn("nothing", run("inspect", self.bar()).stdout)
        self.assertRegex(said(make.obj(self.at / "bar.obj")), r"has no skeleton.*--skeleton")
        far = [(n, p, (x + 900, y, z)) for n, p, (x, y, z) in make.JOINTS]
        self.assertRegex(said(make.glb(self.at / "far.glb", joints=far)), r"skeleton")
        twice = [(("a", "a")[i], p, at) for i, (_, p, at) in enumerate(make.JOINTS)]
        self.assertRegex(said(make.glb(self.at / "twice.glb", joints=twice)), r"several joints, for example 'a' .*rename")
        moved = self.bar(edit=lambda doc: doc["nodes"][2].update(translation=[0, 0.9, 0.5]))
        self.assertRegex(said(moved), r"1 joint stands elsewhere than in the bind pose")
        half = self.bar(edit=lambda doc: doc["accessors"][4].update(sparse={
            "count": 1, "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 2, "byteOffset": 4}}))
        self.assertRegex(said(half), r"1 vertex has no weights in the file .*--only-missing")

    def test_a_mesh_without_skeleton_and_files_that_are_none(self):
        seen = self.seen(make.obj(self.at / "bar.obj"), "--skeleton", make.skeleton_json(self.at / "s.json"))
        self.assertEqual((seen["format"], seen["counts"]["joints"], seen["odd"]), ("OBJ", 2, []))
        bad = self.at / "bad.glb"
        bad.write_bytes(b"glTF\0\0")
        self.assertIn("bad.glb", run("inspect", bad, code=3).stderr)
        self.assertIn("none.glb", run("inspect", self.at / "none.glb", code=3).stderr)

    def test_keys_are_documented(self):
        page = (support.ROOT / "docs/inspect.md").read_text()
        for key in set(support.keys(self.seen(self.bar()))):
            self.assertIn(f"`{key}`", page)


class SkeletonFrom(cli.Case):
    """--skeleton takes a character: its skeleton in the bind pose of its skin."""

    def bones(self, path):
        doc = glb.Doc(path)
        world = glb.world_matrices(doc)
        return {doc.json["nodes"][j]["name"]: tuple(float(x) for x in world[j][:3, 3])
                for skin in doc.json["skins"] for j in skin["joints"]}

    def test_a_glb_gives_its_bind_pose(self):
        mesh = make.obj(self.at / "bar.obj")
        # The nodes stand elsewhere than the bind pose says, and below a node that moves them.
        def edit(doc):
            doc["nodes"][2]["translation"] = [0.25, 0.75, 0]
            doc["nodes"].append({"name": "Armature", "translation": [0, 0.125, 0], "children": [1]})
            doc["scenes"][0]["nodes"] = [0, len(doc["nodes"]) - 1]
        rig = make.glb(self.at / "rig.glb", edit=edit)
        self.bind(mesh, "--skeleton", rig)
        for name, at in {"lower": (0, 0.225, 0), "upper": (0, 1.125, 0)}.items():
            for a, b in zip(self.bones(self.at / "out.glb")[name], at):
                self.assertAlmostEqual(a, b, 6)

    def test_gltf_vrm_and_unskinned_nodes(self):
        mesh = make.obj(self.at / "bar.obj")
        self.bind(mesh, "--skeleton", make.glb(self.at / "rig.glb"), out="a.glb")
        want = self.weights("a.glb")
        (self.at / "rig.vrm").write_bytes((self.at / "rig.glb").read_bytes())
        for rig in (make.gltf(self.at / "rig.gltf"), self.at / "rig.vrm", make.glb(self.at / "bare.glb", skin=False)):
            self.bind(mesh, "--skeleton", rig)
            self.assertEqual(self.weights(), want, rig)

    def test_the_weights_are_those_of_the_same_skeleton(self):
        character = self.bar()
        mesh = make.obj(self.at / "bar.obj")
        self.bind(character, out="own.glb")
        self.bind(mesh, "--skeleton", character, out="taken.glb")
        self.assertEqual(self.weights("own.glb"), self.weights("taken.glb"))

    def test_refusals(self):
        mesh = make.obj(self.at / "bar.obj")
        rigid = make.glb(self.at / "rigid.glb", skin=False, joints=[])
        self.refuse(3, ["rigid.glb", "no skeleton"], mesh, "--skeleton", rigid)
        self.refuse(2, ["bar.glb", "own skeleton"], self.bar(), "--skeleton", self.bar())

    def test_fbx(self):
        import foreign
        rig = self.at / "rig.fbx"
        foreign.fbx(rig)
        self.bind(make.obj(self.at / "bar.obj"), "--skeleton", rig, "--fit-check", "off")
        self.assertGreater(len(self.bones(self.at / "out.glb")), 1)


if __name__ == "__main__":
    support.main()
