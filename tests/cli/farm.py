"""Tests of `python3 -m sinew.farm` (docs/batch.md) on a real scheduler and real workers, with faults.

farm.py [CLASS…]; run like cli.py. Skipped without Dask (python3-distributed)."""
import argparse
import collections
import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import cli
import make
import support

FARM = support.ROOT / "python/sinew/farm.py"
# Small waits, so that a dead scheduler or worker is noticed soon.
SETTINGS = {**os.environ, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s", "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "30s",
            "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES": "2", "DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False"}


class Kept:
    """A process that is started again when it ends, as systemd or a queue manager would."""

    def __init__(self, words, folder, log):
        self.words, self.folder, self.log, self.closed, self.starts = words, folder, log, False, 0
        self.thread = threading.Thread(target=self.keep, daemon=True)
        self.thread.start()

    def keep(self):
        while not self.closed:
            with self.log.open("ab") as log:
                self.process = subprocess.Popen(self.words, cwd=self.folder, env=SETTINGS, stdin=subprocess.DEVNULL,
                                                stdout=log, stderr=log, start_new_session=True)
            self.starts += 1
            self.process.wait()
            time.sleep(0.2)

    def close(self):
        self.closed = True
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.thread.join(20)


def workers_of(pid):
    """The processes below a nanny that run tasks."""
    out, children = [], {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_text()
            except OSError:
                continue
            children.setdefault(int(stat.rsplit(")", 1)[1].split()[1]), []).append(int(entry))
    queue = [pid]
    while queue:
        for child in children.get(queue.pop(), []):
            queue.append(child)
            try:
                text = Path(f"/proc/{child}/cmdline").read_text()
            except OSError:
                continue
            if "spawn_main" in text or "multiprocessing" in text and "resource_tracker" not in text:
                out.append(child)
    return out


@unittest.skipUnless(importlib.util.find_spec("distributed"), "python3-distributed is not installed")
class FarmCase(cli.Case):
    COUNT = 400

    def setUp(self):
        super().setUp()
        (self.at / "in").mkdir()

    def characters(self, count):
        for k in range(count):
            make.glb(self.at / f"in/n{k:03}.glb", joints=[("lower", -1, (0, 0, 0)), ("upper", 0, (0, 1 + k / 1000, 0))])

    def cluster(self, workers=4):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{port}"
        run = lambda module, *words: Kept([sys.executable, "-m", f"distributed.cli.{module}", *words], self.at,
                                          self.at / f"{module}.log")
        self.scheduler = run("dask_scheduler", "--host", "127.0.0.1", "--port", str(port), "--no-dashboard")
        self.addCleanup(self.scheduler.close)
        self.workers = []
        for _ in range(workers):
            self.workers.append(run("dask_worker", self.address, "--nthreads", "1", "--nworkers", "1", "--no-dashboard",
                                    "--local-directory", str(self.at / "dask"), "--death-timeout", "20"))
            self.addCleanup(self.workers[-1].close)

    def start(self, *options, program=None, after=("--", "--method", "bone-heat")):
        return subprocess.Popen(
            [sys.executable, FARM, "in", "-o", "out", "--sinew", str(program or support.SINEW), *options, *after],
            cwd=self.at, env=SETTINGS, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def lines(self):
        path = self.at / "out/results.jsonl"
        text = path.read_text() if path.exists() else ""
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]  # not one being written

    def wait_for(self, count, running, seconds=120):
        end = time.time() + seconds
        while len(self.lines()) < count and running.poll() is None:
            self.assertLess(time.time(), end, "the farm makes no progress")
            time.sleep(0.02)

    def finish(self, running, code, seconds=240):
        try:
            out, err = running.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            out, err = running.communicate()
            self.fail("the farm did not end\n" + out + err)
        self.assertEqual(running.returncode, code, out + err)
        return err


class Farm(FarmCase):
    def test_a_cluster_on_this_machine(self):
        self.characters(12)
        (self.at / "in/broken.glb").write_bytes(b"glTF")
        running = self.start("--workers", "2", "--chunk", "4")
        out, err = running.communicate(timeout=240)
        self.assertEqual(running.returncode, 1, out + err)
        # What this run did, not what the batch at its end found: everything done.
        self.assertRegex(out, r"^13 characters in [0-9.]+ s: 12 done, 1 failed\n$")
        self.assertNotIn("skipped", out + err)
        outcomes = collections.Counter(line["outcome"] for line in self.lines())
        self.assertEqual(outcomes, {"done": 12, "failed": 1})
        self.assertIn("broken.glb", (self.at / "out/index.html").read_text())
        # The same keys as those of sinew batch, which has nothing left to do.
        done = support.sinew("batch", "in", "-o", "out", "--", "--method", "bone-heat", cwd=self.at)
        self.assertIn("skipped      13", done.stdout)
        again = self.start("--workers", "1")
        self.assertRegex(again.communicate(timeout=240)[0], r"s: nothing to do, 13 done before\n$")

    def test_chunks_are_as_large_as_their_time(self):
        spec = importlib.util.spec_from_file_location("farm", FARM)
        farm = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(farm)
        args = argparse.Namespace(inputs=["in"], output=str(self.at), chunk=0, chunk_seconds=60, sinew="sinew", results=None,
                                  timeout=None, memory=None, max_l1=None, max_distance=None, min_agreement=None, check=None)
        one = farm.Farm(args, [])
        one.workers = {"a": "a", "b": "b"}
        self.assertEqual(str(one.next_chunk(1, 1000)), "1-4")       # nothing is known
        for each, last in ((0.5, 220), (20, 103), (600, 101)):
            one.each = each
            self.assertEqual(one.next_chunk(101, 1000).last, last)
        one.each = 0.5
        self.assertEqual(str(one.next_chunk(991, 1000)), "991-993")  # a share of what is left
        args.chunk = 7
        self.assertEqual(str(one.next_chunk(1, 1000)), "1-7")

    def test_the_check_is_a_gate(self):
        self.assertEqual(support.run(support.CHARACTERS, "biped", self.at / "in/biped.glb").returncode, 0)
        self.finish(self.start("--workers", "1", "--check", "unity", after=("--", "--max-influences", "8")), 1)
        (line,) = self.lines()
        self.assertEqual((line["outcome"], line["check"]["errors"]), ("gate failed", 1))

    def test_a_character_that_kills_its_workers_is_a_line(self):
        self.characters(20)
        program = self.at / "sinew-or-die"
        program.write_text(
            "#!/bin/sh\n"
            "# Number 6 of the list kills the worker that works on it; all in work then begin again elsewhere.\n"
            "case \" $* \" in *\" --give-up \"*|*\" --commands \"*) exec " + str(support.SINEW) + " \"$@\";; esac\n"
            "previous=; for word; do [ \"$previous\" = --only ] && range=$word; previous=$word; done\n"
            "if [ -n \"$range\" ] && [ \"${range%-*}\" -le 6 ] && [ \"${range#*-}\" -ge 6 ]; then kill -9 $PPID; fi\n"
            "exec " + str(support.SINEW) + " \"$@\"\n")
        program.chmod(0o755)
        err = self.finish(self.start("--workers", "2", "--chunk", "5", program=program), 1)
        self.assertIn("character 6 is given up", err)
        self.assertRegex(err, r"worker .*tcp://\S+ was killed at character 6\n")
        by_input = {line["input"]: line["outcome"] for line in self.lines()}
        self.assertEqual(by_input.pop("in/n005.glb"), "crashed")
        self.assertEqual((len(by_input), set(by_input.values())), (19, {"done"}))
        self.assertIn("were killed", next(line for line in self.lines() if line["outcome"] == "crashed")["message"])

    def test_mistakes_are_errors(self):
        self.characters(1)
        self.assertIn("is not there: it is not a part of the Python package", self.finish(self.start(program=self.at / "none"), 2))
        self.assertIn("write N or N-M", support.sinew("batch", "in", "-o", "out", "--only", "2-1", cwd=self.at).stderr)
        self.assertIn("there are 1 characters", support.sinew("batch", "in", "-o", "out", "--only", "1-2", cwd=self.at).stderr)
        (self.at / "in/n000.glb").unlink()
        self.assertIn("nothing to bind", self.finish(self.start(), 3))


class FarmFaults(FarmCase):
    """A scheduler and four workers; two workers are killed, then the scheduler, and all of them start again."""

    def test_every_character_is_done_once(self):
        self.characters(self.COUNT)
        (self.at / "in/broken.glb").write_bytes(b"glTF")
        done = support.sinew("batch", "in", "-o", "plain", "--quiet", "--", "--method", "bone-heat", cwd=self.at)
        self.assertEqual(done.returncode, 1)
        self.cluster()
        running = self.start("--scheduler", self.address, "--chunk", "25", "--patience", "60")
        self.wait_for(60, running)
        for nanny in self.workers[:2]:
            below = workers_of(nanny.process.pid)
            self.assertTrue(below, "a nanny without a worker")
            for pid in below:
                os.kill(pid, signal.SIGKILL)
        self.wait_for(180, running)
        before, reached = self.scheduler.process.pid, len(self.lines())
        os.kill(before, signal.SIGKILL)
        err = self.finish(running, 1)
        self.assertLess(reached, self.COUNT, "the scheduler was killed too late to test anything")
        self.assertGreater(self.scheduler.starts, 1)
        self.assertRegex(err, rf"of {self.COUNT + 1} characters in \d+ s, about \d+ s left: ")
        count = collections.Counter(line["input"] for line in self.lines())
        self.assertEqual(len(count), self.COUNT + 1)
        self.assertEqual(set(count.values()), {1}, [k for k, n in count.items() if n > 1])
        self.assertEqual(collections.Counter(line["outcome"] for line in self.lines()), {"done": self.COUNT, "failed": 1})
        for k in range(self.COUNT):
            name = f"n{k:03}.glb"
            self.assertEqual((self.at / "out" / name).read_bytes(), (self.at / "plain" / name).read_bytes(), name)
        self.assertEqual([p for p in (self.at / "out").rglob(".sinew-*")], [], err)


if __name__ == "__main__":
    support.main()
