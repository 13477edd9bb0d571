"""Interleavings of sessions: plays `*.spec` files and compares with (or records) what MySQL 9.7 does. README.md has the format.

    run.py check  HOST:PORT [FILE ...] [--workers N]    compare with FILE.result; prints differences
    run.py record HOST:PORT [FILE ...] [--workers N]    write FILE.result; plays everything twice

FILE.known lists specs that differ and may, one name a line; `check` fails when one of them no longer differs."""
import argparse
import concurrent.futures
import difflib
import pathlib
import queue
import sys
import threading
import time

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
# How long a statement is looked at before it counts as blocked: when nothing is known, and when it is expected to be.
UNKNOWN_SECONDS, EXPECTED_SECONDS = 0.25, 0.08
# A statement that is not expected to be blocked has this long.
PATIENCE_SECONDS = 3
LOCK_WAIT_SECONDS = 50


class Session:
    """A connection whose statements run in a thread of their own."""

    def __init__(self, target, schema, account):
        host, port = target.rsplit(":", 1)
        self.connection = pymysql.connect(host=host, port=int(port), user=account, database=schema, autocommit=None)
        self.thread_id = self.connection.thread_id()
        self.statements, self.results = queue.Queue(), queue.Queue()
        self.busy = False
        threading.Thread(target=self.work, daemon=True).start()

    def work(self):
        while (statement := self.statements.get()) is not None:
            self.results.put(execute(self.connection, statement))

    def send(self, statement):
        self.busy = True
        self.statements.put(statement)

    def result(self, seconds):
        """What the statement answered; None while it runs."""
        try:
            answer = self.results.get(timeout=seconds)
        except queue.Empty:
            return None
        self.busy = False
        return answer

    def close(self):
        self.statements.put(None)
        self.connection.close()


def execute(connection, statement):
    try:
        with connection.cursor() as cursor:
            affected = cursor.execute(statement)
            if cursor.description is None:
                last_id = f" id {cursor.lastrowid}" if cursor.lastrowid else ""
                return [f"ok {affected}{last_id}"]
            return [" ".join("NULL" if value is None else str(value) for value in row) for row in cursor.fetchall()] or ["no rows"]
    except pymysql.err.MySQLError as error:
        return [f"error {error.args[0]}"]


class Play:
    """One spec in a schema of its own. `expected` has the lines that the reference answered, to know what should block."""

    def __init__(self, target, schema, control, expected):
        self.target, self.schema, self.control = target, schema, control
        self.expected = expected
        self.sessions, self.lines = {}, []

    def session(self, name):
        if name not in self.sessions:
            account = in_schema(name.partition("@")[2], self.schema) or "root"
            self.sessions[name] = Session(self.target, self.schema, account)
            self.sessions[name].send(f"SET innodb_lock_wait_timeout = {LOCK_WAIT_SECONDS}")
            self.sessions[name].result(PATIENCE_SECONDS)
        return self.sessions[name]

    def answer(self, session, indent="  "):
        """Waits for an answer as long as it takes to tell that the statement is blocked."""
        if self.expected is None:
            seconds = UNKNOWN_SECONDS
        else:
            place = len(self.lines)
            is_blocked = place < len(self.expected) and self.expected[place] == f"{indent}blocked"
            seconds = EXPECTED_SECONDS if is_blocked else PATIENCE_SECONDS
        return session.result(seconds)

    def step(self, name, statement):
        self.lines.append(f"{name}: {statement}")
        if name == "probe":
            return self.probe(statement)
        try:
            session = self.session(name)
        except pymysql.err.MySQLError as error:
            self.lines.append(f"  no connection: error {error.args[0]}")
            return
        if session.busy:
            self.lines.append("  still blocked")
            return
        session.send(in_schema(statement, self.schema))
        answer = self.answer(session)
        self.lines += ["  blocked"] if answer is None else [f"  {line}" for line in answer]
        self.reap(name)

    def reap(self, but):
        """Statements of others that have come to an end with this step."""
        waiting = [(name, session) for name, session in sorted(self.sessions.items()) if session.busy and name != but]
        for name, session in waiting:
            place = len(self.lines)
            ends = self.expected is None or place < len(self.expected) and self.expected[place].startswith(f"  {name} goes on")
            seconds = UNKNOWN_SECONDS if self.expected is None else PATIENCE_SECONDS if ends else EXPECTED_SECONDS / 4
            answer = session.result(seconds)
            if answer is not None:
                self.lines += [f"  {name} goes on: {line}" for line in answer]

    def probe(self, statement):
        session = self.session("probe")
        session.send("BEGIN")
        session.result(PATIENCE_SECONDS)
        session.send(statement)
        answer = self.answer(session)
        if answer is None:
            answer = ["blocked"]
            execute(self.control, f"KILL QUERY {session.thread_id}")
            session.result(PATIENCE_SECONDS)
        self.lines += [f"  {line}" for line in answer]
        session.send("ROLLBACK")
        session.result(PATIENCE_SECONDS)

    def close(self):
        for session in self.sessions.values():
            if session.busy:
                execute(self.control, f"KILL {session.thread_id}")
                session.result(PATIENCE_SECONDS)
            session.close()


def in_schema(text, schema):
    """The text with the name of the schema that the spec has this time."""
    return text.replace("{schema}", schema)


def parse(path):
    """The setup that all specs of a file share, and the steps of each by its name."""
    setup, specs, steps = [], {}, None
    for line in path.read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("== "):
            steps = specs.setdefault(line[3:].strip(), [])
            continue
        name, statement = line.split(": ", 1)
        (setup if steps is None else steps).append((name, statement))
    return setup, specs


def parse_result(path):
    results, lines = {}, []
    for line in path.read_text().splitlines() if path.exists() else []:
        if line.startswith("== "):
            lines = results.setdefault(line[3:], [])
        else:
            lines.append(line)
    return results


def play(target, schema, setup, steps, expected):
    host, port = target.rsplit(":", 1)
    control = pymysql.connect(host=host, port=int(port), user="root", autocommit=True)
    try:
        for statement in (f"DROP DATABASE IF EXISTS {schema}", f"CREATE DATABASE {schema}", f"USE {schema}"):
            execute(control, statement)
        for name, statement in setup + [step for step in steps if step[0] == "setup"]:
            answer = execute(control, in_schema(statement, schema))
            if answer[0].startswith("error"):
                return [f"setup: {statement}", f"  {answer[0]}"]
        game = Play(target, schema, control, expected)
        try:
            for name, statement in steps:
                if name != "setup":
                    game.step(name, statement)
        finally:
            game.close()
        return game.lines
    finally:
        execute(control, f"DROP DATABASE IF EXISTS {schema}")
        control.close()


def play_all(target, path, workers, expected):
    setup, specs = parse(path)
    free = queue.Queue()
    for number in range(workers):
        free.put(f"spec_{path.stem}_{number}")

    def one(name):
        schema = free.get()
        try:
            return play(target, schema, setup, specs[name], None if expected is None else expected.get(name, []))
        finally:
            free.put(schema)

    with concurrent.futures.ThreadPoolExecutor(workers) as pool:
        return dict(zip(specs, pool.map(one, specs)))


def check(target, path, workers):
    expected = parse_result(path.with_suffix(".result"))
    known_path = path.with_suffix(".known")
    known = {line.strip() for line in known_path.read_text().splitlines() if line.strip() and not line.startswith("#")} \
        if known_path.exists() else set()
    failed = 0
    answers = play_all(target, path, workers, expected)
    differing = {name for name, lines in answers.items() if lines != expected.get(name)}
    for name in sorted(differing - known):
        failed += 1
        print(f"{path.name}: {name}")
        for line in difflib.unified_diff(expected.get(name, []), answers[name], "MySQL", "here", lineterm="", n=2):
            print("   ", line)
    for name in sorted(known - differing):
        failed += 1
        print(f"{path.name}: {name} is listed in {known_path.name} and does not differ")
    print(f"{path.name}: {len(answers)} specs, {len(differing)} differ, {len(known)} of them known")
    return failed


def record(target, path, workers):
    first = play_all(target, path, workers, None)
    again = play_all(target, path, workers, first)
    unsteady = [name for name in first if first[name] != again[name]]
    for name in unsteady:
        print(f"{path.name}: {name} is not answered the same twice")
        for line in difflib.unified_diff(first[name], again[name], "first", "again", lineterm="", n=2):
            print("   ", line)
    if not unsteady:
        lines = [line for name, answer in first.items() for line in [f"== {name}", *answer]]
        path.with_suffix(".result").write_text("\n".join(lines) + "\n")
        print(f"{path.name}: {len(first)} specs recorded")
    return len(unsteady)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["check", "record"])
    parser.add_argument("target")
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--workers", type=int, default=8)
    options = parser.parse_args()
    began = time.monotonic()
    paths = options.files or sorted(HERE.glob("*.spec"))
    run = {"check": check, "record": record}[options.command]
    failed = sum(run(options.target, path, options.workers) for path in paths)
    print(f"{len(paths)} files in {time.monotonic() - began:.0f} s, {failed} unexpected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
