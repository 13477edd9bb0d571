"""The 40 queries: see README.md.

    run.py compare IRUKA MYSQL   answers must be equal, times side by side      (each server is HOST:PORT)
    run.py record MYSQL          writes the answers' digests to results.json
    run.py check IRUKA           compares the answers with results.json
    run.py regret IRUKA          the chosen plans' times beside those of the best forced ones"""
import argparse
import json
import os
import pathlib
import statistics
import sys

import answers
import catalogue
import generate
import regret as forced_plans
import servers

HERE = pathlib.Path(__file__).resolve().parent
RECORD, KNOWN = HERE / "results.json", HERE / "known.txt"
RATIO_MAX = 1.2
# Of the chosen plan's time over the best forced plan's, and of how many queries it may be more.
REGRET_MAX, REGRETS_MAX = 1.3, 2


def repeats_for(seconds):
    return max(1, min(50, int(0.02 / max(seconds, 1e-6))))


def measure(query, mysql, iruka, options):
    """One line of the report: the answers of both, compared, and the median times of further runs in turn."""
    pair = (mysql, iruka)
    first = [server.run(query.text, options.limit) for server in pair]
    line = {"query": query.name, "rows": len(first[0].rows), "late": [server.name for server, answer in zip(pair, first) if answer.late],
            "difference": None}
    if not line["late"]:
        line["difference"] = answers.difference(*first, query.ordered)
    samples = [[answer.seconds] for answer in first]
    # The same for both, or a slow server's first run, which reads pages, would be compared with the other's later ones.
    runs = options.runs if max(answer.seconds for answer in first) < options.limit / 4 else 1
    for _ in range(runs):
        for server, answer, own in zip(pair, first, samples):
            if not answer.late and not answer.error:
                own.append(server.seconds(query.text, repeats_for(answer.seconds), options.limit))
    # The first run counts only where there is no other.
    line["mysql_ms"], line["iruka_ms"] = (1e3 * statistics.median(own[1:] or own) for own in samples)
    line["ratio"] = line["iruka_ms"] / line["mysql_ms"]
    return line


def row_text(line):
    over = {name: ">" for name in line["late"]}
    remark = f"  DIFFERS: {line['difference'][:300]}" if line["difference"] else ""
    return (f"{line['query']:5} {line['rows']:6} {over.get('MySQL', ''):>1}{line['mysql_ms']:10.2f} {over.get('Iruka', ''):>1}{line['iruka_ms']:10.2f} "
            f"{line['ratio']:8.2f}{' *' if line['ratio'] > RATIO_MAX else ''}{remark}")


def report(lines):
    """Prints the sums; whether all answers were seen and are equal."""
    mysql_ms, iruka_ms = (sum(line[name] for line in lines) for name in ("mysql_ms", "iruka_ms"))
    print(f"total        {mysql_ms:11.2f} {iruka_ms:11.2f} {iruka_ms / mysql_ms:8.2f}")
    slow = sum(line["ratio"] > RATIO_MAX for line in lines)
    different = [line["query"] for line in lines if line["difference"]]
    unseen = [line["query"] for line in lines if line["late"]]
    print(f"{slow} of {len(lines)} above {RATIO_MAX}; answers differ: {', '.join(different) or 'none'}; over the limit: {', '.join(unseen) or 'none'}")
    return not different and not unseen


def explain(queries, lines, pair):
    texts = {query.name: query.text for query in queries}
    for line in sorted(lines, key=lambda line: -line["ratio"]):
        if line["ratio"] > RATIO_MAX:
            for server in pair:
                print(f"\n=== {line['query']} {line['ratio']:.2f} {server.name}\n{server.explain(texts[line['query']]).rstrip()}")


def compare(options, files):
    queries = catalogue.queries(options.scale, options.only)
    iruka, mysql = (servers.Server(name, address, options.clock) for name, address in zip(("Iruka", "MySQL"), options.servers))
    for server in (iruka, mysql):
        server.use(files, options.scale, options.reload)
    print("query   rows    MySQL ms    Iruka ms    ratio")
    lines = []
    for query in queries:
        lines.append(measure(query, mysql, iruka, options))
        print(row_text(lines[-1]), flush=True)
    print(f"{options.clock} time; load average of the last minute: {os.getloadavg()[0]:.2f}")
    equal = report(lines)
    if options.explain:
        explain(queries, lines, (iruka, mysql))
    if options.drop:
        for server in (iruka, mysql):
            server.drop()
    if options.json:
        figures = {"scale": options.scale, "clock": options.clock, "runs": options.runs, "queries": lines}
        pathlib.Path(options.json).write_text(json.dumps(figures, indent=1) + "\n")
    return equal


def record(options, files):
    server = servers.Server("MySQL", options.servers[0])
    server.use(files, options.scale, options.reload)
    results = {}
    for query in catalogue.queries(options.scale):
        answer = server.run(query.text, options.limit)
        if answer.error or not answer.rows:
            raise SystemExit(f"{query.name}: {answer.error or 'no rows'}")
        results[query.name] = answers.recorded(answer, query.ordered)
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(result)}" for name, result in results.items())
    RECORD.write_text(f'{{"scale": {options.scale}, "data": "{generate.version()}", "queries": {{\n{lines}\n}}}}\n')
    return True


def known_reasons(names):
    """Reasons of the queries that fail today, by name."""
    lines = KNOWN.read_text(encoding="utf8").splitlines()
    reasons = dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    if reasons.keys() - names:
        raise SystemExit(f"known.txt names queries that are not there: {', '.join(sorted(reasons.keys() - names))}")
    return reasons


def check(options, files):
    golden = json.loads(RECORD.read_text())
    if golden["data"] != generate.version():
        print("the generator or a schema has changed since results.json was recorded: run.py record")
        return False
    names = {query.name for query in catalogue.queries(golden["scale"])}
    if names != set(golden["queries"]):
        print(f"results.json and sql/ have not the same queries: {', '.join(sorted(names ^ set(golden['queries'])))}")
        return False
    server, reasons, failed, expected = servers.Server("Iruka", options.servers[0]), known_reasons(names), 0, 0
    server.use(files, golden["scale"], options.reload)
    queries = catalogue.queries(golden["scale"], options.only)
    for query in queries:
        answer, recorded = server.run(query.text, options.limit), golden["queries"][query.name]
        same = answers.matches(recorded, answer, query.ordered)
        if query.name not in reasons and not same:
            print(f"{query.name}: {recorded} against {answer.error or answers.recorded(answer, query.ordered)}")
        elif query.name in reasons and same:
            print(f"{query.name} agrees, but known.txt has it: {reasons[query.name]}")
        failed += same == (query.name in reasons)
        expected += not same and query.name in reasons
    print(f"{len(queries)} queries at scale {golden['scale']:g}, {failed} failed, {expected} as known")
    return not failed


def regret(options, files):
    server = servers.Server("Iruka", options.servers[0], options.clock)
    server.use(files, options.scale, options.reload)
    print("query   chosen ms     best ms    ratio")
    over = 0
    for query in catalogue.queries(options.scale, options.only):
        chosen, best, by = forced_plans.regret(query, server, options)
        ratio = chosen / best
        over += ratio > REGRET_MAX
        print(f"{query.name:5} {1e3 * chosen:11.2f} {1e3 * best:11.2f} {ratio:8.2f}{' *' if ratio > REGRET_MAX else ''}", flush=True)
        if ratio > REGRET_MAX and options.explain:
            print(f"{by}\n--- chosen\n{server.explain(query.text)}\n--- forced\n{server.explain(by)}")
    print(f"{options.clock} time; load average of the last minute: {os.getloadavg()[0]:.2f}; {over} above {REGRET_MAX}")
    return over <= REGRETS_MAX


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["compare", "record", "check", "regret"])
    parser.add_argument("servers", nargs="+", metavar="HOST:PORT")
    parser.add_argument("--scale", type=float, default=None, help="of TPC-H's 6 million lines; 0.1 to compare, 0.01 to record")
    parser.add_argument("--only", help="names of queries, with commas")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of a query before it is killed")
    parser.add_argument("--clock", choices=["wall", "cpu"], default="wall", help="cpu: the time that the server's process used, if it is local")
    parser.add_argument("--json", help="file for the figures")
    parser.add_argument("--explain", action="store_true", help=f"print both plans of queries above {RATIO_MAX}")
    parser.add_argument("--reload", action="store_true", help="fill the schemas even if they are full")
    parser.add_argument("--drop", action="store_true", help="drop the schemas behind a comparison")
    options = parser.parse_args()
    if len(options.servers) != (2 if options.mode == "compare" else 1):
        parser.error("compare needs two servers, the others one")
    options.scale = options.scale or (0.1 if options.mode in ("compare", "regret") else 0.01)
    files = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")).resolve() / "bench"
    sys.exit(not {"compare": compare, "record": record, "check": check, "regret": regret}[options.mode](options, files))


main()
