"""Tests of `sinew batch` (docs/batch.md).

batch.py [CLASS…]; run like cli.py."""
import collections
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
import unittest

import cli
import glb
import make
import support

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium-headless-shell")
FAST = ("--", "--method", "bone-heat")


class BatchCase(cli.Case):
    def setUp(self):
        super().setUp()
        self.models = self.at / "in"
        (self.models / "sub").mkdir(parents=True)
        for name in ("a.glb", "b.glb", "sub/a.glb"):
            make.glb(self.models / name)

    def batch(self, *options, code=0, inputs=("in",), after=FAST):
        done = support.run(support.SINEW, "batch", *inputs, "-o", "out", *options, *after, cwd=self.at)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def lines(self):
        return [json.loads(line) for line in (self.at / "out/results.jsonl").read_text().splitlines()]

    def outcomes(self):
        return {line["input"]: line["outcome"] for line in self.lines()}


class Batch(BatchCase):
    def test_a_folder_is_bound_like_by_bind(self):
        self.batch()
        self.assertEqual(self.outcomes(), {"in/a.glb": "done", "in/b.glb": "done", "in/sub/a.glb": "done"})
        self.bind(self.models / "a.glb", "--method", "bone-heat", out="one.glb")
        self.assertEqual((self.at / "one.glb").read_bytes(), (self.at / "out/sub/a.glb").read_bytes())
        self.assertEqual(sorted(p.name for p in (self.at / "out").iterdir()), ["a.glb", "b.glb", "results.jsonl", "sub"])

    def test_objects_in_folders_are_left_out_with_a_reason(self):
        for name in ("z", "y"):
            (self.models / f"{name}.obj").write_text("v 0 0 0\n")
        said = self.batch().stderr
        self.assertIn('left out: 2 .obj files of the folders hold no skeleton (the first is in/y.obj): give each its "skeleton"', said)
        self.assertEqual(len(self.lines()), 3)
        self.assertEqual(self.batch("--quiet").stderr, "")
        (self.at / "m.jsonl").write_text('{"input": "in/y.obj", "skeleton": "none.json"}\n')
        self.assertIn("1 .obj file of the folders holds no skeleton (the first is in/z.obj)", self.batch(inputs=("in", "m.jsonl"), code=1).stderr)
        (self.at / "objects").mkdir()
        (self.at / "objects/z.obj").write_text("v 0 0 0\n")
        self.assertRegex(self.batch(inputs=("objects",), code=3).stderr, "nothing to bind.*; 1 .obj file of the folders holds no skeleton")

    def test_large_files_are_bound_first(self):
        (self.models / "z.glb").write_bytes(b"glTF" + bytes(1 << 20))
        self.batch("--jobs", "1", code=1)
        self.assertEqual([line["input"] for line in self.lines()], ["in/z.glb", "in/a.glb", "in/b.glb", "in/sub/a.glb"])

    def test_broken_files_are_lines(self):
        (self.models / "c.glb").write_bytes((self.models / "a.glb").read_bytes()[:200])
        done = self.batch(code=1)
        self.assertIn("failed       1", done.stdout)
        bad = next(line for line in self.lines() if line["outcome"] != "done")
        self.assertEqual((bad["input"], bad["exit"]), ("in/c.glb", 3))
        self.assertIn("cut off", bad["message"])
        # It stays a failure, is not tried again, and is with --retry.
        self.batch(code=1)
        self.assertEqual(len(self.lines()), 4)
        self.batch("--retry", code=1)
        self.assertEqual(len(self.lines()), 5)

    def test_work_is_skipped_until_something_changes(self):
        self.batch()
        self.assertIn("skipped      3", self.batch().stdout)
        self.assertEqual(len(self.lines()), 3)
        make.glb(self.models / "b.glb", joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, 1.1, 0))])
        (self.at / "out/a.glb").unlink()                                  # a lost output
        self.batch()
        self.assertEqual(sorted(line["input"] for line in self.lines()[3:]), ["in/a.glb", "in/b.glb"])
        self.batch(after=(*FAST, "--falloff", "0.5"))
        self.assertEqual(len(self.lines()), 8)

    def test_a_late_character_is_killed(self):
        self.assertEqual(support.run(support.CHARACTERS, "quadruped", self.models / "a.glb").returncode, 0)
        self.batch("--timeout", "0.1", inputs=("in/a.glb",), code=1, after=("--", "--resolution", "1024"))
        self.assertEqual(self.outcomes(), {"in/a.glb": "timeout"})
        self.assertFalse((self.at / "out/a.glb").exists())

    def test_a_character_without_enough_memory_runs_alone(self):
        self.assertEqual(support.run(support.CHARACTERS, "quadruped", self.models / "q.glb").returncode, 0)
        self.batch("--jobs", "8", "--memory", "400", after=("--", "--resolution", "256"))
        self.assertEqual(set(self.outcomes().values()), {"done"})
        self.batch("--retry", "--memory", "8", "--jobs", "2", code=1, after=("--", "--resolution", "128"))
        last = {line["input"]: line["outcome"] for line in self.lines()[4:]}
        self.assertEqual(last["in/q.glb"], "memory")

    def test_a_file_above_its_part_of_the_memory_runs_alone(self):
        """The reader's own words for a lack of memory, not those of the estimate."""
        doc = glb.Doc(self.models / "a.glb")
        data = bytearray(doc.buffers[0]) + bytes(25_000_000)
        doc.json["buffers"][0]["byteLength"] = len(data)
        (self.models / "a.glb").write_bytes(make.packed(doc.json, data))
        words = ("--jobs", "4", "--retry")
        for memory, code, outcome in ("20", 1, "memory"), ("80", 0, "done"):
            self.batch(*words, "--memory", memory, code=code, after=("--", "--method", "closest-distance"))
            last = {line["input"]: line for line in self.lines()}["in/a.glb"]
            self.assertEqual(last["outcome"], outcome, last)
        first = next(line for line in self.lines() if line["input"] == "in/a.glb")
        self.assertRegex(first["message"], "larger than the limit of 20 MB")

    def test_shards_and_commands_cover_the_list(self):
        for part in ("1/2", "2/2"):
            self.batch("--shard", part)
        self.assertEqual(sorted(line["input"] for line in self.lines()), ["in/a.glb", "in/b.glb", "in/sub/a.glb"])
        (self.at / "out/results.jsonl").unlink()
        commands = self.batch("--commands").stdout.splitlines()
        self.assertEqual(len(commands), 3)
        for command in commands:
            words = shlex.split(command)
            self.assertEqual(words[:2], ["sinew", "batch"])
            done = support.run(support.SINEW, *words[1:], cwd=self.at)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(sorted(line["input"] for line in self.lines()), ["in/a.glb", "in/b.glb", "in/sub/a.glb"])

    def test_commands_keep_the_options(self):
        kept = ["--timeout", "60", "--memory", "2000", "--threads", "1", "--check", "default", "--retry"]
        said = self.batch("--commands", *kept, "--shard", "2/2").stdout.splitlines()
        self.assertEqual(len(said), 1)
        words = shlex.split(said[0])
        self.assertEqual(words[words.index("--only") + 1], "2")
        for option in kept:
            self.assertIn(option, words)
        self.assertNotIn("--shard", words)
        self.assertEqual(len(self.batch("--commands", "--only", "2-3").stdout.splitlines()), 2)
        self.assertIn("--jobs 4 ", self.batch("--commands", "--jobs", "4").stdout)
        self.assertIn("--thumbnails needs --html", self.batch("--commands", "--thumbnails", "2", code=2).stderr)

    def test_results_never_replace_what_is_read(self):
        before = (self.models / "a.glb").read_bytes()
        (self.at / "link").symlink_to("in")
        for inputs, folder in ((("in",), "in"), (("in/a.glb",), "link"), (("link",), "in")):
            done = support.run(support.SINEW, "batch", *inputs, "-o", folder, *FAST, cwd=self.at)
            self.assertEqual(done.returncode, 2)
            self.assertIn("would replace an input: ", done.stderr)
        (self.at / "m.jsonl").write_text('{"input": "in/a.glb", "reference": "out/x.glb"}\n'
                                         '{"input": "in/b.glb", "output": "x.glb"}\n')
        done = self.batch(inputs=("m.jsonl",), code=2)
        self.assertIn("the result of in/b.glb would replace the reference of in/a.glb: out/x.glb", done.stderr)
        for option in ("--html", "--results"):
            self.assertIn(f"{option} out/b.glb would replace the result of in/b.glb", self.batch(option, "out/b.glb", code=2).stderr)
            self.assertIn(f"{option} in/b.glb would replace an input", self.batch(option, "in/b.glb", code=2).stderr)
        line = '{"input": "in/%s.glb", "options": {"report": "%s"}}\n'
        (self.at / "n.jsonl").write_text(line % ("a", "in/b.glb") + line % ("b", "r.json"))
        self.assertIn("--report of in/a.glb would replace an input: in/b.glb", self.batch(inputs=("n.jsonl",), code=2).stderr)
        (self.at / "n.jsonl").write_text(line % ("a", "r.json") + line % ("b", "r.json"))
        self.assertIn("in/a.glb and in/b.glb would both be written to r.json", self.batch(inputs=("n.jsonl",), code=2).stderr)
        done = self.batch("--results", "m.jsonl", inputs=("m.jsonl",), code=2)
        self.assertEqual(len((self.at / "m.jsonl").read_text().splitlines()), 2)
        self.assertEqual((self.models / "a.glb").read_bytes(), before)

    def test_failures_are_named(self):
        for k in range(12):
            (self.models / f"bad{k:02}.glb").write_bytes(b"glTF")
        for options in ((), ("--quiet",)):
            done = self.batch(*options, code=1)
            named = [line for line in done.stderr.splitlines() if "bad" in line]
            self.assertEqual(len(named), 10)
            self.assertRegex(named[0], r"^sinew: in/bad\d\d\.glb: failed: .*cut off")
            self.assertIn("sinew: and 2 more (in out/results.jsonl)", done.stderr)
        self.assertIn("skipped      15 (12 of them failed before; --retry tries again)", self.batch(code=1).stdout)

    def test_misspelled_options_are_errors_before_the_start(self):
        self.assertIn("after --: sinew bind has no option --falof (did you mean '--falloff'?)",
                      self.batch(after=("--", "--falof", "3"), code=2).stderr)
        self.assertIn("of bind go to the end, after \"--\"", self.batch("--method", "bone-heat", after=(), code=2).stderr)
        self.assertIn("--max-l1 compares with a reference, and no character has one",
                      self.batch("--max-l1", "0.1", code=2).stderr)
        for line, message in (('{"input": "in/a.glb", "options": {"falloff": "soft"}}', "m.jsonl line 2: "),
                              ('{"input": "in/a.glb", "reference": "in/a.glb", "gates": {"max-ll": 1}}',
                               "m.jsonl line 2: sinew compare has no option --max-ll"),
                              ('{"input": "in/a.glb", "gates": {"check": "unty"}}',
                               "m.jsonl line 2: gates.check: there is no profile 'unty' (did you mean 'unity'?)")):
            (self.at / "m.jsonl").write_text('{"input": "in/b.glb"}\n' + line + "\n")
            self.assertIn(message, self.batch(inputs=("m.jsonl",), code=2).stderr)
        self.assertFalse((self.at / "out").exists())

    def test_a_list_has_comments(self):
        (self.at / "some.txt").write_text("# two of them\nin/a.glb\n  # and\nin/b.glb\n")
        self.batch(inputs=("some.txt",))
        self.assertEqual(set(self.outcomes()), {"in/a.glb", "in/b.glb"})

    def test_a_list_may_begin_with_a_byte_order_mark(self):
        for name, text in (("l.txt", "in/a.glb\n"), ("l.jsonl", '{"input": "in/a.glb"}\n'), ("c.txt", "# a comment\nin/a.glb\n")):
            (self.at / name).write_bytes(b"\xef\xbb\xbf" + text.encode())
            self.batch(inputs=(name,))
            self.assertEqual(set(self.outcomes()), {"in/a.glb"})
        (self.at / "wide.txt").write_bytes("in/a.glb\n".encode("utf-16"))
        self.assertIn("wide.txt: the list is UTF-16; save it as UTF-8", self.batch(inputs=("wide.txt",), code=3).stderr)

    def test_the_check_is_a_gate(self):
        self.batch("--check", "default")
        self.assertEqual([set(line["check"]) for line in self.lines()], [{"errors", "warnings"}] * 3)
        self.assertEqual(support.run(support.CHARACTERS, "biped", self.models / "a.glb").returncode, 0)
        (self.at / "m.jsonl").write_text('{"input": "in/a.glb", "options": {"max-influences": 8}, "gates": {"check": "unity"}}\n')
        done = self.batch(inputs=("m.jsonl",), code=1)
        last = self.lines()[-1]
        self.assertEqual((last["outcome"], last["check"]["errors"]), ("gate failed", 1))
        self.assertRegex(last["message"], r"^the check fails: influences \(\d+ vertices have more than the limit\)$")
        self.assertIn("in/a.glb: gate failed: the check fails: influences", done.stderr)

    def test_every_failed_gate_is_named(self):
        self.assertEqual(support.run(support.CHARACTERS, "biped", self.models / "a.glb").returncode, 0)
        self.bind(self.models / "a.glb", "--method", "closest-distance", out="other.glb")
        (self.at / "m.jsonl").write_text('{"input": "in/a.glb", "reference": "other.glb", "options": {"max-influences": 8},'
                                         ' "gates": {"max-l1": 0.0001, "min-agreement": 1, "check": "unity"}}\n')
        self.batch(inputs=("m.jsonl",), code=1)
        message = self.lines()[-1]["message"]
        for part in ("--max-l1", "--min-agreement", "; the check fails: influences"):
            self.assertIn(part, message)

    def test_the_page_over_all_characters(self):
        (self.models / "c<").mkdir()
        (self.models / "c</script><b>.glb").write_bytes(b"glTF")
        (self.models / "d.glb").write_bytes(b"glTF12")
        self.batch("--html", "out/index.html", code=1)
        page = (self.at / "out/index.html").read_text()
        self.assertEqual(page.count("</script>"), 2)
        self.assertNotIn("<b>.glb", page)
        rows = json.loads(page.split('id="data">')[1].split("</script>")[0])
        self.assertEqual(sorted(r[0] for r in rows), ["in/a.glb", "in/b.glb", "in/c</script><b>.glb", "in/d.glb", "in/sub/a.glb"])
        self.assertEqual([r[4] for r in rows if r[1] == "done"], [104] * 3)
        # Both broken files are one cause; what is skipped is in the page as well.
        self.assertIn("<td>2</td><td class=\"text\">byte N: a GLB header has 12 bytes; the file is cut off</td>", page)
        self.batch("--html", "out/again.html", code=1)
        again = json.loads((self.at / "out/again.html").read_text().split('id="data">')[1].split("</script>")[0])
        self.assertEqual(sorted(map(str, again)), sorted(map(str, rows)))

    @unittest.skipUnless(os.access(CHROMIUM, os.X_OK), f"there is no {CHROMIUM} (scripts/setup web installs it)")
    def test_the_page_has_the_columns_that_have_values(self):
        def headings(*options):
            self.batch("--html", "page.html", *options)
            shown = support.run(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.at}/profile",
                                "--dump-dom", (self.at / "page.html").as_uri()).stdout
            hidden = re.findall(r'<th(?: class="text")? hidden="">(.*?)</th>', shown)
            cells = re.findall(r"<td[^>]*>", re.search(r"<tbody>(<tr>.*?</tr>)", shown.split('id="rows"')[1])[1])
            self.assertEqual(sum("hidden" in cell for cell in cells), len(hidden))
            return hidden
        self.assertEqual(headings(), ["L1", "Agreement", "Changed", "Check: errors", "Check: warnings", "Message"])
        self.assertEqual(headings("--check", "default"), ["L1", "Agreement", "Message"])

    @unittest.skipUnless(os.access(CHROMIUM, os.X_OK), f"there is no {CHROMIUM} (scripts/setup web installs it)")
    def test_the_page_opens_with_ten_thousand_rows(self):
        (self.at / "many.jsonl").write_text("".join(f'{{"input": "absent/{k}.glb"}}\n' for k in range(10000)))
        self.batch("--html", "page.html", code=1, inputs=("many.jsonl",))
        page = self.at / "page.html"
        # The time from the start of navigation until everything is laid out.
        page.write_text(page.read_text() + "<script>document.body.offsetHeight; "
                        "document.title = Math.round(performance.now())</script>")
        shown = support.run(CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.at}/profile",
                            "--dump-dom", page.as_uri()).stdout
        print(f"10,000 rows open in {re.search(r'<title>(.*?)</title>', shown)[1]} ms", file=sys.stderr)
        # What makes it fast: only the first rows are elements.
        self.assertEqual(len(re.findall(r"<tr><td class=\"text\">absent/", shown)), 200)
        self.assertIn("10000 of 10000 characters; the first 200 are shown", shown)

    @unittest.skipUnless(os.environ.get("SINEW_RENDER") == "ON", "pictures are not built")
    def test_the_page_has_pictures_of_the_worst(self):
        self.batch("--html", "out/1.html", "--thumbnails", "2")
        page = (self.at / "out/1.html").read_text()
        self.assertEqual(page.count("data:image/png;base64,"), 2)
        self.assertEqual(len(re.findall(r"<figcaption>seconds [\d.e-]+<br>in/", page)), 2)
        self.assertEqual([p for p in (self.at / "out").rglob(".sinew-*")], [])

    @unittest.skipUnless(os.environ.get("SINEW_RENDER") == "ON", "pictures are not built")
    def test_the_page_has_contact_sheets(self):
        self.batch("--html", "out/1.html", "--thumbnails", "2", "--sheets")
        page = (self.at / "out/1.html").read_text()
        self.assertEqual(page.count("data:image/png;base64,"), 4)
        self.assertEqual(page.count("<details>"), 2)
        self.assertEqual([p for p in (self.at / "out").rglob(".sinew-*")], [])

    def test_options_of_the_page_need_it(self):
        self.assertIn("--sheets needs --thumbnails", self.batch("--html", "a.html", "--sheets", code=2).stderr)
        self.assertIn("--thumbnails needs --html", self.batch("--thumbnails", "2", code=2).stderr)

    def test_the_page_says_what_changed_of_a_gltf(self):
        for name in ("a", "b"):
            self.bind(self.models / f"{name}.glb", "--method", "bone-heat", out=f"in/{name}.gltf")
            (self.models / f"{name}.glb").unlink()
        self.batch("--html", "out/1.html")
        # The same file with a longer bone: its weights change.
        make.glb(self.at / "b.glb", joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, 1.4, 0))])
        self.bind(self.at / "b.glb", "--method", "bone-heat", out="in/b.gltf")
        self.batch("--html", "out/2.html")
        changed = {line["input"]: line.get("changed") for line in self.lines()[3:]}
        self.assertEqual(list(changed), ["in/b.gltf"])
        self.assertGreater(changed["in/b.gltf"], 0.01)
        self.assertEqual([p for p in (self.at / "out").rglob(".sinew-*")], [])

    def test_the_page_says_what_changed_since_the_last_run(self):
        self.batch("--html", "out/1.html")
        self.assertNotIn("earlier run", (self.at / "out/1.html").read_text())
        make.glb(self.models / "b.glb", joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, 1.4, 0))])
        (self.models / "a.glb").write_bytes((self.models / "a.glb").read_bytes().replace(b"sinew tests", b"other tests"))
        self.batch("--html", "out/2.html")
        page = (self.at / "out/2.html").read_text()
        self.assertIn("Of 2 characters that an earlier run had bound, 1 changed", page)
        changed = {line["input"]: line.get("changed") for line in self.lines()[3:]}
        self.assertEqual(changed["in/a.glb"], 0)
        self.assertGreater(changed["in/b.glb"], 0.01)
        self.assertEqual([p for p in (self.at / "out").rglob(".sinew-*")], [])

    def test_parts_of_the_list(self):
        self.batch("--only", "2-3")
        self.assertEqual(sorted(line["input"] for line in self.lines()), ["in/b.glb", "in/sub/a.glb"])
        self.batch("--only", "1", "--give-up", "it kills", code=1)
        self.assertEqual((self.lines()[2]["outcome"], self.lines()[2]["message"]), ("crashed", "it kills"))
        self.assertIn("skipped      3", self.batch(code=1).stdout)
        for wrong in ("0", "2-1", "x", "1-", "1-4", "4", "-1"):
            self.batch("--only=" + wrong, code=2)
        self.batch("--give-up", "x", code=2)
        for words in (("--report", "r.json"), ("--save-binding=a.binding",)):
            self.assertIn(f"after --: {words[0].split('=')[0]} would name one file for all characters",
                          self.batch(after=("--", *words), code=2).stderr)
        self.batch("--only", "1", after=("--", "--report", "r.json", "--resolution", "32"))
        for words in (("-o", "a.glb"), ("-oa.glb",), ("--output=a.glb",)):
            self.assertIn("is an option of the batch: give it before --", self.batch(after=("--", *words), code=2).stderr)
        self.assertIn("there is no profile 'nosuch'; there are unity, ", self.batch("--check", "nosuch", code=2).stderr)

    def test_places_of_results_are_checked_before_the_start(self):
        for option in ("--html", "--results"):
            self.assertIn("there is no folder 'nowhere'", self.batch(option, "nowhere/x", code=3).stderr)
        self.assertEqual([p.name for p in (self.at / "out").iterdir()], [])
        self.batch("--html", "out/page.html", "--results", "out/lines.jsonl")  # the folder is made

    def test_another_mesh_is_no_reference(self):
        self.assertEqual(support.run(support.CHARACTERS, "biped", self.at / "other.glb").returncode, 0)
        self.bind(self.at / "other.glb", out="other.skinned.glb")
        (self.at / "m.jsonl").write_text('{"input": "in/a.glb", "reference": "other.skinned.glb"}\n')
        self.batch(inputs=("m.jsonl",), code=1)
        line = self.lines()[-1]
        self.assertEqual(line["outcome"], "failed")
        self.assertRegex(line["message"], "^no comparison with the reference: the reference has .* and the result has ")


class BatchReads(BatchCase):
    """What is read decides what is bound again, and no error of reading is taken for the end."""

    def again(self, bound, *options, **kwargs):
        before = len(self.lines()) if (self.at / "out/results.jsonl").exists() else 0
        self.batch(*options, **kwargs)
        self.assertEqual(len(self.lines()) - before, bound)

    def test_files_of_options_are_a_part_of_the_key(self):
        joints = self.at / "k.json"
        joints.write_text('{"joints": {"upper": {"hardness": 0.5}}}')
        (self.at / "e.json").write_text('{"edits": []}')
        shared = {"inputs": ("in/a.glb",), "after": (*FAST, f"--joint-options={joints}", "--edits", str(self.at / "e.json"))}
        (self.at / "m.jsonl").write_text(json.dumps({"input": "in/b.glb", "options": {"joint-options": str(joints)}}) + "\n")
        self.again(1, **shared)
        self.again(1, inputs=("m.jsonl",))
        self.again(0, **shared)
        joints.write_text('{"joints": {"upper": {"hardness": 0.6}}}')
        self.again(1, **shared)
        self.again(1, inputs=("m.jsonl",))
        (self.at / "e.json").write_text('{"edits": [ ]}')
        self.again(1, **shared)
        # A kept binding.
        self.bind(self.models / "a.glb", "--method", "bone-heat", "--save-binding", self.at / "a.binding", out="x.glb")
        reuse = {"inputs": ("in/a.glb",), "after": ("--", "--reuse", str(self.at / "a.binding"))}
        self.again(1, **reuse)
        self.bind(self.models / "a.glb", "--method", "bone-heat", "--falloff", "0.9", "--save-binding", self.at / "a.binding", out="x.glb")
        self.again(1, **reuse)
        self.again(0, **reuse)

    def test_the_same_file_in_another_role(self):
        def manifest(role):
            (self.at / "m.jsonl").write_text(json.dumps({"input": "in/a.glb", role: "in/b.glb"}) + "\n")
            return {"inputs": ("m.jsonl",)}
        self.again(1, **manifest("reference"))
        self.again(1, code=1, **manifest("skeleton"))

    def test_what_comes_with_a_result_must_be_there(self):
        make.gltf(self.models / "g.gltf")
        (self.at / "m.jsonl").write_text(json.dumps({"input": "in/g.gltf", "options": {
            "report": str(self.at / "r.json"), "save-binding": str(self.at / "g.binding")}}) + "\n")
        one = {"inputs": ("m.jsonl",)}
        self.again(1, **one)
        self.assertEqual(self.lines()[-1]["files"], ["out/g.bin"])
        for name in ("out/g.bin", "r.json", "g.binding", "out/g.gltf"):
            self.again(0, **one)
            (self.at / name).unlink()
            self.again(1, **one)
            self.assertTrue((self.at / name).exists())

    def test_a_changed_buffer_is_bound_again(self):
        # Two models share the buffer; both follow it.
        def write(height):
            for name in ("one", "two"):
                make.gltf(self.models / f"{name}.gltf", buffer="scene.bin",
                          joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, height, 0))])
        models = {"inputs": ("in",)}
        write(1.0)
        self.again(5, **models)
        write(1.3)
        self.again(2, **models)
        self.again(0, **models)
        self.assertEqual((self.at / "out/scene.bin").read_bytes(), (self.models / "scene.bin").read_bytes())
        # A file that is not ours stays, and the result does not appear beside it.
        (self.at / "out/results.jsonl").unlink()
        (self.at / "out/scene.bin").write_bytes(b"mine")
        (self.at / "out/one.gltf").unlink()
        self.assertIn("is another file", self.batch(inputs=("in/one.gltf",), code=1).stderr)
        self.assertEqual((self.at / "out/scene.bin").read_bytes(), b"mine")
        self.assertFalse((self.at / "out/one.gltf").exists())

    def test_results_that_share_the_name_of_a_buffer_are_kept_apart(self):
        for folder, name, height in (("a", "hero", 1.0), ("b", "orc", 1.4)):
            (self.at / folder).mkdir()
            make.gltf(self.at / folder / f"{name}.gltf", buffer="scene.bin",
                      joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, height, 0))])
        (self.at / "c").mkdir()
        make.gltf(self.at / "c/other.gltf", buffer="other.bin")
        (self.at / "list.txt").write_text("a/hero.gltf\nb/orc.gltf\nc/other.gltf\n")
        said = self.batch("--jobs", "2", inputs=("list.txt",)).stderr
        self.assertIn("kept apart: a/hero.gltf and b/orc.gltf refer to different files that would both be out/scene.bin", said)
        for folder, name in (("a", "hero"), ("b", "orc")):
            self.assertEqual((self.at / f"out/{name}/scene.bin").read_bytes(), (self.at / folder / "scene.bin").read_bytes())
        self.assertTrue((self.at / "out/other.gltf").exists())
        # With stated places it is an error before the start.
        (self.at / "m.jsonl").write_text('{"input": "a/hero.gltf", "output": "1.gltf"}\n{"input": "b/orc.gltf", "output": "2.gltf"}\n')
        (self.at / "out/results.jsonl").unlink()
        self.assertIn("would both be out/scene.bin (give them outputs in folders", self.batch(inputs=("m.jsonl",), code=2).stderr)
        self.assertFalse((self.at / "out/results.jsonl").exists())
        # The same content is one file.
        (self.at / "b/scene.bin").write_bytes((self.at / "a/scene.bin").read_bytes())
        self.batch(inputs=("m.jsonl",))
        self.assertTrue((self.at / "out/scene.bin").exists())

    def test_a_list_that_is_no_file(self):
        os.mkfifo(self.at / "pipe.txt")
        (self.at / "zero.jsonl").symlink_to("/dev/zero")
        for name in ("pipe.txt", "zero.jsonl"):
            self.assertIn(f"cannot read {name}: it is a pipe, a device", self.batch(inputs=(name,), code=3).stderr)
        # A reading that fails in the middle, as on a network: /proc/self/mem cannot be read from its start.
        (self.at / "mem.jsonl").symlink_to("/proc/self/mem")
        self.assertIn("cannot read mem.jsonl: Input/output error", self.batch(inputs=("mem.jsonl",), code=3).stderr)

    @unittest.skipIf(os.geteuid() == 0 and not os.access("/usr/bin/setpriv", os.X_OK), "root reads every folder")
    def test_a_folder_that_cannot_be_read(self):
        locked = self.models / "locked"
        locked.mkdir()
        make.glb(locked / "c.glb")
        locked.chmod(0)
        self.addCleanup(locked.chmod, 0o755)
        os.chmod(self.at, 0o777)
        plain = ["setpriv", "--reuid=65534", "--clear-groups"] if os.geteuid() == 0 else []
        done = support.run(*plain, support.SINEW, "batch", "in", "-o", "out", *FAST, cwd=self.at)
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("cannot read the folder in/locked: Permission denied", done.stderr)

    def test_json_that_nests_too_deep(self):
        (self.at / "m.jsonl").write_text('{"input": "in/a.glb", "options": {"x": ' + "[" * 300000 + "]" * 300000 + "}}\n")
        self.assertIn("nested deeper than 128 levels", self.batch(inputs=("m.jsonl",), code=3).stderr)

    def test_foreign_lines_are_skipped(self):
        self.again(3)
        key = self.lines()[0]["key"]
        foreign = [{"key": key, "outcome": 5}, {"key": key, "outcome": None}, {"key": key, "outcome": "well"},
                   {"key": key, "outcome": "done", "message": [1]}, {"key": key, "outcome": "done", "input": 7}, {"key": key}, [], 3]
        with open(self.at / "out/results.jsonl", "a") as results:
            results.write("".join(json.dumps(line) + "\n" for line in foreign))
            results.write('{"key": "' + key + '", "outcome": ' + "[" * 1000000 + "]" * 1000000 + "}\n")
        self.assertIn("skipped      3", self.batch().stdout)

    def test_a_half_line_is_not_continued(self):
        self.again(3)
        results = self.at / "out/results.jsonl"
        whole = results.read_bytes()
        results.write_bytes(whole + whole[:40])  # of a disk that was full
        (self.at / "out/b.glb").unlink()
        self.batch()
        self.assertEqual(results.read_bytes()[:len(whole) + 41], whole + whole[:40] + b"\n")
        self.assertIn("skipped      3", self.batch().stdout)

    def test_a_full_disk_leaves_no_half_line(self):
        self.again(3)
        results = self.at / "out/results.jsonl"
        whole = results.read_bytes()
        (self.at / "out/b.glb").unlink()
        # Its models are smaller than the limit; the results are not.
        results.write_bytes(b" " * (1 << 20) + b"\n" + whole)
        size = results.stat().st_size + 100
        done = support.run("prlimit", f"--fsize={size}", support.SINEW, "batch", "in", "-o", "out", *FAST, cwd=self.at)
        self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
        self.assertIn("results.jsonl cannot be written: File too large", done.stderr)
        self.assertEqual(results.stat().st_size, size - 100)
        self.assertIn("skipped      3", self.batch().stdout)


class BatchManifest(BatchCase):
    def manifest(self, *items):
        (self.at / "lists").mkdir(exist_ok=True)
        path = self.at / "lists/night.jsonl"
        path.write_text("".join(json.dumps(i) + "\n" for i in items))
        return "lists/night.jsonl"

    def test_options_references_and_gates_of_each(self):
        self.bind(self.models / "a.glb", "--method", "bone-heat", "--falloff", "0.9", out="approved.glb")
        path = self.manifest(
            {"input": "../in/a.glb", "output": "hard.glb", "options": {"falloff": 0.9}},
            {"input": "../in/a.glb", "output": "soft.glb", "options": {"falloff": 0.1}, "reference": "../approved.glb",
             "gates": {"max-l1": 0.01}},
            {"input": "../in/b.glb", "output": "same.glb", "options": {"falloff": 0.9, "exclude": ["upper"]}})
        self.batch("--jobs", "1", inputs=(path,), code=1)
        lines = {line["output"]: line for line in self.lines()}
        self.assertEqual({k: v["outcome"] for k, v in lines.items()},
                         {"out/hard.glb": "done", "out/soft.glb": "gate failed", "out/same.glb": "done"})
        self.assertGreater(lines["out/soft.glb"]["compare"]["l1"], 0.01)
        self.assertNotEqual((self.at / "out/hard.glb").read_bytes(), (self.at / "out/same.glb").read_bytes())

    def test_mistakes_name_their_place(self):
        for item, words in (({"input": "x.glb", "outptu": "y"}, "line 1: unknown key 'outptu'"),
                            ({"output": "y.glb"}, "line 1: it has no input"),
                            ({"input": "x.glb", "output": "y"}, "line 1: y: output must be .glb, .vrm, .gltf or .fbx"),
                            ({"input": "x.glb", "gates": {"max-l1": 1}}, "gates compare with a reference"),
                            ({"input": "x.glb", "output": "../y.glb"}, "line 1: output must be a path in the output folder, not '../y.glb'"),
                            ({"input": "x.glb", "output": "/tmp/y.glb"}, "output must be a path in the output folder"),
                            ({"input": "x.glb", "output": "a/../.."}, "output must be a path in the output folder"),
                            ({"input": "x.glb", "output": "."}, "line 1: .: output must be .glb, .vrm, .gltf or .fbx"),
                            ({"input": "x.glb", "output": ""}, "output must be a path in the output folder, not ''"),
                            ({"input": "x.glb", "options": {"output": "y.glb"}}, "options.output: give it as \"output\""),
                            ({"input": "x.glb", "options": {"falloff": None}}, "options.falloff must be")):
            done = self.batch(inputs=(self.manifest(item),), code=3)
            self.assertIn(words, done.stderr)
        done = self.batch(inputs=(self.manifest({"input": "a/x.glb"}, {"input": "b/x.glb"}),), code=2)
        self.assertIn("would both be written to out/x.glb", done.stderr)
        self.assertIn("no such file", self.batch(inputs=("nowhere",), code=3).stderr)
        self.assertIn("write N/M", self.batch("--shard", "3/2", code=2).stderr)
        self.assertFalse((self.at / "out").exists())


class BatchFaults(BatchCase):
    """Interruptions: every character is done exactly once, or is a line."""

    def start(self, *options):
        return subprocess.Popen([support.SINEW, "batch", "in", "-o", "out", "--jobs", "2", "--quiet", *options, *FAST], cwd=self.at,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def more(self, count):
        for k in range(count):
            make.glb(self.models / f"n{k}.glb", joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, 1 + k / 1000, 0))])

    def temporary_files(self):
        return list((self.at / "out").rglob(".sinew-*"))

    def wait_for(self, what, seconds=20):
        end = time.time() + seconds
        while not what():
            self.assertLess(time.time(), end, self.temporary_files())
            time.sleep(0.02)

    def test_ended_processes_remove_their_temporary_files(self):
        # Nobody reads the pipe, so bind hangs between its temporary file and the renaming.
        os.mkfifo(self.at / "pipe")
        hang = ("--", "--report", str(self.at / "pipe"), "--method", "bone-heat")
        self.batch("--timeout", "1", inputs=("in/a.glb",), code=1, after=hang)
        self.assertEqual(self.outcomes(), {"in/a.glb": "timeout"})
        self.assertEqual(self.temporary_files(), [])
        for stop in (signal.SIGKILL, signal.SIGTERM):
            running = subprocess.Popen([support.SINEW, "batch", "in/b.glb", "-o", "out", *hang], cwd=self.at,
                                       stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.wait_for(lambda: [p for p in self.temporary_files() if p.suffix == ".tmp"])
            running.send_signal(stop)
            running.communicate(timeout=60)
            self.wait_for(lambda: not [p for p in self.temporary_files() if p.suffix == ".tmp"])
            self.assertFalse((self.at / "out/b.glb").exists())

    @unittest.skipUnless(os.path.exists("/proc/self/task"), "needs /proc")
    def test_processes_do_not_hold_files_of_the_batch(self):
        for name in "ab":
            os.mkfifo(self.at / f"pipe {name}")  # see above
        (self.at / "two.jsonl").write_text("".join(
            json.dumps({"input": f"in/{name}.glb", "options": {"report": str(self.at / f"pipe {name}"), "method": "bone-heat"}}) + "\n"
            for name in "ab"))
        running = subprocess.Popen([support.SINEW, "batch", "two.jsonl", "-o", "out", "--jobs", "2"], cwd=self.at,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.wait_for(lambda: len([p for p in self.temporary_files() if p.suffix == ".tmp"]) == 2)
        batch = pathlib.Path(f"/proc/{running.pid}")
        # Its processes are copies of it, and a copy of a program with several threads would wait for those others.
        self.assertEqual(len(list((batch / "task").iterdir())), 1)
        children = (batch / f"task/{running.pid}/children").read_text().split()
        self.assertEqual(len(children), 2)
        for child in children:
            held = [os.readlink(file) for file in pathlib.Path(f"/proc/{child}/fd").iterdir()]
            self.assertEqual([file for file in held if file.endswith((".lock", "results.jsonl"))], [])
        running.terminate()
        running.communicate(timeout=60)

    def test_the_folder_of_claims_stays_while_a_batch_runs(self):
        # Another batch that ends tries to remove it: here all the time.
        ended = threading.Event()
        def remove():
            while not ended.is_set():
                try:
                    os.rmdir(self.at / "out/.sinew-batch")
                except OSError:
                    pass
        (self.at / "out").mkdir()
        other = threading.Thread(target=remove)
        other.start()
        try:
            self.more(20)
            self.batch()
        finally:
            ended.set()
            other.join()
        self.assertEqual(self.temporary_files(), [])

    def test_two_batches_share_the_work(self):
        self.more(20)
        both = [self.start(), self.start()]
        for each in both:
            out, err = each.communicate(timeout=300)
            self.assertEqual(each.returncode, 0, out + err)
        count = collections.Counter(line["input"] for line in self.lines())
        self.assertEqual((len(count), set(count.values())), (23, {1}))

    def test_a_killed_batch_goes_on_where_it_was(self):
        self.more(30)
        for stop in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT):
            running = self.start()
            before = len(self.lines()) if (self.at / "out/results.jsonl").exists() else 0
            while running.poll() is None and (not (self.at / "out/results.jsonl").exists() or len(self.lines()) < before + 5):
                time.sleep(0.01)
            running.send_signal(stop)
            running.communicate(timeout=60)
            self.assertIn(running.returncode, (-stop, 128 + stop, 0))
        self.batch()
        self.wait_for(lambda: not self.temporary_files())
        count = collections.Counter(line["input"] for line in self.lines())
        self.assertEqual((len(count), set(count.values())), (33, {1}))
        self.assertEqual(len(list((self.at / "out").rglob("*.glb"))), 33)
        for line in self.lines():
            self.assertTrue(os.path.exists(self.at / line["output"]))


if __name__ == "__main__":
    support.main()
