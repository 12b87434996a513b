"""Binds many characters on a Dask cluster: ``sinew batch`` in chunks, on many machines.

    python3 -m sinew.farm night.jsonl -o bound                                   a cluster on this machine
    python3 -m sinew.farm night.jsonl -o bound --scheduler tcp://head:8786       your own
    python3 -m sinew.farm characters -o bound -- --method bone-heat              options of bind, for all

It needs the program ``sinew`` on every worker, which is not a part of the Python package: docs/install.md. A worker runs
``sinew batch --only N-M`` on its chunk, which is as large as takes some seconds. Results are those of ``sinew batch``: the same keys, skipped where
they are done. So a farm can be stopped at any time, and goes on where it was; a killed worker or scheduler loses only the
characters in work. A character that kills its worker again and again gets a line in the results, and the others of its
chunk go on without it. Inputs and outputs must have the same paths on all machines. docs/batch.md has more.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

# The functions that workers run travel with the task, since this file runs as __main__: workers need no sinew package,
# only the program. So they use nothing else of this file.


def run_chunk(command, folder):
    """On a worker: (exit code, last lines of the errors, seconds) of a command, which ends with the worker."""
    import shutil
    import subprocess
    import time

    begin = time.monotonic()
    guard = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    try:
        done = subprocess.run(guard + command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        return 126, str(error), 0
    return done.returncode, done.stderr[-2000:], time.monotonic() - begin


class Chunk:
    """Characters first to last of the list, from 1."""

    def __init__(self, first, last):
        self.first, self.last, self.tries, self.future = first, last, 0, None
        self.alone = False  # with no other in the cluster, to know which one kills workers

    def singles(self):
        return [Chunk(k, k) for k in range(self.first, self.last + 1)]

    def __str__(self):
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"

    def of(self):
        return f"character{'s' if self.first < self.last else ''} {self}"


def _named(name, address):
    """Name and address of a worker of Dask, which may have no other name."""
    return str(address) if name is None or str(name) == str(address) else f"{name} at {address}"


class Results:
    """The lines that this run adds to the results."""

    def __init__(self, path):
        self.path, self.place, self.outcomes = pathlib.Path(path), 0, {}
        if self.path.exists():
            self.place = self.path.stat().st_size

    def read(self):
        """How many characters have a line of this run."""
        if self.path.exists():
            with self.path.open("rb") as file:
                file.seek(self.place)
                for line in file:
                    if not line.endswith(b"\n"):
                        break  # it is being written
                    self.place += len(line)
                    one = json.loads(line)
                    self.outcomes[one["input"], one["output"]] = one["outcome"]
        return len(self.outcomes)

    def __str__(self):
        counts = collections.Counter(self.outcomes.values())
        return ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))


class Farm:
    FIRST_CHUNK = 4  # characters, before their time is known
    NEW_CLUSTER = 20  # seconds without a worker on this machine: Dask has given up starting them
    MOST_TRIES = 2  # of a chunk whose command fails; then its characters go one by one

    def __init__(self, args, bind):
        self.args = args
        self.tail = [*args.inputs, "-o", args.output]
        for word in ("results", "timeout", "memory", "max-l1", "max-distance", "min-agreement", "check"):
            value = getattr(args, word.replace("-", "_"))
            self.tail += [f"--{word}", str(value)] if value is not None else []
        self.bind = ["--", *bind] if bind else []
        self.cluster = self.client = None
        self.given_up = 0
        self.results = Results(args.results or os.path.join(args.output, "results.jsonl"))
        self.each = None      # seconds that a character takes a worker
        self.workers = {}     # address: name, of those that were there last
        self.told = 0.0       # when progress was printed last
        self.seen = time.monotonic()  # when there was a worker last

    def batch(self, *words):
        return [self.args.sinew, "batch", *self.tail, *words, *self.bind]

    def count(self):
        """The number of characters in the list."""
        done = subprocess.run(self.batch("--commands"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            sys.exit(done.returncode)
        return len(done.stdout.splitlines())

    # The cluster.

    def connect(self):
        """A client of the scheduler; waits for one that is gone to come back."""
        from distributed import Client, LocalCluster

        if not self.args.scheduler and not self.cluster:
            import dask

            dask.config.set({"distributed.scheduler.allowed-failures": 1})
            self.cluster = LocalCluster(n_workers=self.args.workers or os.cpu_count() or 1, threads_per_worker=1,
                                        dashboard_address=None)
        end = time.monotonic() + self.args.patience
        while True:
            try:
                self.client = Client(self.args.scheduler or self.cluster, timeout=5, set_as_default=False)
                return
            except (OSError, TimeoutError) as error:
                if time.monotonic() > end:
                    raise SystemExit(f"sinew.farm: there is no scheduler at {self.args.scheduler}: {error}")
                time.sleep(0.5)

    def close(self):
        for thing in (self.client, self.cluster):
            if thing:
                try:
                    thing.close(timeout=5)
                except Exception:  # a connection that is gone
                    pass
        self.client = self.cluster = None

    def reconnect(self, chunks):
        self.say("the scheduler is gone; waiting for it")
        try:
            self.client.close(timeout=1)
        except Exception:  # the connection is gone
            pass
        for chunk in chunks:
            chunk.future = None
        self.connect()

    # The work.

    def submit(self, chunk):
        words = ["--only", str(chunk), "--quiet", "--jobs", str(self.args.jobs)]
        words += ["--retry"] if self.args.retry else []
        chunk.future = self.client.submit(run_chunk, self.batch(*words), os.getcwd(), pure=False, retries=0)

    def give_up(self, chunk, why):
        """Writes a line for a character that no worker survives."""
        self.given_up += 1
        self.say(f"character {chunk} is given up: {why}")
        subprocess.run(self.batch("--only", str(chunk), "--quiet", "--give-up", why), stdin=subprocess.DEVNULL)

    def finished(self, chunk):
        """The chunks that take the place of one whose future has ended."""
        from distributed.scheduler import KilledWorker

        if chunk.future.status in ("cancelled", "lost"):
            chunk.future = None  # the scheduler is a new one
            return [chunk]
        try:
            code, message, seconds = chunk.future.result(timeout=30)
        except KilledWorker as killed:
            last = killed.last_worker
            self.say(f"worker {_named(getattr(last, 'name', None), getattr(last, 'address', last))} was killed at {chunk.of()}")
            if chunk.first < chunk.last:
                return chunk.singles()
            # A dying worker makes all that wait for it suspect: the guilty one is found by running it alone.
            if not chunk.alone:
                chunk.alone, chunk.future = True, None
                return [chunk]
            self.give_up(chunk, "the workers that bound it were killed")
            return []
        except Exception as error:  # the connection to the scheduler or to the worker
            code, message, seconds = -1, f"{type(error).__name__}: {error}", 0
        chunk.future = None
        if code in (0, 1):
            each = seconds / (chunk.last - chunk.first + 1)
            self.each = each if self.each is None else 0.7 * self.each + 0.3 * each
            return []
        chunk.tries += 1
        if chunk.tries < self.MOST_TRIES:
            return [chunk]
        if chunk.first < chunk.last:
            return chunk.singles()
        self.give_up(chunk, message.strip().splitlines()[-1] if message.strip() else f"its worker ended with {code}")
        return []

    def next_chunk(self, first, count):
        """From character `first` on: as many as take --chunk-seconds, and at the end fewer, so that all workers end alike."""
        left, workers = count - first + 1, max(1, len(self.workers))
        size = self.args.chunk or (self.FIRST_CHUNK if self.each is None else
                                   int(min(self.args.chunk_seconds / max(self.each, 1e-3), -(-left // (2 * workers)))))
        return Chunk(first, min(first + max(1, size) - 1, count))

    def watch(self, count, begin, chunks):
        """Names workers that are gone, waits for new ones, and prints progress."""
        now = time.monotonic()
        if now - self.told < 2:
            return
        self.told = now
        if self.client.status == "running":
            there = {address: _named(worker.get("name"), address)
                     for address, worker in self.client.scheduler_info()["workers"].items()}
            for address in self.workers.keys() - there.keys():
                self.say(f"worker {self.workers[address]} is gone")
            self.workers = there
        if self.workers:
            self.seen = now
        elif now - self.seen > (self.NEW_CLUSTER if self.cluster else self.args.patience):
            if not self.cluster:
                raise SystemExit(f"sinew.farm: there is no worker at {self.args.scheduler}: start some, then run this again")
            self.say("no worker is left on this machine; starting new ones")
            self.close()
            for chunk in chunks:
                chunk.future = None
            self.connect()
            self.seen = now
        done = self.results.read()
        if done and done != self.shown:
            self.shown, spent = done, now - begin
            self.say(f"{done} of {count} characters in {spent:.0f} s, about {spent * (count - done) / done:.0f} s left: "
                     f"{self.results}")

    def run(self):
        count, begin, first, chunks = self.count(), time.monotonic(), 1, []
        self.shown = 0
        self.connect()
        self.say(f"{count} characters")
        try:
            while chunks or first <= count:
                if self.client.status != "running":
                    self.reconnect(chunks)
                self.watch(count, begin, chunks)
                while first <= count and len(chunks) < 2 * max(1, len(self.workers)):
                    chunks.append(self.next_chunk(first, count))
                    first = chunks[-1].last + 1
                for chunk in [c for c in chunks if not c.alone] or chunks[:1]:
                    if chunk.future is None:
                        self.submit(chunk)
                time.sleep(0.1)
                left = []
                for chunk in chunks:
                    waits = chunk.future is None or chunk.future.status == "pending"
                    left += [chunk] if waits else self.finished(chunk)
                chunks = left
        finally:
            self.close()
        # Everything is there: this only counts, makes the page, and binds what was lost.
        done = subprocess.run(self.batch("--html", self.args.html or os.path.join(self.args.output, "index.html"), "--quiet"),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        if not self.args.quiet:
            bound = self.results.read()
            before = f", {count - bound} done before" if bound < count else ""
            print(f"{count} characters in {time.monotonic() - begin:.1f} s: {str(self.results) or 'nothing to do'}{before}")
        return done.returncode

    def say(self, text):
        if not self.args.quiet:
            print(f"sinew.farm: {text}", file=sys.stderr, flush=True)


def main():
    words = sys.argv[1:]
    cut = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="python3 -m sinew.farm", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("inputs", nargs="+", help="folders, models, lists and manifests, as of sinew batch")
    parser.add_argument("-o", "--output", required=True, help="folder for the results, which all machines see")
    parser.add_argument("--scheduler", help="address of a Dask scheduler; default: a cluster on this machine")
    parser.add_argument("--workers", type=int, default=0, help="workers of a cluster on this machine; 0 = processors")
    parser.add_argument("--chunk-seconds", type=float, default=60, help="what a task of several characters should take "
                        "(default 60); fewer are lost if its worker is killed, more cost less")
    parser.add_argument("--chunk", type=int, default=0, help="characters of a task, instead of --chunk-seconds")
    parser.add_argument("--jobs", type=int, default=1, help="characters at a time in a worker (default 1)")
    parser.add_argument("--patience", type=float, default=600, help="seconds to wait for a scheduler that is gone")
    parser.add_argument("--sinew", default="sinew", help="the program, on the workers as well")
    parser.add_argument("--html", help="the page over all characters; default: index.html in the folder")
    parser.add_argument("--retry", action="store_true", help="try again what failed before")
    parser.add_argument("--quiet", action="store_true", help="print errors only")
    for word, text in (("results", "as of sinew batch"), ("timeout", "seconds for each character"),
                       ("memory", "MB for each worker"), ("max-l1", "gate"), ("max-distance", "gate"),
                       ("min-agreement", "gate"), ("check", "gate: a profile of sinew check, or default")):
        parser.add_argument(f"--{word}", help=text)
    args = parser.parse_args(words[:cut])
    if not shutil.which(args.sinew):
        parser.error(f"the program {args.sinew} is not there: it is not a part of the Python package. Install it on every worker "
                     "(the .deb or the tarball of `make package`, docs/install.md), or name it: --sinew PATH")
    try:
        import dask

        # Its warnings are about what this file handles: workers and schedulers that end.
        dask.config.set({"logging": {name: "critical" for name in ("distributed", "distributed.client", "asyncio",
                                                                    "distributed.scheduler", "distributed.nanny",
                                                                    "distributed.worker", "tornado")}})
        import distributed  # noqa: F401
    except ImportError:
        sys.exit("sinew.farm needs Dask: apt-get install python3-distributed, or pip install distributed")
    sys.exit(Farm(args, words[cut + 1:]).run())


if __name__ == "__main__":
    main()
