"""Binds every glTF and VRM file of the corpus and checks the result with code independent of sinew.

corpus.py [NAME…]: only files whose path contains a NAME. SINEW_CORPUS names the corpus; exits with 77 without it."""
import json
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import glb
import support


def check(source, out, report_path, options, weight_format="f32", max_influences=4):
    """Binds one file; returns (problems, vertices, seconds)."""
    begin = time.monotonic()
    done = support.sinew("bind", source, "-o", out, "--report", report_path, *options)
    seconds = time.monotonic() - begin
    if done.returncode != 0:
        return [f"exit {done.returncode}: {done.stderr.strip()}"], 0, seconds
    report = json.loads(Path(report_path).read_text())
    problems = []
    coverage, vertices = report["coverage"], report["counts"]["vertices"]
    if coverage["share"] != 1 or coverage["none"] != 0:
        problems.append(f"coverage {coverage}")
    if sum(v for k, v in coverage.items() if k != "share") != vertices:
        problems.append(f"coverage {coverage} does not add up to {vertices} vertices")
    before, after = glb.Doc(source), glb.Doc(out)
    problems += glb.weight_problems(after, weight_format, max_influences)
    new_matrices = any("inverse bind matri" in note for note in report["notes"])
    problems += glb.surgery_problems(before, after, new_matrices=new_matrices)
    return problems, vertices, seconds


def main():
    if not support.CORPUS.is_dir():
        print("skipped: SINEW_CORPUS names no folder")
        return 77
    sources = support.corpus_files(sys.argv[1:])
    assert sources, f"no file of {support.CORPUS} matches"

    jobs = [(s, "defaults", [], "f32", 4) for s in sources]
    # A small, a multi-part, a text and a compressed file are also bound with other formats and numbers of weights.
    for s in sources:
        if any(n in str(s) for n in ("khr_fox", "vrm_godette", "riggedsimple", "valid_aian", "flamingo")):
            jobs += [
                (s, "u8", ["--weight-format", "u8"], "u8", 4),
                (s, "u16, 8", ["--weight-format", "u16", "--max-influences", "8"], "u16", 8),
                (s, "all", ["--max-influences", "all"], "f32", 0),
            ]

    failed = 0
    with tempfile.TemporaryDirectory(prefix="sinew-corpus-") as folder:

        def work(numbered):
            n, (source, label, options, weight_format, limit) = numbered
            out = Path(folder) / f"{n}{source.suffix}"
            try:
                return out, *check(source, out, Path(folder) / f"{n}.json", options, weight_format, limit)
            except Exception as e:  # one bad file must not hide the others
                return out, [f"{type(e).__name__}: {e}"], 0, 0

        with ThreadPoolExecutor(2) as pool:
            results = list(pool.map(work, enumerate(jobs)))

        twins = {s: s.with_suffix(".decoded" + s.suffix) for s in sources}
        written = [(job[0], r[0]) for job, r in zip(jobs, results) if r[0].exists()]
        originals = sorted({f for s, _ in written for f in (s, twins[s]) if f.exists()})
        messages = support.validate([*originals, *(out for _, out in written)])
        if messages is None:
            print("skipped: gltf-validator is not installed; the other checks were made")
        for (source, label, *_), (out, problems, vertices, seconds) in zip(jobs, results):
            if messages and out.exists():
                before = dict(messages[str(source)])
                # The validator does not read Draco data, so messages on the decoded twin count as known.
                if twins[source].exists():
                    # Bounds do not: they are written with the data.
                    for code, n in messages[str(twins[source])].items():
                        if "MISMATCH" not in code:
                            before[code] = max(n, before.get(code, 0))
                problems += [
                    f"validator: {code}: {a} before, {b} after"
                    for code, (a, b) in support.new_messages(before, messages[str(out)]).items()
                ]
            name = source.relative_to(support.CORPUS)
            print(f"{'FAILED' if problems else 'ok':6} {vertices:7} vertices {seconds:6.2f} s  {name} ({label})")
            for problem in problems[:8]:
                print(f"         {problem}")
            failed += bool(problems)
    print(f"corpus: {len(jobs) - failed} of {len(jobs)} runs passed, {len(sources)} files")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
