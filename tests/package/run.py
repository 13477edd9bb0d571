"""The packages of `cargo xtask package`: made twice they are the same bytes; the tarball runs from any folder; the Debian package is
installed, its unit's command line serves and tells the service manager, and removal and purge leave the data. The installation is in a
root of its own, the machine's with all changes in memory, without network; root runs it.

    run.py --binary B"""
import argparse
import configparser
import filecmp
import os
import pathlib
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time

import pymysql

WORKSPACE = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(WORKSPACE / "tests"))
from with_server import running  # noqa: E402

ALONE = "IRUKA_TEST_ALONE"
UNIT = "lib/systemd/system/iruka.service"
READY_SECONDS_MAX = 60


def need(holds, what):
    print(("ok     " if holds else "FAILED ") + what, flush=True)
    if not holds:
        raise SystemExit(1)


def make(binary, out, umask):
    command = ["cargo", "xtask", "package", "--binary", binary, "--out", str(out)]
    subprocess.run(command, check=True, cwd=WORKSPACE, preexec_fn=lambda: os.umask(umask))
    return sorted(path for path in out.iterdir() if path.suffix in (".deb", ".gz", ".debug"))


def check_equal(first, second):
    for left, right in zip(first, second, strict=True):
        need(left.name == right.name and filecmp.cmp(left, right, shallow=False), f"{left.name} made twice is the same")


def check_tarball(tarball, folder):
    subprocess.run(["tar", "-xzf", tarball, "-C", folder], check=True)
    (root,) = folder.iterdir()
    need({"bin", "share"} <= {path.name for path in root.iterdir()}, f"{root.name} has its parts")
    with running(root / "bin/iruka", ["--no-defaults", "--innodb-buffer-pool-size=64M"]) as server:
        connection = pymysql.connect(host="127.0.0.1", port=server.port, user="root")
        need(ask(connection, "SELECT 1+1") == 2, "the tarball's binary serves from there")


def ask(connection, statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)
        row = cursor.fetchone()
        return row and row[0]


class Root:
    """The machine's files, with changes that are gone at the end."""

    def __init__(self, folder):
        self.path = folder / "root"
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
        for name in ("upper", "work", "root"):
            (folder / name).mkdir()
        layers = f"lowerdir=/,upperdir={folder}/upper,workdir={folder}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, self.path], check=True)
        for name in ("proc", "dev"):
            subprocess.run(["mount", "--rbind", f"/{name}", self.path / name], check=True)
        # Nothing of the machine's own runs here, systemd least of all.
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", self.path / "run"], check=True)
        self.processes = []

    def run(self, *command, **options):
        return subprocess.run(["chroot", self.path, *command], capture_output=True, text=True, **options)

    def install(self, package):
        shutil.copy(package, self.path / "run/package.deb")
        done = self.run("dpkg", "-i", "/run/package.deb")
        need(done.returncode == 0, "dpkg -i" if done.returncode == 0 else f"dpkg -i: {done.stdout}{done.stderr}")


class Unit:
    """The server as the unit starts it."""

    def __init__(self, root):
        self.root = root
        self.words = configparser.RawConfigParser(strict=False)
        self.words.optionxform = str
        self.words.read(root.path / UNIT)
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.settimeout(READY_SECONDS_MAX)
        path = root.path / "run/notify"
        path.unlink(missing_ok=True)
        self.manager.bind(str(path))
        path.chmod(0o666)
        service = self.words["Service"]
        account = service["User"]
        # What the manager does for it.
        folder = root.path / "run" / service["RuntimeDirectory"]
        folder.mkdir(exist_ok=True)
        subprocess.run(["chroot", root.path, "chown", f"{account}:{service['Group']}", f"/run/{folder.name}"], check=True)
        command = ["chroot", f"--userspec={account}:{service['Group']}", root.path, *shlex.split(service["ExecStart"])]
        self.log = root.path / "run/journal"
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(command, stderr=log, stdout=log, env={"NOTIFY_SOCKET": "/run/notify", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
        root.processes.append(self.process)

    def told(self):
        try:
            return self.manager.recv(100).decode()
        except TimeoutError:
            return f"nothing: {self.log.read_text()[-2000:]}"

    def connect(self):
        return pymysql.connect(unix_socket=str(self.root.path / "run/iruka/iruka.sock"), user="root", autocommit=True)

    def stop(self):
        self.process.terminate()
        need(self.told() == "STOPPING=1", "the manager is told of the stop")
        need(self.process.wait(60) == 0, "a clean end")


def check_unit(root):
    done = root.run("systemd-analyze", "verify", "--man=no", f"/{UNIT}") if shutil.which("systemd-analyze") else None
    need(done is None or not done.stderr.strip(), f"the unit is sound: {done and done.stderr}")


def check_package(package, root):
    listed = subprocess.run(["dpkg-deb", "-c", package], check=True, capture_output=True, text=True).stdout.splitlines()
    need(all(line.split()[1] == "root/root" for line in listed), "all files are root's")
    need(not any("mysql" in line or "maria" in line for line in listed), "no file has a name of MySQL or MariaDB")
    root.install(package)
    check_unit(root)
    need(root.run("man", "-w", "iruka-serve", "iruka").returncode == 0, "the man pages are found")
    unit = Unit(root)
    need(unit.told() == "READY=1", "the manager is told of the start")
    connection = unit.connect()
    folder = ask(connection, "SELECT @@datadir")
    need(folder == "/var/lib/iruka/", f"the options of /etc/iruka/iruka.cnf count: {folder}")
    ask(connection, "CREATE SCHEMA kept")
    ask(connection, "CREATE TABLE kept.t (a INT PRIMARY KEY) SELECT 42 AS a")
    tcp = pymysql.connect(host="127.0.0.1", port=3306, user="root")
    need(ask(tcp, "SELECT a FROM kept.t") == 42, "TCP and the socket serve")
    data = root.path / "var/lib/iruka"
    need(data.stat().st_mode & 0o777 == 0o750 and data.owner != "root", "the data folder is closed to others")
    unit.stop()
    need(root.run("dpkg", "-r", "iruka").returncode == 0, "dpkg -r")
    need(not (root.path / "usr/bin/iruka").exists() and (root.path / "etc/iruka/iruka.cnf").exists(), "the program is gone, the options stay")
    done = root.run("dpkg", "-P", "iruka")
    need(done.returncode == 0 and "left alone" in done.stderr, f"dpkg -P: {done.stderr}")
    need(not (root.path / "etc/iruka/iruka.cnf").exists() and (data / "iruka_system.ibd").exists(), "the options are gone, the data stay")
    root.install(package)
    unit = Unit(root)
    need(unit.told() == "READY=1" and ask(unit.connect(), "SELECT a FROM kept.t") == 42, "installed again, it has the data")
    unit.stop()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    if ALONE not in os.environ:
        # Mounts and ports of its own: 3306 may be taken out there.
        os.execvpe("unshare", ["unshare", "-m", "-n", sys.executable, *sys.argv], dict(os.environ, **{ALONE: "1"}))
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="iruka-package-") as folder:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        # The second time elsewhere, and by somebody whose files nobody else may read.
        first, second = make(binary, folder / "first", 0o022), make(binary, folder / "second", 0o077)
        check_equal(first, second)
        (tarball,) = (path for path in first if path.name.endswith(".tar.gz"))
        (package,) = (path for path in first if path.suffix == ".deb")
        for name in ("tarball", "installed"):
            (folder / name).mkdir()
        check_tarball(tarball, folder / "tarball")
        root = Root(folder / "installed")
        try:
            check_package(package, root)
        finally:
            for process in root.processes:
                process.kill()
            subprocess.run(["umount", "-R", "-l", folder / "installed"])
    print(f"all is well, {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
