"""Binds many characters on a Dask cluster: ``sinew batch`` in chunks, on many machines.

    python3 -m sinew.farm night.jsonl -o bound                                   a cluster on this machine
    python3 -m sinew.farm night.jsonl -o bound --scheduler tcp://head:8786       your own
    python3 -m sinew.farm characters -o bound --chunk 20 -- --method bone-heat   options of bind, for all

A worker runs ``sinew batch --only N-M`` on its chunk. Results are those of ``sinew batch``: the same keys, skipped where
they are done. So a farm can be stopped at any time, and goes on where it was; a killed worker or scheduler loses only the
characters in work. A character that kills its worker again and again gets a line in the results, and the others of its
chunk go on without it. Inputs and outputs must have the same paths on all machines. docs/batch.md has more.
"""
import argparse
import os
import shutil
import subprocess
import sys
import time

# The functions that workers run travel with the task, since this file runs as __main__: workers need no sinew package,
# only the program. So they use nothing else of this file.


def run_chunk(command, folder):
    """On a worker: (exit code, last lines of the errors) of a command, which ends with the worker."""
    import shutil
    import subprocess

    guard = ["setpriv", "--pdeathsig", "TERM", "--"] if shutil.which("setpriv") else []
    try:
        done = subprocess.run(guard + command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, errors="replace")
    except OSError as error:
        return 126, str(error)
    return done.returncode, done.stderr[-2000:]


class Chunk:
    """Characters first to last of the list, from 1."""

    def __init__(self, first, last):
        self.first, self.last, self.tries, self.future = first, last, 0, None
        self.alone = False  # with no other in the cluster, to know which one kills workers

    def singles(self):
        return [Chunk(k, k) for k in range(self.first, self.last + 1)]

    def __str__(self):
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


class Farm:
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
            code, message = chunk.future.result(timeout=30)
        except KilledWorker:
            if chunk.first < chunk.last:
                return chunk.singles()
            # A dying worker makes all that wait for it suspect: the guilty one is found by running it alone.
            if not chunk.alone:
                chunk.alone, chunk.future = True, None
                return [chunk]
            self.give_up(chunk, "the workers that bound it were killed")
            return []
        except Exception as error:  # the connection to the scheduler or to the worker
            code, message = -1, f"{type(error).__name__}: {error}"
        chunk.future = None
        if code in (0, 1):
            return []
        chunk.tries += 1
        if chunk.tries < self.MOST_TRIES:
            return [chunk]
        if chunk.first < chunk.last:
            return chunk.singles()
        self.give_up(chunk, message.strip().splitlines()[-1] if message.strip() else f"its worker ended with {code}")
        return []

    def run(self):
        count = self.count()
        size = max(1, self.args.chunk)
        chunks = [Chunk(first, min(first + size - 1, count)) for first in range(1, count + 1, size)]
        self.connect()
        self.say(f"{count} characters in {len(chunks)} chunks")
        try:
            while chunks:
                if self.client.status != "running":
                    self.reconnect(chunks)
                for chunk in [c for c in chunks if not c.alone] or chunks[:1]:
                    if chunk.future is None:
                        self.submit(chunk)
                time.sleep(0.1)
                left = []
                for chunk in chunks:
                    waits = chunk.future is None or chunk.future.status == "pending"
                    left += [chunk] if waits else self.finished(chunk)
                if len(left) != len(chunks):
                    self.say(f"{len(left)} chunks left")
                chunks = left
        finally:
            self.close()
        # Everything is there: this only counts, makes the page, and binds what was lost.
        return subprocess.run(self.batch("--html", self.args.html or os.path.join(self.args.output, "index.html")),
                              stdin=subprocess.DEVNULL).returncode

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
    parser.add_argument("--chunk", type=int, default=50, help="characters of a task (default 50)")
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
        parser.error(f"the program {args.sinew} is not there (--sinew)")
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
