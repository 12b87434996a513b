"""Files of strangers: links out of their folder, and sizes, shapes and counts that cost memory or time.

limits.py [CLASS…]; run like cli.py."""
import json
import os
import resource
import signal
import subprocess
import threading
import time
import unittest
from pathlib import Path

import cli
import glb
import make
import numpy as np
import png
import support

PICTURE = b"\x89PNG\r\n\x1a\n"


class FilesCase(cli.Case):
    def gltf(self, folder, name="m"):
        """The bar as .gltf with its buffer beside it."""
        folder.mkdir(exist_ok=True)
        doc = glb.Doc(self.bar())
        doc.json["buffers"][0]["uri"] = name + ".bin"
        (folder / (name + ".bin")).write_bytes(doc.buffers[0])
        (folder / (name + ".gltf")).write_text(json.dumps(doc.json))
        return folder / (name + ".gltf")

    def weighted(self, name="weighted.glb"):
        self.bind(self.bar(), "--method", "closest-distance", out=name)
        return self.at / name

    def peak(self, *words, timeout=120):
        """Runs the program; its exit code, message and peak of memory in MB."""
        process = subprocess.Popen([str(w) for w in (support.SINEW, *words)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        killer = threading.Timer(timeout, process.kill)
        killer.start()
        text = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        return process.returncode, text, used.ru_maxrss >> 10


class Links(FilesCase):
    """A model reads only files of its folder, also by symbolic links."""

    def setUp(self):
        super().setUp()
        self.model = self.gltf(self.at / "m")
        self.outside = self.at / "outside.bin"
        (self.at / "m/m.bin").rename(self.outside)
        (self.at / "m/m.bin").symlink_to(self.outside)

    def test_a_buffer_outside_is_refused(self):
        for words in (["bind", self.model, "-o", self.at / "o.glb"], ["inspect", self.model], ["check", self.model],
                      ["compare", self.model, self.model], ["render", self.model, "-o", self.at / "o.png"],
                      ["transfer", self.model, self.model, "-o", self.at / "o.glb"],
                      ["rig", self.model, "-o", self.at / "o.glb"], ["studio", self.model, "--no-open"]):
            if words[0] == "studio" and not (Path(support.SINEW).parent / "studio/index.html").exists():
                continue  # without its page it does not read the model
            done = support.sinew(*words, timeout=60)
            self.assertEqual(done.returncode, 3, f"{words}: {done.stderr}")
            self.assertRegex(done.stderr, r'm\.gltf: .*"m\.bin" is a link out of the folder of the model.*--follow-links')
        self.assertFalse((self.at / "o.glb").exists())

    def test_it_is_read_on_request(self):
        self.bind(self.model, "--follow-links", "--method", "closest-distance")
        self.assertEqual(support.sinew("inspect", self.model, "--follow-links").returncode, 0)

    def test_links_inside_the_folder_and_to_it(self):
        (self.at / "m/m.bin").unlink()
        self.outside.rename(self.at / "m/data.bin")
        (self.at / "m/m.bin").symlink_to("data.bin")
        (self.at / "other").symlink_to(self.at / "m")
        for at in (self.model, self.at / "other/m.gltf"):
            self.bind(at, "--method", "closest-distance")

    def test_a_batch_hands_the_choice_on(self):
        words = [support.SINEW, "batch", self.at / "m", "-o", self.at / "out"]
        done = support.run(*words, "--", "--method", "closest-distance")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("--follow-links", done.stdout + done.stderr)
        done = support.run(*words, "--retry", "--", "--method", "closest-distance", "--follow-links")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # Also to the commands that compare and check: their own file is a link, too.
        (self.at / "list.jsonl").write_text(json.dumps({"input": str(self.model), "reference": str(self.model),
                                                        "output": "r.glb", "gates": {"check": "default"}}))
        words = [support.SINEW, "batch", self.at / "list.jsonl", "-o", self.at / "out"]
        done = support.run(*words, "--", "--method", "closest-distance", "--follow-links")
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        line = json.loads((self.at / "out/results.jsonl").read_text().splitlines()[-1])
        self.assertNotIn("link", line.get("message", ""), line)
        self.assertIn("compare", line)

    def test_images_and_materials_outside_are_left_out(self):
        secret = self.at / "secret.png"
        secret.write_bytes(PICTURE + b"secret")
        model = self.gltf(self.at / "n", "n")
        document = json.loads(model.read_text())
        document["images"] = [{"uri": "p.png"}]
        model.write_text(json.dumps(document))
        (self.at / "n/p.png").symlink_to(secret)
        done = self.bind(model, "--method", "closest-distance")
        self.assertRegex(done.stdout + done.stderr, "p.png.*is a link out of the folder")
        self.assertNotIn(b"secret", (self.at / "out.glb").read_bytes())

        obj = self.at / "n/o.obj"
        positions, triangles = make.bar()
        obj.write_text("mtllib o.mtl\nusemtl a\n" + "".join("v %f %f %f\n" % tuple(p) for p in positions)
                       + "".join("f %d %d %d\n" % tuple(i + 1 for i in t) for t in triangles))
        (self.at / "n/o.mtl").write_text("newmtl a\nmap_Kd p.png\n")
        bones = self.at / "b.json"
        bones.write_text('{"bones": [{"name": "a", "head": [0, 0, 0], "tail": [0, 1, 0]}]}')
        options = ("--skeleton", bones, "--method", "closest-distance")
        self.bind(obj, *options)
        self.assertNotIn(b"secret", (self.at / "out.glb").read_bytes())
        self.bind(obj, *options, "--follow-links")
        self.assertIn(b"secret", (self.at / "out.glb").read_bytes())


class Memory(FilesCase):
    """One limit for all that the files of a command ask for."""

    def refused(self, limit, words, *, within=None):
        code, text, peak = self.peak(*words, "--memory-limit", limit)
        self.assertEqual(code, 3, text)
        self.assertRegex(text, f"limit of {limit} MB")
        if not support.SANITIZED:
            self.assertLess(peak, within or 2 * limit + 100)

    def packed(self, doc, data):
        """A GLB of the document with this buffer."""
        doc.json["buffers"][0]["byteLength"] = len(data)
        path = self.at / "bomb.glb"
        path.write_bytes(make.packed(doc.json, data))
        return path

    def large(self):
        """A model with 25 MB that nothing uses. They are bytes: text would be read character by character."""
        doc = glb.Doc(self.bar())
        return self.packed(doc, bytearray(doc.buffers[0]) + bytes(25_000_000))

    def test_counts_that_draco_states(self):
        """Asked for before they are decoded: a hundred bytes may state two billion faces."""
        many = b"\xff\xff\xff\xff\x07"
        for kind in b"\1\0" + many + many, b"\0" + many + many:  # edgebreaker, sequential
            doc = glb.Doc(self.bar())
            data = bytearray(doc.buffers[0])
            blob = b"DRACO\2\2\1" + kind[:1] + b"\0\0" + kind[1:] + bytes(64)
            doc.json["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": len(blob)})
            primitive = doc.json["meshes"][0]["primitives"][0]
            primitive["extensions"] = {"KHR_draco_mesh_compression": {
                "bufferView": len(doc.json["bufferViews"]) - 1, "attributes": {"POSITION": 0}}}
            doc.json["extensionsUsed"] = ["KHR_draco_mesh_compression"]
            data += blob + bytes(-len(blob) % 4)
            self.refused(100, ["inspect", self.packed(doc, data)])

    def test_models_share_the_limit(self):
        """Two models of one command, and a model and the work on it: each fits alone."""
        model = self.large()
        out = self.at / "o.glb"
        method = ("--method", "closest-distance")
        code, text, _ = self.peak("bind", model, "-o", out, "--memory-limit", 40, *method)
        self.assertEqual(code, 0, text)
        code, text, _ = self.peak("compare", out, out, "--memory-limit", 40)
        self.assertEqual(code, 3, text)
        self.assertRegex(text, "larger than the limit of 1[5-7] MB")
        voxels = ("--method", "geodesic-voxel", "--resolution", "256")
        code, text, _ = self.peak("bind", self.bar(), "-o", out, "--memory-limit", 80, *voxels)
        self.assertEqual(code, 0, text)
        code, text, _ = self.peak("bind", model, "-o", out, "--memory-limit", 80, *voxels)
        self.assertEqual(code, 3, text)

    @support.without_sanitizers
    def test_a_kept_binding_shares_the_limit(self):
        named = glb.Doc(self.bar())
        named.json["nodes"][named.json["skins"][0]["joints"][0]]["name"] = "x" * 16_000_000
        kept = self.at / "kept"
        self.bind(self.packed(named, bytearray(named.buffers[0])), "--method", "closest-distance", "--save-binding", kept)
        words = "bind", self.large(), "-o", self.at / "o.glb", "--memory-limit", 35
        code, text, _ = self.peak(*words, "--method", "closest-distance")
        self.assertEqual(code, 0, text)
        code, text, _ = self.peak(*words, "--reuse", kept)
        self.assertEqual(code, 3, text)
        self.assertRegex(text, "larger than the limit of (19|2[01]) MB")

    def test_a_new_fbx_asks_for_memory(self):
        doc = glb.Doc(self.bar())
        data = bytearray(doc.buffers[0])
        doc.json["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": 20_000_000})
        doc.json["images"] = [{"bufferView": len(doc.json["bufferViews"]) - 1, "mimeType": "image/png"}]
        model = self.packed(doc, data + bytes(20_000_000))
        words = "bind", model, "--memory-limit", 100, "--method", "closest-distance"
        code, text, _ = self.peak(*words, "-o", self.at / "o.glb")
        self.assertEqual(code, 0, text)
        code, text, _ = self.peak(*words, "-o", self.at / "o.fbx")
        self.assertEqual(code, 3, text)
        self.assertRegex(text, "its FBX .*more than the limit of 100 MB")

    def test_a_file_that_is_named_often_is_read_once(self):
        model = self.gltf(self.at / "m")
        document = json.loads(model.read_text())
        (self.at / "m/blob.bin").write_bytes(bytes(500_000))
        document["buffers"] += [{"uri": "blob.bin", "byteLength": 1} for _ in range(3000)]
        model.write_text(json.dumps(document))
        code, text, peak = self.peak("bind", model, "-o", self.at / "o.glb", "--memory-limit", "200", "--method",
                                     "closest-distance")
        self.assertEqual(code, 0, text)
        if not support.SANITIZED:
            self.assertLess(peak, 200)  # 1,500 MB when each buffer had bytes of its own

    def test_files_count_together(self):
        model = self.gltf(self.at / "m")
        document = json.loads(model.read_text())
        for k in range(8):
            with open(self.at / f"m/blob{k}.bin", "wb") as file:
                file.truncate(30 << 20)
            document["buffers"].append({"uri": f"blob{k}.bin", "byteLength": 1})
        model.write_text(json.dumps(document))
        self.refused(100, ["bind", model, "-o", self.at / "o.glb"])
        self.refused(100, ["inspect", model])

    def test_streams_that_views_share(self):
        doc = glb.Doc(self.bar())
        data = bytearray(doc.buffers[0])
        count, stride = 100_000, 64
        stream = subprocess.run([support.STREAMS, "attributes", str(count), str(stride)], input=bytes(count * stride),
                                capture_output=True, check=True).stdout
        for _ in range(60):
            doc.json["bufferViews"].append(
                {"buffer": 1, "byteLength": count * stride, "byteStride": stride, "extensions": {"EXT_meshopt_compression": {
                    "buffer": 0, "byteOffset": len(data), "byteLength": len(stream), "byteStride": stride, "count": count,
                    "mode": "ATTRIBUTES"}}})
            doc.json["accessors"].append({"bufferView": len(doc.json["bufferViews"]) - 1, "componentType": 5126,
                                          "count": count, "type": "VEC3", "min": [0, 0, 0], "max": [0, 0, 0]})
            doc.json["meshes"][0]["primitives"].append(
                {"attributes": {"POSITION": len(doc.json["accessors"]) - 1}, "mode": 4})
        doc.json["buffers"].append({"byteLength": count * stride * 60, "extensions": {"EXT_meshopt_compression": {"fallback": True}}})
        doc.json["extensionsUsed"] = doc.json["extensionsRequired"] = ["EXT_meshopt_compression"]
        data += stream
        data += bytes(-len(data) % 4)
        bomb = self.packed(doc, data)
        self.assertLess(bomb.stat().st_size, 600_000)
        self.refused(100, ["bind", bomb, "-o", self.at / "o.glb"])

    def test_the_tree_of_a_json_text(self):
        many = self.at / "many.json"
        many.write_text('{"edits": [' + ",".join(["[]"] * 2_000_000) + "]}")
        self.refused(60, ["apply", self.weighted(), "--edits", many, "-o", self.at / "o.glb"])
        model = self.gltf(self.at / "m")
        document = json.loads(model.read_text())
        text = json.dumps(document)[:-1] + ', "extras": [' + ",".join(["[]"] * 2_000_000) + "]}"
        model.write_text(text)
        self.refused(60, ["inspect", model])

    def test_every_file_that_a_command_reads(self):
        large = self.at / "large.json"
        with open(large, "wb") as file:
            file.truncate(300 << 20)
        for name in ("large.binding", "large.png", "large.glb"):
            os.link(large, self.at / name)
        bar, weighted, out = self.bar(), self.weighted(), self.at / "o.glb"
        bind = ["bind", bar, "-o", out]
        for words in ([*bind, "--reuse", self.at / "large.binding"], [*bind, "--edits", large],
                      [*bind, "--joint-options", large], [*bind, "--skeleton", large],
                      ["apply", weighted, "--edits", large, "-o", out], ["apply", weighted, "--weights", large, "-o", out],
                      ["pose", weighted, "--pose", large, "-o", out],
                      ["pose", weighted, "--binding", self.at / "large.binding", "--pose", large, "-o", out],
                      ["check", weighted, "--thresholds", large], ["compare", weighted, large],
                      ["compare", weighted, weighted, "--poses", large], ["transfer", weighted, self.at / "large.glb", "-o", out],
                      ["rig", self.at / "large.glb", "-o", out], ["inspect", self.at / "large.glb"],
                      ["cutout", self.at / "large.png", "--bones", large, "-o", out],
                      ["render", weighted, "--weights", large, "-o", self.at / "o.png"]):
            with self.subTest(words):
                self.refused(100, words)

    def test_a_batch_hashes_in_pieces(self):
        folder = self.at / "in"
        folder.mkdir()
        with open(folder / "a.glb", "wb") as file:
            file.truncate(600 << 20)
        code, text, peak = self.peak("batch", folder, "-o", self.at / "out", "--memory", "100", "--jobs", "1")
        self.assertEqual(code, 1, text)
        if not support.SANITIZED:
            self.assertLess(peak, 250)


@unittest.skipUnless(os.environ.get("SINEW_RENDER", "ON") == "ON", "sinew was built without OpenGL")
class Driver(FilesCase):
    """The graphics driver may crash: the page then comes without pictures."""

    def with_crashes(self, *words):
        """Runs the program and kills each process that it draws in; the exit code and the number of these."""
        process = subprocess.Popen([str(w) for w in (support.SINEW, *words)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        killed = set()
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while process.poll() is None:
            try:
                for child in children.read_text().split():
                    if child not in killed and b"--draw-" in Path(f"/proc/{child}/cmdline").read_bytes():
                        os.kill(int(child), signal.SIGSEGV)
                        killed.add(child)
            except OSError:
                pass  # it has ended
        error = process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.returncode, 0, error)
        return len(killed)

    def test_pages_come_without_pictures(self):
        weighted, page, report = self.weighted(), self.at / "page.html", self.at / "report.json"
        self.assertGreater(self.with_crashes("compare", weighted, weighted, "--html", page, "--report", report), 0)
        self.assertIn("the process that draws pictures crashed", page.read_text())
        self.assertNotIn("data:image/png", page.read_text())
        self.assertIn("l1", report.read_text())
        done = support.sinew("compare", weighted, weighted, "--html", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("data:image/png", page.read_text())


class Time(FilesCase):
    """Work is bounded by the size of its input, and ends at the first signal."""

    def tube(self, around=200, along=60):
        """A bound tube, 2 high."""
        obj, bones = self.at / "tube.obj", self.at / "tube.json"
        turn = 2 * np.pi * np.arange(around) / around
        text = "".join(f"v {0.2 * np.cos(t):.5f} {2 * k / (along - 1):.5f} {0.2 * np.sin(t):.5f}\n"
                       for k in range(along) for t in turn)
        text += "".join(f"f {k * around + i + 1} {k * around + (i + 1) % around + 1} "
                        f"{(k + 1) * around + (i + 1) % around + 1} {(k + 1) * around + i + 1}\n"
                        for k in range(along - 1) for i in range(around))
        obj.write_text(text)
        bones.write_text(json.dumps({"bones": [
            {"name": f"j{i}", "parent": i - 1, "head": [0, i / 2, 0], "tail": [0, i / 2 + 0.5, 0]} for i in range(4)]}))
        self.bind(obj, "--skeleton", bones, "--method", "closest-distance", out="tube.glb")
        return self.at / "tube.glb"

    def edits(self, *edits):
        path = self.at / "edits.json"
        path.write_text(json.dumps({"edits": edits}))
        return path

    def seconds(self, most, *words):
        """Runs the program with a limit of processor time, in seconds."""
        done = support.sinew(*words, timeout=600, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (most, most)))
        self.assertEqual(done.returncode, 0, f"{words}: {done.stderr}")

    def ends_at_a_signal(self, *words):
        process = subprocess.Popen([str(w) for w in (support.SINEW, *words)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        ticks = 0
        while process.poll() is None and ticks < 2 * os.sysconf("SC_CLK_TCK"):  # in the midst of its work
            time.sleep(0.05)
            try:
                ticks = sum(map(int, Path(f"/proc/{process.pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13]))
            except OSError:
                break
        self.assertIsNone(process.poll(), f"{words}: it ended too soon")
        process.send_signal(signal.SIGTERM)
        begin = os.times()
        _, error = process.communicate(timeout=120)
        used = os.times().children_user - begin.children_user - ticks / os.sysconf("SC_CLK_TCK")
        self.assertEqual(process.returncode, 143, error)
        self.assertLess(used, 20)

    @support.without_sanitizers
    def test_polygons_of_many_corners(self):
        half, obj, bones = 2048, self.at / "spiral.obj", self.at / "bones.json"
        # Each ear is better than the one before it, and far from all corners.
        turns = [(60 * (i / half) ** 1.6, 1 + 0.002 * i) for i in range(half)]
        turns += [(t, r - 0.02) for t, r in reversed(turns)]
        turns = turns[500:] + turns[:500]
        text = "".join(f"v {r * np.cos(t):.5f} {r * np.sin(t):.5f} 0\n" for t, r in turns)
        obj.write_text(text + 10 * ("f " + " ".join(str(i + 1) for i in range(2 * half)) + "\n"))
        bones.write_text('{"bones": [{"name": "a", "head": [0, 0, 0], "tail": [1, 0, 0]}]}')
        self.seconds(20, "inspect", obj, "--skeleton", bones)  # 8 s for each polygon, when ears were cubic

    @support.without_sanitizers
    def test_a_comb_of_pixels(self):
        size = 2048
        rows = np.zeros((size, size), np.uint8)
        rows[:, ::2] = 1
        rows[:8] = 1
        rgba = np.zeros((size, size, 4), np.uint8)
        rgba[rows > 0] = (255, 0, 0, 255)
        png.write_png(self.at / "comb.png", rgba)
        bones = self.at / "bones.json"
        bones.write_text(json.dumps({"bones": [
            {"name": "a", "head": [size / 2, size * 0.9], "tail": [size / 2, size / 2]},
            {"name": "b", "parent": "a", "head": [size / 2, size / 2], "tail": [size / 2, size * 0.1]}]}))
        self.seconds(20, "cutout", self.at / "comb.png", "--bones", bones, "-o", self.at / "comb.glb")

    def test_edits_end_at_a_signal(self):
        tube = self.tube()
        self.ends_at_a_signal("apply", tube, "--edits", self.edits(*100 * [{"op": "smooth", "length": 1.5}]), "-o",
                              self.at / "o.glb")

    def test_a_length_beyond_the_mesh_is_another_unit(self):
        done = support.sinew("apply", self.tube(40, 20), "--edits", self.edits({"op": "smooth", "length": 250}), "-o",
                             self.at / "o.glb")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"edit 1: smooth: the length 250 is larger than the whole mesh.*unit")

    def test_a_length_that_pairs_too_many_vertices(self):
        """Below the size of the mesh, the time is that of all pairs."""
        done = support.sinew("apply", self.tube(300, 100), "--edits", self.edits({"op": "smooth", "length": 1.9}), "-o",
                             self.at / "o.glb")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertRegex(done.stderr, r"edit 1: smooth: within the length 1.9 of each of \d+ vertices lie about \d+ others")

    def test_a_brush_of_many_dabs(self):
        count = 1000 if support.SANITIZED else 8000
        points = [[0.2, 2 * i / count, 0] for i in range(count)]
        edits = self.edits({"op": "add", "joint": "j1", "value": 0.3,
                            "select": {"brush": {"points": points, "radius": 5, "strength": 0.5}}})
        code, text, peak = self.peak("apply", self.tube(), "--edits", edits, "-o", self.at / "o.glb")
        self.assertEqual(code, 0, text)
        if not support.SANITIZED:
            self.assertLess(peak, 250)


if __name__ == "__main__":
    support.main()
