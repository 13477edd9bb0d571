"""What a server with very many tables costs: makes them, starts the server anew, and prints

    start        seconds from exec to the first greeting, after a clean end and after kill -9
    bytes        resident memory a table that was never opened: against a start with next to none
    open files   descriptors behind the start, and behind the reading of `--read` tables
    list         seconds of SHOW TABLES
    first, next  microseconds of a point select: the first one on each of 200 tables, and then 20,000 on one

    many_tables.py --binary B [--tables 20000] [--folder F] [--bars]

With `--folder` the tables are made once and kept there for the next run. `--bars` fails where the figures of acceptance do not hold
(100,000 tables: start under 3 s, at most 1,000 open files, SHOW TABLES under 0.5 s, under 2 KB a table)."""
import argparse
import os
import pathlib
import statistics
import sys
import tempfile
import threading
import time

import pymysql

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
from with_server import Server  # noqa: E402

SCHEMA, MAKERS, FIRST, NEXT = "many", 8, 200, 20_000
# MySQL's default for innodb_open_files is 4000. The file of dictionary and undo is open besides.
OPTIONS = ("--innodb-buffer-pool-size=1G", "--innodb-open-files=999")
DEFINITION = """(id INT NOT NULL AUTO_INCREMENT, k INT NOT NULL DEFAULT 0, c CHAR(120) NOT NULL DEFAULT '',
    pad VARCHAR(60) NOT NULL DEFAULT '', made DATETIME DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (id), KEY k_1 (k))"""
BARS = {"start": 3.0, "start behind kill -9": 3.0, "bytes a table": 2048, "open files": 1000, "list": 0.5}


def connect(server):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, read_timeout=600)


def rows(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall()


def make(server, first, end):
    """Makes the tables with these numbers, each with three rows."""
    def some(offset):
        connection = connect(server)
        for number in range(first + offset, end, MAKERS):
            rows(connection, f"CREATE TABLE {SCHEMA}.t{number} {DEFINITION}")
            rows(connection, f"INSERT INTO {SCHEMA}.t{number} (k) VALUES ({number}), (2), (3)")
        connection.close()
    connection = connect(server)
    rows(connection, f"CREATE DATABASE IF NOT EXISTS {SCHEMA}")
    connection.close()
    makers = [threading.Thread(target=some, args=(offset,)) for offset in range(MAKERS)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()


def started(server):
    begun = time.monotonic()
    server.start(timeout_seconds=600)
    return time.monotonic() - begun


def resident_bytes(server):
    with open(f"/proc/{server.process.pid}/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS"))


def table_files(server):
    folder = f"/proc/{server.process.pid}/fd"
    return sum(os.readlink(f"{folder}/{name}").endswith(".ibd") for name in os.listdir(folder))


def bytes_without_tables(binary):
    server = Server(binary, OPTIONS)
    try:
        server.start()
        server.stop()
        server.start()
        connection = connect(server)
        rows(connection, "SELECT 1")
        time.sleep(1)
        found = resident_bytes(server)
        server.stop()
        return found
    finally:
        server.remove()


def selects(connection, number, count):
    times = []
    for _ in range(count):
        begun = time.perf_counter()
        found = rows(connection, f"SELECT k FROM {SCHEMA}.t{number} WHERE id = 1")
        times.append(time.perf_counter() - begun)
        assert found == ((number,),), found
    return statistics.median(times) * 1e6


def measure(server, tables, read, empty_bytes):
    found = {"start": started(server)}
    connection = connect(server)
    rows(connection, "SELECT 1")
    time.sleep(1)
    found["bytes a table"] = (resident_bytes(server) - empty_bytes) / tables
    found["open files at start"] = table_files(server)
    begun = time.monotonic()
    listed = rows(connection, f"SHOW TABLES FROM {SCHEMA}")
    found["list"] = time.monotonic() - begun
    assert len(listed) == tables, len(listed)
    found["bytes a table behind SHOW TABLES"] = (resident_bytes(server) - empty_bytes) / tables
    step = max(tables // FIRST, 1)
    found["first select us"] = statistics.median(selects(connection, number, 1) for number in range(0, tables, step))
    found["next select us"] = selects(connection, tables // 2, NEXT)
    for number in range(0, tables, max(tables // read, 1)):
        selects(connection, number, 1)
    found["open files"] = table_files(server)
    found["bytes a table behind reading"] = (resident_bytes(server) - empty_bytes) / tables
    rows(connection, f"INSERT INTO {SCHEMA}.t1 (k) VALUES (4)")
    connection.close()
    server.kill()
    found["start behind kill -9"] = started(server)
    begun = time.monotonic()
    server.stop(timeout_seconds=600)
    found["end"] = time.monotonic() - begun
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--tables", type=int, default=20_000)
    parser.add_argument("--read", type=int, default=5_000, help="tables that are read after the start")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--option", action="append", default=[])
    parser.add_argument("--bars", action="store_true")
    arguments = parser.parse_args()
    folder = arguments.folder or pathlib.Path(tempfile.mkdtemp(prefix="iruka-many-"))
    server = Server(arguments.binary, [*OPTIONS, *arguments.option], datadir=folder)
    note = folder.with_suffix(".tables")
    made = int(note.read_text()) if note.exists() else 0
    try:
        if made < arguments.tables:
            server.start(timeout_seconds=600)
            begun = time.monotonic()
            make(server, made, arguments.tables)
            print(f"{arguments.tables - made} tables made in {time.monotonic() - begun:.1f} s", flush=True)
            server.stop(timeout_seconds=600)
            note.write_text(str(arguments.tables))
        found = measure(server, max(made, arguments.tables), arguments.read, bytes_without_tables(arguments.binary))
    except BaseException:
        print(server.log()[-3000:], file=sys.stderr)
        raise
    finally:
        if server.process and server.process.poll() is None:
            server.kill()
        if not arguments.folder:
            server.remove()
            note.unlink(missing_ok=True)
    for name, value in found.items():
        print(f"{name:36} {value:12.3f}")
    missed = [name for name, bar in BARS.items() if found[name] > bar]
    if arguments.bars and missed:
        raise SystemExit(f"not met: {', '.join(missed)}")


if __name__ == "__main__":
    main()
