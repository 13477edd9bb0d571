"""Isolation: histories of random transactions at every level, plain and locking reads, checked for anomalies (checker.py).

    run.py HOST:PORT [--seconds N] [--sessions N] [--level L] [--reads R]      a running server
    run.py --binary B [--kills] [--seconds N | --total N]                      a server of its own; --kills: some rounds end with kill -9

A round runs one workload at one level; an anomaly that MySQL 9.7 does not allow there fails. What is allowed was measured on
MySQL 9.7 with this program."""
import argparse
import collections
import math
import pathlib
import random
import sys
import threading
import time

import client
from checker import anomalies

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import running  # noqa: E402

PROGRESS_SECONDS = 60
WEAK = {"G-single", "G2-item", "P4"}
DIRTY = WEAK | {"G1a", "G1b", "G1c", "order", "internal"}


def allowed(level, reads):
    """Anomalies that may be seen."""
    if level == "SERIALIZABLE" or reads == "locking":
        return set()
    if level == client.STRICT:
        return {"G2-item"}
    return DIRTY if level == "READ UNCOMMITTED" else WEAK


def shape(options, at):
    """Workload, level and reads of round `at`: all in turn."""
    combinations = [(name, level, reads) for level in client.LEVELS for reads in client.READS for name in ("lists", "registers")
                    if options.level in (None, level) and options.reads in (None, reads)
                    and (level, name) != ("READ UNCOMMITTED", "registers")]
    return combinations[at % len(combinations)]


def round_of(options, host, port, at, server):
    """(anomalies, transactions, errors, name of the round)."""
    name, level, reads = shape(options, at)
    client.prepare(host, port)
    killer = None
    if server and options.kills and at % 4 == 3:
        killer = threading.Timer(random.uniform(0.05, 0.5), server.kill)
        killer.start()
    history, errors = client.play(host, port, name, level, reads, options.sessions, options.transactions, f"{options.seed} {at}")
    if killer:
        killer.join()
        server.start()
    if name == "lists":
        found = anomalies(history, client.final_lists(host, port))
    else:
        ordered, found = client.in_order(history)
        found += anomalies(ordered, {})
    return found, len(history), errors, f"{name}, {level}, {reads} reads" + (", kill -9" if killer else "")


def run(options, host, port, server=None):
    """(number of forbidden anomalies, transactions)."""
    seen, errors, total, bad = collections.defaultdict(collections.Counter), collections.Counter(), 0, 0
    start, at = time.monotonic(), 0
    said, end = start, start + (math.inf if options.total else options.seconds)
    while time.monotonic() < end and total < (options.total or math.inf):
        found, count, failed, name = round_of(options, host, port, at, server)
        at, total = at + 1, total + count
        errors.update(failed)
        _, level, reads = shape(options, at - 1)
        for anomaly, what in found:
            seen[f"{level}, {reads}"][anomaly] += 1
            if anomaly not in allowed(level, reads):
                bad += 1
                if bad <= 10:
                    print(f"round {at - 1} ({name}), seed {options.seed}: {anomaly}: {what}"[:600])
        if time.monotonic() > said + PROGRESS_SECONDS:
            said = time.monotonic()
            print(f"{said - start:.0f} s: {total} transactions in {at} rounds, {bad} forbidden anomalies", flush=True)
    for name, counts in sorted(seen.items()):
        print(f"{name} reads: {dict(counts)}")
    print(f"{total} transactions in {at} rounds, errors {dict(errors)}, {bad} forbidden anomalies", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?")
    parser.add_argument("--binary")
    parser.add_argument("--kills", action="store_true", help="every fourth round ends with kill -9")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--total", type=int, help="transactions, however long they take")
    parser.add_argument("--sessions", type=int, default=12)
    parser.add_argument("--transactions", type=int, default=60, help="of a session in a round")
    parser.add_argument("--level", choices=client.LEVELS)
    parser.add_argument("--reads", choices=client.READS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.target:
        host, port = options.target.split(":")
        sys.exit(run(options, host, int(port)) > 0)
    with running(options.binary) as server:
        bad = run(options, "127.0.0.1", server.port, server)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
