"""The Tuningathon's ladder: tgbench on Iruka with its defaults, with kept results, and behind MySQL Proxy's three scripts of the origin, and on
peers that run already, with the scripts where they have a query cache. Each first and second run: wall time and the servers' CPU time.

    tuningathon.py --binary B [--peer HOST:PORT ...] [--runs 2] [--pages 1670757] [--folder F] [--keep]

Writes tuningathon.md, .svg and .png into the folder above `--folder`. The peers are of this machine, with local_infile on and a user root
without password; one that does not answer is left out. The tables are loaded into a schema `tuningathon` of each and dropped behind
the run, unless `--keep` leaves them for the next one. Iruka starts anew for each rung, so that its first run finds an empty buffer pool; a
peer's is as it happens to be."""
import argparse
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "queries"), str(HERE.parent / "tests")]
import clocks  # noqa: E402
import ladder_report  # noqa: E402
import tgbench  # noqa: E402
import wiki  # noqa: E402
from with_server import Server, free_port  # noqa: E402

SCHEMA = "tuningathon"
SCRIPTS = HERE.parent / "tests/proxy/origin"
# A result takes at most a quarter of it, and that of Q4 has half a megabyte.
CACHE_BYTES = 16 << 20
CACHE = f"--query-cache-size={CACHE_BYTES}"
OLD_RULES = "--query-cache-compatibility=5.5"
SCRIPT_NAMES = ("q0", "q0q1", "q0q1q2")


@dataclass
class Run:
    """One run of tgbench: seconds of Q0 to Q5, CPU seconds of server and proxy, results that the cache served."""
    seconds: list
    server_cpu: float
    proxy_cpu: float | None
    hits: int | None


@dataclass
class Rung:
    server: str
    name: str
    options: tuple = ()
    script: str | None = None
    first: str = tgbench.RESET
    runs: list = field(default_factory=list)

    def later(self):
        """The run behind the first one: of several the one with the median total."""
        later = sorted(self.runs[1:], key=lambda run: sum(run.seconds))
        return later[(len(later) - 1) // 2]


def iruka_rungs():
    yield Rung("Iruka", "defaults")
    yield Rung("Iruka", "results kept", (CACHE,))
    yield Rung("Iruka", "results kept, Q0 is FLUSH", (CACHE,), first=tgbench.FLUSH)
    for name in SCRIPT_NAMES:
        yield Rung("Iruka", f"5.5's rules, proxy with {name}", (CACHE, OLD_RULES), name)
    yield Rung("Iruka", f"5.5's rules, {name} in the server", (CACHE, OLD_RULES, f"--proxy-lua-script={script_path(name)}"))


def script_path(name):
    return SCRIPTS / f"tuningathon5_{name}.lua"


def address_of(port):
    return {"host": "127.0.0.1", "port": port, "user": "root", "password": ""}


@contextlib.contextmanager
def asking(port, **more):
    """A function that answers one statement after the other."""
    connection = tgbench.driver.connect(**address_of(port), local_infile=True, **more)
    connection.autocommit(True)

    def ask(statement):
        with connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()
    ask.connection = connection
    try:
        yield ask
    finally:
        connection.close()


def prepare(name, port, folder, pages):
    """Fills the schema unless it has these very rows."""
    paths = wiki.files(folder, pages)
    version = paths["page"].stem
    with asking(port) as ask:
        try:
            if ask(f"SELECT version FROM {SCHEMA}.loaded") == ((version,),):
                return
        except tgbench.driver.MySQLError:
            # No such schema, or one that was left half full.
            pass
        ask(f"DROP DATABASE IF EXISTS {SCHEMA}")
        ask(f"CREATE DATABASE {SCHEMA}")
        ask(f"USE {SCHEMA}")
        start = time.monotonic()
        with ask.connection.cursor() as cursor:
            for table in wiki.load(cursor, paths):
                print(f"{name}: {table} loaded, {time.monotonic() - start:.0f} s", flush=True)
        ask("CREATE TABLE loaded (version CHAR(40) PRIMARY KEY)")
        ask(f"INSERT INTO loaded VALUES ('{version}')")


@contextlib.contextmanager
def proxy_before(binary, port, script, log_path):
    """Port and process of a proxy with the script before the server."""
    own = free_port()
    with open(log_path, "wb") as log:
        process = subprocess.Popen([str(binary), "proxy", "-P", f"127.0.0.1:{own}", "-b", f"127.0.0.1:{port}",
                                    f"--proxy-lua-script={script_path(script)}"], stdout=log, stderr=log)
        try:
            for _ in range(200):
                with contextlib.suppress(tgbench.driver.MySQLError):
                    tgbench.driver.connect(**address_of(own)).close()
                    break
                time.sleep(0.05)
            else:
                raise RuntimeError(f"the proxy does not answer: {log_path.read_text(errors='replace')}")
            yield own, process.pid
        finally:
            process.terminate()
            process.wait(60)


def hits(port):
    with asking(port) as ask:
        shown = ask("SHOW GLOBAL STATUS LIKE 'Qcache_hits'")
    return int(shown[0][1]) if shown else None


class Answers:
    """What the queries answer, which must be the same everywhere."""

    def __init__(self):
        self.known = None

    def check(self, rung, results):
        # Of Q3, Q4 and Q5 the order of equal values is free, and with it which of Q3's equals come last.
        rows = [results[1], results[2], len(results[3]), sorted(results[4]), sorted(results[5])]
        self.known = self.known or rows
        for number, (answer, known) in enumerate(zip(rows, self.known), start=1):
            if answer != known:
                raise SystemExit(f"{rung.server}, {rung.name}: Q{number} has another answer than before")


def measure(rung, port, pid, proxy, count, answers):
    """`proxy`: its port and process, or None."""
    server_cpu = clocks.cpu_of(pid)
    proxy_cpu = clocks.cpu_of(proxy[1]) if proxy else lambda: 0.0
    for _ in range(count):
        before, start, proxy_start = hits(port), server_cpu(), proxy_cpu()
        results = tgbench.run(rung.first, **address_of(proxy[0] if proxy else port), database=SCHEMA)
        spent, proxy_spent = server_cpu() - start, proxy_cpu() - proxy_start
        served = None if before is None else hits(port) - before
        answers.check(rung, [rows for _, rows in results])
        run = Run([seconds for seconds, _ in results], spent, proxy_spent if proxy else None, served)
        rung.runs.append(run)
        print(f"{rung.server:16} {rung.name:36} run {len(rung.runs)}: {sum(run.seconds):9.5f} s, server {1000 * spent:9.2f} ms CPU, hits {served}", flush=True)


def climb(rung, binary, port, pid, options, answers):
    if not rung.script:
        return measure(rung, port, pid, None, options.runs, answers)
    log_path = options.folder / "proxy.log"
    with proxy_before(binary, port, rung.script, log_path) as proxy:
        measure(rung, port, pid, proxy, options.runs, answers)
    said = log_path.read_text(errors="replace")
    # The scripts print that they know these two texts.
    for query in ("q0", "q2"):
        seen = said.count(f"[HIT {query.upper()}]")
        if query in rung.script and seen != options.runs:
            raise SystemExit(f"the script {rung.script} saw {seen} of {options.runs} {query.upper()}")


def iruka(options, answers):
    data = options.folder / "iruka"
    log_path = options.folder / "iruka.log"

    def server(*more):
        return Server(options.binary, ["--local-infile=ON", *more], datadir=data, log_path=log_path)
    rungs = list(iruka_rungs())
    data.mkdir(parents=True, exist_ok=True)
    try:
        for number, rung in enumerate(rungs):
            running = server(*rung.options).start()
            try:
                if number == 0:
                    prepare("Iruka", running.port, options.folder, options.pages)
                    running.stop()
                    running = server(*rung.options).start()
                climb(rung, options.binary, running.port, running.process.pid, options, answers)
                running.stop()
            finally:
                if running.process.poll() is None:
                    running.kill()
    finally:
        if not options.keep:
            shutil.rmtree(data)
            log_path.unlink(missing_ok=True)
    return rungs


def peer_name(ask):
    (version, pool), = ask("SELECT VERSION(), @@innodb_buffer_pool_size")
    name = "MariaDB" if "MariaDB" in version else "MySQL"
    return f"{name} {version.split('-')[0]}", f"buffer pool of {pool >> 20} MiB"


@contextlib.contextmanager
def query_cache_on(ask):
    """For the body; what was set before is set again."""
    (kind, size), = ask("SELECT @@GLOBAL.query_cache_type, @@GLOBAL.query_cache_size")
    ask(f"SET GLOBAL query_cache_size = {CACHE_BYTES}")
    ask("SET GLOBAL query_cache_type = ON")
    try:
        yield
    finally:
        ask(f"SET GLOBAL query_cache_type = {kind}")
        ask(f"SET GLOBAL query_cache_size = {size}")


def peer(address, options, answers):
    """Rungs of a peer: as it runs, and with its query cache behind the scripts."""
    port = int(address.rsplit(":", 1)[1])
    try:
        with asking(port) as ask:
            server, name = peer_name(ask)
            shown = ask("SHOW VARIABLES LIKE 'have_query_cache'")
    except tgbench.driver.MySQLError as error:
        print(f"{address} is left out: {error}", flush=True)
        return []
    pid = clocks.listening_process(port)
    rungs = [Rung(server, name)]
    prepare(server, port, options.folder, options.pages)
    try:
        with asking(port) as ask, contextlib.ExitStack() as stack:
            climb(rungs[0], options.binary, port, pid, options, answers)
            if shown and shown[0][1] == "YES":
                stack.enter_context(query_cache_on(ask))
                rungs += [Rung(server, f"query cache, proxy with {script}", script=script) for script in SCRIPT_NAMES]
                for rung in rungs[1:]:
                    ask("RESET QUERY CACHE")
                    climb(rung, options.binary, port, pid, options, answers)
    finally:
        if not options.keep:
            with asking(port) as ask:
                ask(f"DROP DATABASE {SCHEMA}")
    return rungs


def main():
    bench = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", "target")).absolute() / "bench"
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--peer", action="append", default=[], metavar="HOST:PORT")
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--pages", type=int, default=wiki.PAGES)
    parser.add_argument("--folder", type=pathlib.Path, default=bench / "tuningathon", help="for data")
    parser.add_argument("--keep", action="store_true", help="leave the loaded tables for the next run")
    options = parser.parse_args()
    if options.runs < 2:
        parser.error("--runs: at least 2")
    options.folder = options.folder.absolute()
    answers = Answers()
    load_before = os.getloadavg()[0]
    rungs = iruka(options, answers)
    for address in options.peer:
        rungs += peer(address, options, answers)
    load = statistics.mean((load_before, os.getloadavg()[0]))
    print(ladder_report.write(options.folder.parent, rungs, f"{options.pages:,} pages, {options.runs} runs, {os.cpu_count()} processors, load {load:.1f}"))


if __name__ == "__main__":
    main()
