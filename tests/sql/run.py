"""Golden SQL: runs `*.test` files over a real connection and compares with (or records) the answers beside them.

    run.py check  HOST:PORT [FILE|FOLDER ...]     compare with FILE.result; prints differences
    run.py record HOST:PORT [FILE|FOLDER ...]     write FILE.result; the server is MySQL 9.7, the reference
    run.py note   HOST:PORT [FILE|FOLDER ...]     write today's differences to FILE.known; `check` allows these and no others

expected_failures.txt names tests that fail today, with the reason; `check` fails when one of them passes. See README.md.

A test is statements that end with `;` at a line's end. `-- connection NAME` switches to a named connection,
`-- background` runs the next statement without waiting for it, `-- reap` waits for the connection's statement,
`-- ping` and `-- init_db NAME` send COM_PING and COM_INIT_DB, whose answer is shown with its status and number of warnings.
`-- sorted` sorts the next result's rows, `-- novalues` compares only columns and row count (ids, times).
LOAD DATA LOCAL finds files in this directory. A result holds each statement with its columns and types, rows, affected rows, ids, warnings or error."""
import argparse
import difflib
import os
import pathlib
import re
import sys
import threading

import pymysql
from pymysql.constants import CLIENT, COMMAND, FIELD_TYPE, SERVER_STATUS

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import test_files  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# How the result of a test begins that could not be run.
BROKEN = "harness: "
TYPE_NAMES = {value: name for name, value in vars(FIELD_TYPE).items() if isinstance(value, int)}


def connect(host, port, schema):
    return pymysql.connect(host=host, port=port, user="root", database=schema, charset="utf8mb4", autocommit=None, local_infile=True,
                           client_flag=CLIENT.MULTI_STATEMENTS, conv={}, use_unicode=False, init_command=None)


def text(value):
    if value is None:
        return "NULL"
    try:
        decoded = value.decode("utf8")
        if decoded.isprintable() or "\n" in decoded:
            return decoded.replace("\n", "\\n")
    except UnicodeDecodeError:
        pass
    return "0x" + value.hex()


def column(field):
    flags = "".join(letter for bit, letter in ((1, "N"), (2, "P"), (4, "U"), (8, "K"), (32, "u"), (64, "Z"), (128, "B"), (512, "A"))
                    if field.flags & bit)
    return f"{text(field.name.encode())}:{TYPE_NAMES.get(field.type_code, field.type_code)}({field.length},{field.scale}){flags}"


def run(connection, statement, mark):
    lines = []
    try:
        connection._execute_command(3, statement.encode("utf8"))
        connection._affected_rows = connection._read_query_result(unbuffered=False)
        while True:
            result = connection._result
            if result.description is None:
                info = f" info={result.message.decode()}" if result.message else ""
                insert_id = f" insert_id={result.insert_id}" if result.insert_id else ""
                lines.append(f"ok affected={result.affected_rows}{insert_id}{info}")
            else:
                lines.append("columns " + " | ".join(column(field) for field in result.fields))
                rows = [" | ".join(text(value) for value in row) for row in result.rows]
                if mark == "novalues":
                    rows = [f"{len(rows)} rows"]
                lines += sorted(rows) if mark == "sorted" else rows
            warnings = result.warning_count
            if not result.has_next:
                break
            connection.next_result()
        if warnings and not statement.lower().startswith(("show warnings", "show errors")):
            with connection.cursor() as cursor:
                cursor.execute("SHOW WARNINGS")
                lines += ["warning " + " | ".join(text(value) for value in row) for row in cursor.fetchall()]
    except pymysql.err.MySQLError as error:
        lines.append(f"error {error.args[0]}: {error.args[1] if len(error.args) > 1 else ''}")
    return lines


def send(connection, command, argument):
    """A command that is no statement. All that is shown of the status is whether a transaction is open: SERVER_STATUS_IN_TRANS."""
    try:
        connection._execute_command(command, argument)
        packet = connection._read_packet()
        packet.read_uint8()
        packet.read_length_encoded_integer(), packet.read_length_encoded_integer()
        status, warnings = packet.read_uint16(), packet.read_uint16()
        return [f"ok{' in_trans' if status & SERVER_STATUS.SERVER_STATUS_IN_TRANS else ''} warnings={warnings}"]
    except pymysql.err.MySQLError as error:
        return [f"error {error.args[0]}: {error.args[1]}"]


def statements(source):
    """Yields (directive, argument) and ('statement', text)."""
    pending = []
    for line in source.splitlines():
        words = line.strip().split(maxsplit=2)
        if not pending and words[:1] == ["--"] and len(words) > 1 and words[1] in (
                "connection", "background", "reap", "sorted", "novalues", "ping", "init_db"):
            yield words[1], words[2] if len(words) > 2 else ""
        elif not pending and (not line.strip() or line.startswith(("-- ", "#"))):
            continue
        else:
            pending.append(line)
            if line.rstrip().endswith(";"):
                yield "statement", "\n".join(pending).rstrip().rstrip(";")
                pending = []


class Runner:
    def __init__(self, host, port, schema):
        self.host, self.port, self.schema = host, port, schema
        self.connections, self.running = {}, {}
        self.current, self.mark, self.background = "default", "", False

    def connection(self):
        if self.current not in self.connections:
            self.connections[self.current] = connect(self.host, self.port, self.schema)
        return self.connections[self.current]

    def step(self, kind, argument):
        if kind == "connection":
            self.current = argument
            return [f"-- connection {argument}"]
        if kind in ("sorted", "novalues"):
            self.mark = kind
            return []
        if kind == "background":
            self.background = True
            return []
        if kind == "reap":
            if self.current not in self.running:
                return [f"-- reap {self.current}", "answered at once"]
            thread, lines = self.running.pop(self.current)
            thread.join(30)
            return [f"-- reap {self.current}"] + lines
        if kind in ("ping", "init_db"):
            command = COMMAND.COM_PING if kind == "ping" else COMMAND.COM_INIT_DB
            return [f"-- {kind} {argument}".rstrip()] + send(self.connection(), command, argument)
        lines, mark, self.mark = [], self.mark, ""
        connection = self.connection()
        if self.background:
            self.background = False
            thread = threading.Thread(target=lambda: lines.extend(run(connection, argument, mark)), daemon=True)
            thread.start()
            thread.join(0.3)
            if thread.is_alive():
                self.running[self.current] = (thread, lines)
                return [f"> {argument}", "waits"]
            return [f"> {argument}"] + lines
        return [f"> {argument}"] + run(connection, argument, mark)


def play(host, port, path):
    schema = "golden"
    admin = connect(host, port, None)
    with admin.cursor() as cursor:
        # Others may record at the same server.
        cursor.execute("SELECT GET_LOCK('recorder of golden tests', 600)")
        cursor.execute(f"DROP DATABASE IF EXISTS {schema}")
        cursor.execute(f"CREATE DATABASE {schema}")
    runner = Runner(host, port, schema)
    lines = []
    for kind, argument in statements(path.read_text(encoding="utf8")):
        lines += runner.step(kind, argument)
    for connection in runner.connections.values():
        try:
            connection.close()
        except pymysql.err.MySQLError:
            pass
    with admin.cursor() as cursor:
        cursor.execute(f"DROP DATABASE IF EXISTS {schema}")
    admin.close()
    return "\n".join(lines) + "\n"


def played(host, port, path):
    """The result; a lost connection is a failed test, and the next one still runs."""
    try:
        return play(host, port, path)
    except Exception as error:
        return f"{BROKEN}{error!r}\n"


def record(host, port, path):
    """Writes the result, if a second run gives the same."""
    got, again = played(host, port, path), played(host, port, path)
    if got != again or got.startswith(BROKEN):
        why = got if got.startswith(BROKEN) else "a second run gave another result"
        print(f"{path}: not written, {why}")
        return False
    path.with_suffix(".result").write_text(got, encoding="utf8")
    return True


def column_names(result):
    """The result with only the names of its columns."""
    return re.sub(r":[A-Z_0-9]+\(\d+,\d+\)[NPUKuZBA]*(?= \| |$)", "", result, flags=re.MULTILINE)


def read_expected_failures():
    """Reasons by the test's name. Each line is `FOLDER/NAME: reason`."""
    lines = (HERE / "expected_failures.txt").read_text(encoding="utf8").splitlines()
    reasons = dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))
    missing = [name for name in reasons if not (HERE / f"{name}.test").exists()]
    if missing:
        sys.exit(f"expected_failures.txt names tests that are not there: {', '.join(missing)}")
    return reasons


def differences(path, got, names_only):
    """The differences from the recorded result with what is around them, and their lines alone."""
    expected = path.with_suffix(".result").read_text(encoding="utf8")
    if names_only:
        expected, got = column_names(expected), column_names(got)
    difference = list(difflib.unified_diff(expected.splitlines(), got.splitlines(), "MySQL 9.7", "this server", lineterm="", n=2))
    return difference, [line for line in difference[2:] if line[0] in "+-"]


def by_statement(path, got):
    """The lines that differ, each statement's behind it."""
    expected = path.with_suffix(".result").read_text(encoding="utf8")
    whole = max(len(expected), len(got))
    difference = difflib.unified_diff(expected.splitlines(), got.splitlines(), lineterm="", n=whole)
    lines, statement = [], ""
    for line in list(difference)[2:]:
        if line.startswith(" > "):
            statement = line[1:]
        elif line[0] in "+-":
            lines += [statement] if statement else []
            lines.append(line)
            statement = ""
    return lines


def note(path, got):
    """Writes the differences that are allowed."""
    known, lines = path.with_suffix(".known"), by_statement(path, got)
    if lines:
        known.write_text("".join(line + "\n" for line in lines), encoding="utf8")
    else:
        known.unlink(missing_ok=True)


def is_known(path, changed):
    """Whether there are no other differences than those that were noted; says so when some of these are gone."""
    known = path.with_suffix(".known")
    allowed = known.read_text(encoding="utf8").splitlines() if known.exists() else []
    if any(line not in allowed for line in changed):
        return False
    if len(changed) < len([line for line in allowed if not line.startswith("> ")]):
        print(f"{path}: some known differences are gone: run.py note {path.name}")
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=["check", "record", "note"])
    parser.add_argument("target")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--columns", choices=["all", "names"], default="all",
                        help="compare types, lengths and flags of result columns too, or only their names")
    parser.add_argument("--rounds", type=int, default=1,
                        help="how often all files are played: from the third time on statements run by kept plans")
    options = parser.parse_args()
    host, port = options.target.split(":")
    files = test_files.chosen(options.files, HERE) * options.rounds
    os.chdir(HERE)
    expected_failures = read_expected_failures()
    failed = expected = 0
    for path in files:
        if options.mode == "record":
            failed += not record(host, int(port), path)
            continue
        got = played(host, int(port), path)
        difference, changed = differences(path, got, options.columns == "names")
        reason = expected_failures.get(path.relative_to(HERE).with_suffix("").as_posix())
        if options.mode == "note":
            if not reason:
                note(path, got)
        elif reason and is_known(path, changed):
            failed += 1
            print(f"{path} passes, but expected_failures.txt has it: {reason}")
        elif reason:
            expected += 1
        elif not is_known(path, changed):
            failed += 1
            print(f"--- {path}")
            print("\n".join(difference[:60]))
    print(f"{len(files) - failed - expected} passed, {failed} failed, {expected} fail as expected")
    sys.exit(failed > 0)


main()
