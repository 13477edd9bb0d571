"""A server on a file system with 0 bytes free: it serves, it starts again after kill -9, and space can be freed by DELETE of half of a
table, TRUNCATE, DROP, and a small table can be made.
It also starts beside a large unfinished transaction, with a log of 8 MiB that is nearly full. While a disk fills up, a large table leaves
room to others, and its rows take no longer than before: on tmpfs, where a vain attempt to take room is slow, and on ext4, where one takes
all that there is. A file that may grow no longer (ulimit -f) is a full disk to its table alone.

    run.py BINARY [--size MIB] [--only PART]    mounts small file systems; needs the right to (root; without ext4 `unshare -rm` before it)"""
import argparse
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import Server

OPTIONS = ("--innodb-redo-log-capacity=8388608", "--innodb-buffer-pool-size=16777216")
# What a file may have (ulimit -f); those of the log have less.
FILE_BYTES_MAX = 40 << 20
FIRST_FILE_BYTES_MAX = 1 << 20


class Check:
    """What holds and what does not. The servers' log lies beside the small file system: it tells why something failed."""

    def __init__(self):
        self.failures, self.log_path = [], None

    def that(self, holds, what):
        print(("ok     " if holds else "FAILED ") + what, flush=True)
        if not holds:
            self.failures.append(what)
            print(self.log_path.read_text(errors="replace")[-4000:], flush=True)

    def works(self, outcome, what):
        """An outcome of `run`."""
        self.that(isinstance(outcome, list), what if isinstance(outcome, list) else f"{what}: {outcome}")


def connect(server):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, read_timeout=60)


class Refused(int):
    """An error's number, which knows its text."""

    def __new__(cls, number, text):
        made = super().__new__(cls, number)
        made.text = text
        return made

    def __str__(self):
        return f"{int(self)} ({self.text})"


def run(connection, statement):
    """The rows, or the error's number."""
    with connection.cursor() as cursor:
        try:
            cursor.execute(statement)
            return list(cursor.fetchall())
        except pymysql.MySQLError as error:
            return Refused(error.args[0], error.args[1] if error.args[1:] else type(error).__name__)


def fill(folder):
    """Takes what is left of the file system, to the last block."""
    with open(folder / "filler", "ab", buffering=0) as filler:
        for size in (1 << 20, 4096, 512):
            try:
                while True:
                    filler.write(b"x" * size)
            except OSError:
                pass


def kill(server):
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()


def prepare(server):
    connection = connect(server)
    run(connection, "create database d")
    run(connection, "set cte_max_recursion_depth=1000000")
    for table, rows in (("big", 60000), ("other", 20000), ("small", 100)):
        run(connection, f"create table d.{table}(id int primary key, k int, s varchar(200), key(k))")
        run(connection, f"insert into d.{table} with recursive c(n) as (select 1 union all select n+1 from c where n<{rows}) "
                        "select n, n, repeat('x', 100) from c")
    return connection


def check_space(mount, binary, check):
    server = Server(binary, OPTIONS, datadir=mount / "data", log_path=check.log_path)
    server.folder.mkdir()
    server.start()
    connection = prepare(server)
    fill(mount)
    check.that(run(connection, "select count(*) from d.big") == [(60000,)], "reads go on")
    refused = 0
    for _ in range(200):
        refused = run(connection, "insert into d.other select id + (select max(id) from d.other), k, repeat('y', 200) from d.other limit 5000")
        if not isinstance(refused, list):
            break
    check.that(refused == 1114, f"inserts fail at the end with 1114: {refused}")
    # Rows that are there may go on changing, small commits too.
    check.works(run(connection, "update d.small set k = k + 1 where id < 10"), "a small update works")
    for attempt in range(2):
        kill(server)
        begun = time.monotonic()
        server.start()
        check.that(True, f"start {attempt} on the full disk took {time.monotonic() - begun:.1f} s")
        connection = connect(server)
        check.that(run(connection, "select count(*) from d.big") == [(60000,)], "reads after the start")
    check.works(run(connection, "create table d.made(id int primary key, k int)"), "CREATE of a small table")
    check.works(run(connection, "insert into d.made values (1, 1), (2, 2)"), "rows of the small table")
    check.works(run(connection, "delete from d.big where id % 2 = 0"), "DELETE of half of a table")
    check.that(run(connection, "select count(*) from d.big") == [(30000,)], "the other half is there")
    check.works(run(connection, "drop table d.made"), "DROP")
    check.works(run(connection, "truncate table d.other"), "TRUNCATE")
    check.works(run(connection, "delete from d.big"), "DELETE of all rows")
    time.sleep(2)
    check.works(run(connection, "insert into d.other values (1, 1, 'back')"), "inserts work again")
    check.works(run(connection, "check table d.big, d.other, d.small"), "CHECK TABLE")
    kill(server)
    server.start()
    connection = connect(server)
    check.that(run(connection, "select count(*) from d.big") == [(0,)], "what was deleted stays deleted")
    connection.close()
    server.process.terminate()
    check.that(server.process.wait(60) == 0, "a clean end")


def check_starts(mount, binary, check):
    """0 bytes free, and one thing missing that a start would make."""
    for lost in ("redo/doublewrite", "iruka.pid", "error.log", "auto.cnf", "#innodb_temp"):
        folder = mount / "data"
        options = OPTIONS + (f"--pid-file={folder}/iruka.pid",)
        if lost == "error.log":
            options += (f"--log-error={folder}/error.log",)
        server = Server(binary, options, datadir=folder, log_path=check.log_path)
        folder.mkdir()
        server.start()
        connection = prepare(server)
        run(connection, "begin")
        run(connection, "update d.big set k = k + 1")
        kill(server)
        for found in folder.glob(lost):
            subprocess.run(["rm", "-rf", str(found)], check=True)
        fill(mount)
        try:
            server.start()
            connection = connect(server)
            check.that(run(connection, "select count(*) from d.big where k = id") == [(60000,)], f"start without {lost}")
            check.works(run(connection, "drop table d.other"), f"DROP after a start without {lost}")
            server.process.terminate()
            server.process.wait(60)
        except Exception as error:
            check.that(False, f"start without {lost}: {error}")
            server.process.kill()
        subprocess.run(["rm", "-rf", str(folder), str(mount / "filler")], check=True)


def worked_seconds(server):
    """Processor time."""
    fields = pathlib.Path(f"/proc/{server.process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def check_growth(mount, binary, check):
    def free_mebibytes():
        found = os.statvfs(mount)
        return found.f_bavail * found.f_frsize >> 20

    server = Server(binary, ("--innodb-buffer-pool-size=33554432",) + OPTIONS[:1], datadir=mount / "data", log_path=check.log_path)
    server.folder.mkdir()
    server.start()
    connection = connect(server)
    run(connection, "create database d")
    run(connection, "create table d.large(id int primary key auto_increment, s varchar(2000))")
    run(connection, "create table d.seed(id int primary key auto_increment, s varchar(2000))")
    run(connection, "set cte_max_recursion_depth=100000")
    run(connection, "insert into d.seed(s) with recursive c(n) as (select 1 union all select n+1 from c where n<1000) select repeat('x', 1900) from c")
    # Each takes 2 MB. Its step is a quarter of it at the end, far more than is free then.
    times, room = [], True
    while room and free_mebibytes() > 10:
        before = worked_seconds(server)
        room = isinstance(run(connection, "insert into d.large(s) select s from d.seed"), list)
        times.append(worked_seconds(server) - before)
    check.that(room, "rows go in while 10 MiB are free")
    usual, worst = sorted(times)[len(times) // 2], max(times[-20:])
    check.that(worst < 5 * usual + 0.2, f"1,000 rows take {usual:.2f} s, and {worst:.2f} s at most where the disk is nearly full")
    run(connection, "create table d.other(id int primary key auto_increment, s varchar(2000))")
    check.works(run(connection, "insert into d.other(s) select s from d.seed"), f"another table has room, {free_mebibytes()} MiB are free")
    refused = 0
    for _ in range(2000):
        refused = run(connection, "insert into d.large(s) select s from d.seed limit 30")
        if not isinstance(refused, list):
            break
    check.that(refused == 1114 and free_mebibytes() < 1, f"all is used at the end: {free_mebibytes()} MiB, {refused}")
    check.works(run(connection, "truncate table d.large"), "TRUNCATE")
    check.works(run(connection, "insert into d.other(s) select s from d.seed"), "inserts work again")
    connection.close()
    server.process.terminate()
    check.that(server.process.wait(60) == 0, "a clean end")


def check_file_limit(mount, binary, check):
    check_first_start_limit(mount, binary, check)
    server = Server(binary, OPTIONS, datadir=mount / "data", log_path=check.log_path)
    server.folder.mkdir()
    server.start()
    connection = connect(server)
    run(connection, "create database d")
    run(connection, "create table d.large(id int primary key auto_increment, s varchar(2000))")
    run(connection, "insert into d.large(s) values (repeat('x', 1900))")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, resource.RLIM_INFINITY))
    outcome = []
    while isinstance(outcome, list):
        outcome = run(connection, "insert into d.large(s) select s from d.large limit 4000")
    check.that(outcome == 1114, f"a table as long as a file may be: {outcome}")
    check.that(longest_file(mount) <= FILE_BYTES_MAX, "no file is longer")
    run(connection, "create table d.other(id int primary key auto_increment, s varchar(2000))")
    check.works(run(connection, "insert into d.other(s) select s from d.large limit 1000"), "another table has room")
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    check.works(run(connection, "insert into d.large(s) select s from d.large limit 4000"), "inserts work again")
    connection.close()
    server.process.terminate()
    check.that(server.process.wait(60) == 0, "a clean end")


def check_first_start_limit(mount, binary, check):
    """A first start whose files may not grow as long as they must: a message and an end, no signal."""
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (FIRST_FILE_BYTES_MAX, FIRST_FILE_BYTES_MAX))
    folder = mount / "first"
    command = [str(binary), "serve", "--datadir", str(folder), "--port", "0", "--socket", str(mount / "first.sock")]
    done = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, timeout=60)
    check.that(done.returncode == 1 and "File too large" in done.stderr, f"a first start under ulimit -f: {done.returncode}")
    shutil.rmtree(folder, ignore_errors=True)


def longest_file(mount):
    return max(path.stat().st_size for path in mount.rglob("*") if path.is_file())


def mount_tmpfs(mount, mebibytes):
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "tmpfs", str(mount)], check=True)


def mount_ext4(mount, mebibytes):
    image = mount.parent / "image"
    with open(image, "wb") as file:
        file.truncate(mebibytes << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", "-m", "0", str(image)], check=True)
    subprocess.run(["mount", "-o", "loop", str(image), str(mount)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--size", type=int, default=96, help="MiB of the file system")
    parser.add_argument("--only", default="", help="names with this in them")
    arguments = parser.parse_args()
    binary = pathlib.Path(arguments.binary).resolve()
    check = Check()
    parts = [("space", check_space, mount_tmpfs, arguments.size), ("starts", check_starts, mount_tmpfs, arguments.size),
             ("files", check_file_limit, mount_tmpfs, 2 * arguments.size), ("growth", check_growth, mount_tmpfs, 4 * arguments.size)]
    if os.geteuid() == 0 and shutil.which("mkfs.ext4") and os.path.exists("/dev/loop-control"):
        parts.append(("growth on ext4", check_growth, mount_ext4, 4 * arguments.size))
    else:
        print("growth on ext4 is left out: it takes root, mkfs.ext4 and loop devices")
    for name, part, make, size in parts:
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            mount = pathlib.Path(folder) / "disk"
            mount.mkdir()
            check.log_path = pathlib.Path(folder) / "server.log"
            make(mount, size)
            try:
                part(mount, binary, check)
            finally:
                subprocess.run(["umount", "-l", str(mount)], check=True)
    print(f"{len(check.failures)} failures")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
