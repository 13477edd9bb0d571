"""MySQL Proxy's uses, each a script with a session: what the client sees, what the script prints, what the log says.

    run.py check --binary IRUKA HOST:PORT [NAMES...]         against the recordings
    run.py record --original MYSQL-PROXY HOST:PORT [NAMES]   NAME.original: what the original gave
    run.py note --binary IRUKA HOST:PORT NAMES               NAME.result: where ours differs on purpose

HOST:PORT is the server behind. See README.md for the form of a session.
"""
import argparse
import concurrent.futures
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

import backends
import client

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER.parent))
from with_server import free_port  # noqa: E402

SCRIPTS = FOLDER / "scripts"
# How long a client waits for an answer: tests of hanging backends set their own.
TIMEOUT_SECONDS = 8
TOGETHER = 6
# Lines of the log about the process, and about the original's own inner steps.
NOT_COMPARED = r"plugin proxy \S+ started|shut(ting )?down|last message repeated|plugin_call|proxy listening|added read"


def is_listening(port):
    return f"0100007F:{port:04X} 00000000:0000 0A" in pathlib.Path("/proc/net/tcp").read_text()


class Proxy:
    """The process under test with its script in a folder of its own, whose name is short because Lua cuts names at 60 characters."""

    def __init__(self, command, script, options, ports):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ip-", dir="/tmp"))
        self.port = free_port()
        self.script = self.folder / script.name
        if script.exists():
            shutil.copy(script, self.script)
        arguments = [*command, f"--proxy-address=127.0.0.1:{self.port}", f"--proxy-lua-script={self.script}"]
        for kind, port in ports:
            arguments.append(f"--proxy-{'read-only-' if kind == 'read-only' else ''}backend-addresses=127.0.0.1:{port}")
        with open(self.folder / "out", "wb") as out, open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen([*arguments, *options], stdout=out, stderr=log, cwd=self.folder)
        end = time.monotonic() + 20
        while not is_listening(self.port):
            if self.process.poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"the proxy did not start:\n{self.read('log')}")
            time.sleep(0.01)

    def read(self, name):
        return (self.folder / name).read_text(errors="backslashreplace")

    def stop(self):
        """How the process ended: with 0 after SIGTERM, or earlier."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


class Session:
    """Plays a session's lines, and keeps the transcript."""

    def __init__(self, name, command, server, source=None, script=None):
        self.name, self.server = name, server
        self.database = "proxy_" + name
        source = source or (SCRIPTS / f"{name}.session").read_text()
        head, _, body = source.partition("---\n")
        self.settings = dict(re.findall(r"^(\w+): (.*)$", head, re.M))
        self.lines = [line for line in body.splitlines() if line and not line.startswith("#")]
        kinds = self.settings.get("backends", "read-write").split()
        self.backends = [backends.Backend(server) for _ in kinds]
        for backend, mode in zip(self.backends, self.settings.get("modes", "").split()):
            backend.set(mode)
        script = script or SCRIPTS / f"{name}.lua"
        ports = [(kind, backend.port) for kind, backend in zip(kinds, self.backends)]
        options = self.settings.get("options", "").split()
        self.is_original = "proxy" not in command
        if not self.is_original:
            options += self.settings.get("own_options", "").split()
        self.proxy = Proxy(command, script, options, ports)
        self.clients = {}
        self.transcript = []

    def root(self, statement):
        direct = client.Client(self.server[1], TIMEOUT_SECONDS)
        direct.login()
        return direct.query(statement.encode())

    def play(self):
        self.root(f"DROP DATABASE IF EXISTS {self.database}")
        self.root(f"CREATE DATABASE {self.database}")
        try:
            for line in self.lines:
                self.transcript.append(line)
                words = line.replace("{db}", self.database)
                self.transcript += ["    " + self.masked(shown) for shown in self.step(words)]
        finally:
            code = self.proxy.stop()
            self.root(f"DROP DATABASE {self.database}")
        self.transcript += ["printed:"] + ["    " + self.masked(line) for line in self.proxy.read("out").splitlines()]
        self.transcript += ["logged:"] + ["    " + self.masked(line) for line in self.logged()]
        self.transcript.append(f"ended: {code}")
        shutil.rmtree(self.proxy.folder)
        for backend in self.backends:
            backend.set("down")
        return "\n".join(self.transcript) + "\n"

    def logged(self):
        """The log without times, places in the proxy's own source, its start and its end."""
        for line in self.proxy.read("log").splitlines():
            line = re.sub(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d: ", "", line)
            line = re.sub(r"\S+\.(c|rs)[.:]\d+: ", "", line)
            line = re.sub(r"(sock->challenge: ).*( \(looking for)", r"\1...\2", line)
            if not re.search(NOT_COMPARED, line):
                yield line

    def masked(self, line):
        line = line.replace(f"{self.proxy.folder}/", "").replace(f"127.0.0.1:{self.proxy.port}", "PROXY")
        for number, backend in enumerate(self.backends, start=1):
            line = line.replace(f"127.0.0.1:{backend.port}", f"BACKEND{number}")
        for name, connection in self.clients.items():
            line = line.replace(f"127.0.0.1:{connection.local_port}", f"CLIENT-{name}")
        return line.rstrip()

    def step(self, line):
        verb, _, rest = line.partition(" ")
        if verb == "backend":
            number, mode = rest.split()
            self.backends[int(number) - 1].set(mode)
            return []
        if verb == "accepted":
            return [", ".join(str(backend.accepted) for backend in self.backends)]
        if verb == "wait":
            time.sleep(float(rest))
            return []
        if verb == "script":
            if rest == "gone":
                self.proxy.script.unlink()
            else:
                shutil.copy(SCRIPTS / rest, self.proxy.script)
            return []
        if verb == "server":
            return self.root(rest)
        try:
            return self.client_step(verb, rest)
        except client.Closed as error:
            return [str(error)]

    def client_step(self, name, rest):
        verb, _, rest = rest.partition(" ")
        rest = re.sub(r"\{(.) times (\d+)\}", lambda found: found[1] * int(found[2]), rest)
        if verb == "connect":
            words = dict(word.partition("=")[::2] for word in rest.split())
            options = [word for word in words if word in client.OPTIONS]
            timeout = float(self.settings.get("timeout", TIMEOUT_SECONDS))
            self.clients[name] = connection = client.Client(self.proxy.port, timeout)
            connection.local_port = connection.socket.getsockname()[1]
            return [connection.login(words.get("user", "root"), words.get("password", ""), words.get("db", ""), options)]
        connection = self.clients[name]
        if verb == "packets":
            connection.packets = []
            self.client_step(name, rest)
            return [f"{sequence}: {client.shown(payload)}" for sequence, payload in connection.packets]
        data = rest.encode()
        if verb == "raw":
            return connection.single(bytes.fromhex(rest))
        if verb == "send":
            connection.send(bytes.fromhex(rest))
            return ["sent"]
        if verb == "file":
            connection.file = data.decode("unicode_escape").encode("latin1")
            return []
        if verb == "execute":
            return connection.execute([word.encode() for word in rest.split()])
        if verb == "change_user":
            user, database = rest.split()
            return connection.change_user(user.encode(), database.encode())
        if verb == "init_db":
            return connection.single(b"\2" + data)
        if verb == "leave":
            connection.socket.close()
            return []
        return {
            "query": lambda: connection.query(data), "prepare": lambda: connection.prepare(data),
            "close_statement": connection.close_statement, "fields": lambda: connection.fields(data),
            "ping": lambda: connection.single(b"\x0e"), "quit": connection.quit, "wait_closed": connection.wait_closed,
        }[verb]()


def played(name, command, server):
    return Session(name, command, server).play()


def expected(name):
    """The recording that ours has to equal: its own where it differs from the original on purpose, behind the reasons."""
    own, original = SCRIPTS / f"{name}.result", SCRIPTS / f"{name}.original"
    if not own.exists():
        return original.read_text()
    reasons, _, recorded = own.read_text().partition("---\n")
    if not reasons.strip() or original.exists() and recorded == original.read_text():
        raise SystemExit(f"{own}: no reason is given, or nothing differs")
    return recorded


def checked(name, command, server):
    wanted, got = expected(name), played(name, command, server)
    if got == wanted:
        return True
    with tempfile.NamedTemporaryFile("w") as one, tempfile.NamedTemporaryFile("w") as two:
        for file, content in ((one, wanted), (two, got)):
            file.write(content)
            file.flush()
        shown = subprocess.run(["diff", "-u", f"--label={name}", "--label=now", one.name, two.name], stdout=subprocess.PIPE, text=True)
    print(shown.stdout)
    return False


def note(name, command, server):
    own, original = SCRIPTS / f"{name}.result", SCRIPTS / f"{name}.original"
    reasons = own.read_text().partition("---\n")[0] if own.exists() else ""
    got = played(name, command, server)
    if original.exists() and got == original.read_text():
        own.unlink(missing_ok=True)
    else:
        own.write_text(f"{reasons}---\n{got}")
    return True


def record(name, command, server):
    if "only_ours: " in (SCRIPTS / f"{name}.session").read_text():
        return True
    (SCRIPTS / f"{name}.original").write_text(played(name, command, server))
    return True


def attempted(act, name, *arguments):
    try:
        return act(name, *arguments)
    except Exception:
        print(f"{name}: {traceback.format_exc(limit=-1)}")
        return False


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("check", "record", "note"))
    parser.add_argument("--binary")
    parser.add_argument("--original")
    parser.add_argument("server")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    host, _, port = options.server.partition(":")
    program = str(pathlib.Path(options.binary or options.original).resolve())
    command = [program, "proxy"] if options.binary else ["stdbuf", "-oL", program]
    act = {"check": checked, "record": record, "note": note}[options.action]
    names = options.names or sorted(path.stem for path in SCRIPTS.glob("*.session"))
    with concurrent.futures.ThreadPoolExecutor(TOGETHER) as threads:
        outcomes = list(threads.map(lambda name: attempted(act, name, command, (host, int(port))), names))
    if not all(outcomes):
        raise SystemExit(f"{outcomes.count(False)} of {len(names)} sessions differ")
    print(f"proxy: {len(names)} sessions")


if __name__ == "__main__":
    main()
