#!/usr/bin/env python3
"""Conformance: recorded statement streams of MySQL's own test suite against this server.

    run.py HOST:PORT [--only GLOB] [--causes N] [--examples N --like TEXT] [--document FILE]

The streams and the program that replays them are not in this repository; CONFORMANCE names their directory. The score is told over all statements,
and over those that are in scope (`scope.py`), by suite and by kind of statement. --causes lists what most often differs, in scope;
--examples shows statements of a cause. --document puts the tables between the marks of a Markdown file.
"""
import argparse
import collections
import fnmatch
import glob
import json
import os
import pathlib
import re
import sys
import tarfile
import tempfile

sys.path.insert(0, os.environ.get("CONFORMANCE", "../shared/conformance"))
import replay  # noqa: E402

import scope  # noqa: E402

BEGIN, END = "<!-- conformance: begin -->", "<!-- conformance: end -->"
# Kinds of statements with fewer than these are one line.
KIND_STATEMENTS_MIN = 150


class Counts:
    """How many statements there are, and how many have MySQL's outcome."""

    def __init__(self):
        self.all = self.same = 0

    def add(self, same):
        self.all += 1
        self.same += same

    def share(self):
        return 100 * self.same / max(1, self.all)

    def __str__(self):
        return f"{self.share():6.2f}% of {self.all:6d}"


def loaded(path):
    with open(path) as lines:
        return [json.loads(line) for line in lines]


def cause_of(text, want, got, warns):
    """A few words by which differences of one kind have one name."""
    if warns:
        rows = lambda outcome: outcome.get("r") if isinstance(outcome.get("r"), list) else []
        codes = lambda outcome: collections.Counter((row[0], row[1]) for row in rows(outcome))
        lacks, more = codes(want) - codes(got), codes(got) - codes(want)
        if not lacks and not more:
            return "warnings: text or order of " + ",".join(sorted({row[1] for row in rows(want)}))
        return f"warnings: lacks {sorted(lacks)[:2]} has {sorted(more)[:2]}"
    if "e" in got and got.get("e") != want.get("e"):
        message = re.sub(r"'[^']*'|\d+", "?", got.get("msg", ""))[:70]
        return f"error {got['e']} {message} (want {want.get('e', 'rows')})"
    if "e" in want:
        return f"no error (want {want['e']})"
    if want.get("c") != got.get("c"):
        return f"columns of {replay.kind(text)}"
    return f"rows or count of {replay.kind(text)}"


class Score:
    """The outcomes of all streams."""

    def __init__(self):
        self.total, self.scoped = Counts(), Counts()
        self.warnings, self.scoped_warnings = Counts(), Counts()
        self.suites = collections.defaultdict(lambda: (Counts(), Counts()))
        self.kinds = collections.defaultdict(Counts)
        self.causes = collections.Counter()
        self.examples = collections.defaultdict(list)

    def add_stream(self, name, stream, expected, got):
        follower, suite = scope.Scope(), name.split(".")[0]
        for at, want in enumerate(expected):
            text = stream[at][2] if stream[at][1] == "Q" else ""
            inside = follower.admits(stream[at][0], text) if text else True
            if "skip" in want or "conn" in want or want.get("unstable") or want.get("e", 0) < 0:
                continue
            have = got[at] if at < len(got) else {"e": -9}
            same = replay.key(want) == replay.key(have)
            warns = want.get("c") == ["Level", "Code", "Message"]
            whole, scoped = (self.warnings, self.scoped_warnings) if warns else (self.total, self.scoped)
            whole.add(same)
            if not warns:
                self.suites[suite][0].add(same)
            if not inside:
                continue
            scoped.add(same)
            if not warns:
                self.suites[suite][1].add(same)
                self.kinds[replay.kind(text)].add(same)
            if not same:
                cause = cause_of(text, want, have, warns)
                self.causes[cause] += 1
                before = stream[at - 1][2] if warns and at else ""
                self.examples[cause].append((name, at, before, text, want, have))

    def tables(self):
        lines = ["| suite | statements | equal | in scope | equal |", "| --- | --- | --- | --- | --- |"]
        for suite, (whole, scoped) in sorted(self.suites.items()):
            lines.append(f"| {suite} | {whole.all} | {whole.share():.1f}% | {scoped.all} | {scoped.share():.1f}% |")
        lines.append(f"| all | {self.total.all} | {self.total.share():.1f}% | {self.scoped.all} | {self.scoped.share():.1f}% |")
        lines.append(f"| SHOW WARNINGS | {self.warnings.all} | {self.warnings.share():.1f}% | {self.scoped_warnings.all} | {self.scoped_warnings.share():.1f}% |")
        lines += ["", "| kind of statement, in scope | statements | equal |", "| --- | --- | --- |"]
        rest = Counts()
        for kind, counts in sorted(self.kinds.items(), key=lambda item: -item[1].all):
            if counts.all >= KIND_STATEMENTS_MIN:
                lines.append(f"| {kind} | {counts.all} | {counts.share():.1f}% |")
            else:
                rest.all, rest.same = rest.all + counts.all, rest.same + counts.same
        lines.append(f"| others | {rest.all} | {rest.share():.1f}% |")
        return "\n".join(lines)


def measured(target, only, kept):
    host, port = target.split(":")
    pack = pathlib.Path(replay.__file__).parent / "public.tar.xz"
    directory = kept or tempfile.mkdtemp(prefix="conformance-")
    if not os.path.exists(f"{directory}/got"):
        tarfile.open(pack).extractall(directory, filter="data")
        streams = [path for path in sorted(glob.glob(f"{directory}/streams/*.jsonl")) if fnmatch.fnmatch(os.path.basename(path), only + ".jsonl")]
        replay.record(host, int(port), streams, f"{directory}/got")
    score = Score()
    for path in sorted(glob.glob(f"{directory}/got/*.jsonl")):
        name = os.path.basename(path)
        score.add_stream(name, loaded(f"{directory}/streams/{name}"), loaded(f"{directory}/expected/{name}"), loaded(path))
    return score


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--only", default="*")
    parser.add_argument("--causes", type=int, default=0)
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--like", default="")
    parser.add_argument("--keep", help="a directory for streams and outcomes: outcomes that are there are not made again")
    parser.add_argument("--document")
    arguments = parser.parse_args()
    if arguments.document and arguments.only != "*":
        parser.error("--document is of all streams")
    score = measured(arguments.target, arguments.only, arguments.keep)
    for cause, count in score.causes.most_common(arguments.causes):
        print(f"{count:6d} x {cause}")
    if arguments.examples:
        for cause, count in score.causes.most_common():
            if arguments.like in cause:
                for name, at, before, text, want, have in score.examples[cause][: arguments.examples]:
                    print(f"--- {name}:{at} {cause}\n  {before[:200]}\n  {text[:400]}\n  want {str(want)[:400]}\n  have {str(have)[:400]}")
    print(score.tables())
    print(f"all {score.total}, in scope {score.scoped} ({100 * score.scoped.all / max(1, score.total.all):.0f}% of all)")
    print(f"warnings {score.warnings}, in scope {score.scoped_warnings}")
    if arguments.document:
        document = pathlib.Path(arguments.document)
        before, _, rest = document.read_text().partition(BEGIN)
        document.write_text(f"{before}{BEGIN}\n{score.tables()}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
