"""The commonest mistakes at a start, each made really: what standard error says (what is wrong, where, what to do), the exit code, and
that nothing was touched. Root runs it, with mounts of its own.

    unshare -m run.py --binary B"""
import argparse
import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import Server, free_port  # noqa: E402

SMALL = ("--no-defaults", "--innodb-buffer-pool-size=32M", "--innodb-redo-log-capacity=8M")
NOBODY = 65534
FAILURE, USAGE = 1, 2
CASES = []


def case(function):
    CASES.append(function)
    return function


class Box:
    """A folder for the mistakes of one case, a binary, and what went wrong."""

    def __init__(self, binary, template, folder):
        self.binary, self.template, self.folder = binary, template, folder
        self.failures = []

    def path(self, name):
        return self.folder / name

    def data(self, name="data"):
        """A copy of a data folder that was in use."""
        shutil.copytree(self.template, self.path(name))
        return self.path(name)

    def write(self, name, text):
        self.path(name).parent.mkdir(exist_ok=True)
        self.path(name).write_text(text)
        return self.path(name)

    def run(self, *options, account=None, limit=None):
        def prepare():
            if limit:
                resource.setrlimit(limit[0], (limit[1], limit[1]))
            if account:
                os.setgroups([])
                os.setgid(account)
                os.setuid(account)

        command = [self.binary, *map(str, options)]
        # A server that starts in spite of the mistake is ended by the timeout.
        return subprocess.run(command, capture_output=True, text=True, timeout=20, preexec_fn=prepare, cwd=self.folder)

    def refused(self, code, says, *options, **how):
        """A start that must fail with that code and say all of that in one line."""
        try:
            done = self.run("serve", *options, **how)
        except subprocess.TimeoutExpired:
            return self.that(False, f"{options}: the server started")
        lines = [line for line in done.stderr.splitlines() if all(word in line for word in says)]
        self.that(done.returncode == code, f"exit code {done.returncode}, not {code}: {done.stderr}")
        self.that(len(lines) == 1, f"{len(lines)} lines say {says}: {done.stderr}")

    def start(self, *options, folder="data", account=None):
        """A server that must start, and end well."""
        server = Server(self.binary, [*SMALL, *options], datadir=self.path(folder), log_path=self.path(f"{folder}.txt"))
        if account:
            server.preexec = lambda: (os.setgid(account), os.setuid(account))
        return server.start(20)

    def that(self, holds, what):
        if not holds:
            self.failures.append(what)


def serve(folder, *options):
    return (*SMALL, "--port=0", f"--datadir={folder}", *options)


@case
def port_in_use(box):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        box.refused(FAILURE, [f"127.0.0.1:{port}", "another program has the port", "--port"], *serve(box.data(), f"--port={port}"))


@case
def socket_of_a_live_server(box):
    path = box.path("live.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        box.refused(FAILURE, [str(path), "another server does", "--socket"], *serve(box.data(), f"--socket={path}"))
        box.that(path.exists(), "the socket is left alone")


@case
def socket_of_a_dead_server(box):
    path = box.path("dead.sock")
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
    box.data()
    server = box.start(f"--socket={path}")
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        box.that(client.recv(1), "the new socket answers")
    server.stop()


@case
def socket_path_of_a_file(box):
    path = box.write("letter.txt", "dear")
    box.refused(FAILURE, [str(path), "it is a file", "--socket"], *serve(box.data(), f"--socket={path}"))
    box.that(path.read_text() == "dear", "the file is left alone")


@case
def folder_with_other_files(box):
    box.write("home/letter.txt", "dear")
    home = box.path("home")
    for options in ([], ["--initialize-insecure"]):
        box.refused(FAILURE, [str(home), "not empty", "letter.txt", "--datadir"], *serve(home, *options))
    box.that(os.listdir(home) == ["letter.txt"], f"nothing is made there: {os.listdir(home)}")


@case
def folder_with_harmless_files(box):
    for name in ("lost+found/x", "ca.log"):
        (box.path("data") / name).parent.mkdir(parents=True, exist_ok=True)
        (box.path("data") / name).write_text("")
    box.start().stop()


@case
def folder_of_mysql(box):
    for name in ("ibdata1", "mysql.ibd", "undo_001"):
        box.write(f"mysql/{name}", "x")
    box.refused(FAILURE, [str(box.path("mysql")), "MySQL or MariaDB", "mysqldump", "--datadir"], *serve(box.path("mysql")))
    box.that(len(os.listdir(box.path("mysql"))) == 3, "nothing is made there")


@case
def folder_of_mariadb(box):
    box.write("maria/aria_log_control", "x")
    box.refused(FAILURE, ["MySQL or MariaDB", "aria_log_control"], *serve(box.path("maria")))


@case
def folder_that_is_a_file(box):
    box.refused(FAILURE, ["is a file", "--datadir"], *serve(box.write("file", "x")))


@case
def folder_without_right(box):
    folder = box.path("closed")
    folder.mkdir(mode=0o755)
    box.refused(FAILURE, [f"'{folder}' belongs to root (mode 0755)", "runs as nobody", "chown"], *serve(folder), account=NOBODY)
    box.refused(FAILURE, ["cannot be made", f"'{folder}' belongs to root", "--datadir"], *serve(folder / "a/b"), account=NOBODY)


@case
def files_of_another_owner(box):
    folder = box.data()
    os.chown(folder, NOBODY, NOBODY)
    box.refused(FAILURE, ["iruka.lock", "belongs to root", "runs as nobody", "chown -R"], *serve(folder), account=NOBODY)


@case
def folder_of_a_running_server(box):
    folder = box.data()
    server = box.start()
    box.refused(FAILURE, [f"process {server.process.pid}", str(folder), "stop it", "--datadir"], *serve(folder))
    server.stop()


@case
def log_directory_damaged(box):
    control = box.data() / "redo/control"
    control.write_bytes(b"\0" * control.stat().st_size)
    box.refused(FAILURE, ["redo/control", "is damaged", "innodb_force_recovery=6"], *serve(box.path("data")))


@case
def page_damaged(box):
    file = box.data() / "iruka_system.ibd"
    with open(file, "r+b") as opened:
        opened.seek(3 * 16384)
        opened.write(b"\xff" * 16384)
    box.refused(FAILURE, ["Page 3 of 'iruka_system.ibd' is damaged", "backup"], *serve(box.path("data")))


@case
def log_file_lost(box):
    for file in (box.data() / "redo").glob("log_*"):
        file.unlink()
    box.refused(FAILURE, ["redo/log_", "is missing: put it back"], *serve(box.path("data")))


@case
def written_by_a_newer_server(box):
    control = box.data() / "redo/control"
    content = bytearray(control.read_bytes())
    for slot in (0, 4096):
        # The format version, and the checksum over what is before it.
        struct.pack_into("<I", content, slot + 52, 1000)
        struct.pack_into("<I", content, slot + 124, crc32c(bytes(content[slot:slot + 124])))
    control.write_bytes(content)
    box.refused(FAILURE, ["written by a newer server (format version 1000", "new folder (--datadir)"], *serve(box.path("data")))


def crc32c(data):
    value = 0xFFFFFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
    return value ^ 0xFFFFFFFF


@case
def no_space(box):
    small = box.path("small")
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", small], check=True)
    try:
        box.refused(FAILURE, ["no room for its files", "Make room", f"'{small}/data'"], *serve(small / "data"))
    finally:
        subprocess.run(["umount", small], check=True)


@case
def file_size_limit(box):
    limit = (resource.RLIMIT_FSIZE, 1 << 20)
    box.refused(FAILURE, ["no room for its files", "1048576 bytes (ulimit -f)"], *serve(box.path("new")), limit=limit)


@case
def too_few_descriptors(box):
    limit = (resource.RLIMIT_NOFILE, 12)
    box.refused(FAILURE, ["12 file descriptors", "ulimit -n"], *serve(box.data()), limit=limit)


@case
def address_of_another_machine(box):
    box.refused(FAILURE, ["192.0.2.1", "no such address", "--bind-address"], *serve(box.data(), "--bind-address=192.0.2.1"))


@case
def name_without_address(box):
    box.refused(USAGE, ["'no.such.host.invalid'", "command line", "--bind-address"], *serve(box.path("new"), "--bind-address=no.such.host.invalid"))
    box.that(not box.path("new").exists(), "no folder is made")


@case
def privileged_port(box):
    folder = box.data()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    first = int(pathlib.Path("/proc/sys/net/ipv4/ip_unprivileged_port_start").read_text())
    if first > 81:
        box.refused(FAILURE, ["127.0.0.1:81", "from 1024 on"], *serve(folder, "--port=81"), account=NOBODY)


@case
def unknown_option(box):
    box.refused(USAGE, ["--max-conections", "command line", "near it: --max-connections"], *serve(box.path("new"), "--max-conections=5"))
    box.refused(USAGE, ["unknown option", "'-x'"], "-x")
    box.refused(USAGE, ["'data' is no option"], "--console", "1", "data")
    box.that(not box.path("new").exists(), "no folder is made")


@case
def wrong_values(box):
    told = serve(box.path("new"))
    box.refused(USAGE, ["--max-connections", "'many' is not a whole number from 1 to 100000"], *told, "--max-connections=many")
    box.refused(USAGE, ["--port", "'70000' is not a whole number from 0 to 65535"], *told, "--port=70000")
    box.refused(USAGE, ["--transaction-isolation", "one of READ-UNCOMMITTED, READ-COMMITTED"], *told, "--transaction-isolation=HIGH")
    box.refused(USAGE, ["--sql-mode", "a list of"], *told, "--sql-mode=STRICTLY")
    box.that(not box.path("new").exists(), "no folder is made")


@case
def number_beyond_its_range(box):
    box.data()
    server = box.start("--max-connections=0")
    box.that("value 0 adjusted to 1" in server.log(), server.log())
    server.stop()


@case
def option_files(box):
    missing = box.path("missing.cnf")
    box.refused(USAGE, [str(missing), "No such file", "--defaults-file"], f"--defaults-file={missing}")
    box.refused(USAGE, [str(box.folder), "Is a directory"], f"--defaults-file={box.folder}")
    closed = box.write("closed.cnf", "[mysqld]\n")
    closed.chmod(0o600)
    box.refused(USAGE, [str(closed), "Permission denied"], f"--defaults-file={closed}", account=NOBODY)
    broken = box.write("broken.cnf", "[mysqld]\nport=3307\nmax connections 5\n")
    box.refused(USAGE, [f"'{broken}' line 3", "'max connections 5'", "NAME=VALUE"], f"--defaults-file={broken}")
    wrong = box.write("wrong.cnf", "[mysqld]\n\nmax_conections = 5\n")
    box.refused(USAGE, [f"'{wrong}' line 3", "--max-connections"], f"--defaults-file={wrong}", f"--datadir={box.path('new')}")


@case
def option_file_of_another_owner(box):
    """One that may be read and not written is read."""
    folder = box.data()
    for path in (folder, *folder.rglob("*")):
        os.chown(path, NOBODY, NOBODY)
    file = box.write("shared.cnf", "[iruka]\nlog-error=told.err\n")
    server = Server(box.binary, SMALL[1:], datadir=folder, log_path=box.path("started.txt"))
    server.binary = box.write("start.sh", f'#!/bin/sh\nshift; exec "{box.binary}" serve --defaults-file={file} "$@"\n')
    server.binary.chmod(0o755)
    server.preexec = lambda: (os.setgid(NOBODY), os.setuid(NOBODY))
    box.path("started.txt").touch()
    server.start(20).stop()
    box.that("ready for connections" in (folder / "told.err").read_text(), "the file's option counts")


@case
def folder_for_files_missing(box):
    box.refused(USAGE, ["--secure-file-priv", "no folder '/no/such'"], *serve(box.path("new"), "--secure-file-priv=/no/such"))


@case
def account_unknown(box):
    box.refused(USAGE, ["--user", "no account 'no-such-account'", "useradd"], *serve(box.path("new"), "--user=no-such-account"))


@case
def account_taken(box):
    box.path("data").mkdir()
    os.chown(box.path("data"), NOBODY, NOBODY)
    server = box.start("--user=nobody")
    status = pathlib.Path(f"/proc/{server.process.pid}/task")
    for thread in status.iterdir():
        uids = next(line for line in (thread / "status").read_text().splitlines() if line.startswith("Uid:"))
        box.that(set(uids.split()[1:]) == {str(NOBODY)}, f"a thread has {uids}")
    server.stop()
    owners = {path.stat().st_uid for path in box.path("data").rglob("*")}
    box.that(owners == {NOBODY}, f"owners are {owners}")


@case
def tls_files(box):
    folder = box.data()
    key = ("--ssl-key", folder / "server-key.pem")
    box.refused(FAILURE, ["TLS certificate", "/no/cert.pem", "No such file", "--ssl-cert"], *serve(folder, "--ssl-cert=/no/cert.pem", *key))
    box.refused(USAGE, ["ssl_cert and ssl_key are to be given together"], *serve(folder, *key))
    # A key of another pair.
    certificate = ("--ssl-cert", folder / "server-cert.pem")
    box.refused(FAILURE, ["server-cert.pem", "private_key.pem", "do not fit", "--ssl-key"], *serve(folder, *certificate, "--ssl-key", folder / "private_key.pem"))
    letter = box.write("letter.txt", "dear")
    box.refused(FAILURE, ["letter.txt", "--ssl-cert"], *serve(folder, "--ssl-cert", letter, *key))


@case
def commands(box):
    for arguments, code, says in [
        ([], USAGE, "no command is given"),
        (["serv"], USAGE, "unknown command 'serv'; near it: serve"),
        (["completion", "tcsh"], USAGE, "known are bash, zsh, fish"),
        (["help"], 0, "iruka COMMAND"),
        (["help", "serve"], 0, "--innodb-buffer-pool-size=BYTES"),
        (["serve", "--nonsense", "--help"], 0, "From 1 to 100000."),
        (["serve", "--version"], 0, "iruka 0."),
        (["version"], 0, "iruka 0."),
    ]:
        done = box.run(*arguments)
        box.that(done.returncode == code and says in done.stdout + done.stderr, f"{arguments}: {done.returncode} {done.stdout[:200]} {done.stderr}")
        longest = max(map(len, done.stdout.splitlines()), default=0)
        box.that(longest <= 100, f"{arguments}: a line of {longest} characters")
    # Whoever has read enough of it goes.
    done = subprocess.run(f"{box.binary} serve --help | head -1; echo ${{PIPESTATUS[0]}}", shell=True, executable="/bin/bash", capture_output=True, text=True)
    box.that(done.stdout.splitlines()[-1] == "0" and not done.stderr, f"a pipe that closes: {done.stdout} {done.stderr}")


def make_template(binary, folder):
    """A data folder that was in use and closed well."""
    server = Server(binary, SMALL, datadir=folder, log_path=folder.with_suffix(".txt"), port=free_port())
    server.start(30).stop()
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("case", nargs="*")
    options = parser.parse_args()
    signal.alarm(300)
    binary = str(pathlib.Path(options.binary).resolve())
    failed = 0
    with tempfile.TemporaryDirectory(prefix="iruka-start-") as root:
        root = pathlib.Path(root)
        # Other accounts go through it.
        root.chmod(0o755)
        template = make_template(binary, root / "template")
        for function in CASES:
            if options.case and function.__name__ not in options.case:
                continue
            folder = root / function.__name__
            folder.mkdir()
            box = Box(binary, template, folder)
            function(box)
            for failure in box.failures:
                print(f"FAILED {function.__name__}: {failure}", flush=True)
            failed += bool(box.failures)
            shutil.rmtree(folder)
    print(f"{len(CASES)} mistakes at a start, {failed} answered wrongly")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
