"""Runs a command beside a fresh server: `with_server.py --binary B [--option O ...] -- COMMAND {target} ...`.
`{target}` in the command becomes HOST:PORT. The data directory is made anew and removed; the server must stop
cleanly on SIGTERM, otherwise the run fails and the error log is printed."""
import argparse
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server process on a data directory of its own."""

    def __init__(self, binary, options=(), datadir=None, port=None, log_path=None):
        self.binary, self.options = str(binary), list(options)
        self.folder = pathlib.Path(datadir or tempfile.mkdtemp(prefix="iruka-test-"))
        self.log_path = log_path or self.folder.with_suffix(".log")
        self.port = port or free_port()
        self.process = None
        # What the new process does before it becomes the server: limits of its own.
        self.preexec = None

    def start(self, timeout_seconds=60):
        log = open(self.log_path, "ab")
        self.process = subprocess.Popen(
            [self.binary, "serve", "--datadir", str(self.folder), "--port", str(self.port),
             "--socket", str(self.folder / "s.sock"), *self.options], stdout=log, stderr=log, preexec_fn=self.preexec)
        end = time.monotonic() + timeout_seconds
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise RuntimeError(f"server ended with {self.process.returncode} at start:\n{self.log()[-4000:]}")
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1) as probe:
                    if probe.recv(1):
                        return self
            except OSError:
                time.sleep(0.02)
        raise RuntimeError(f"server did not answer within {timeout_seconds} s:\n{self.log()[-4000:]}")

    def stop(self, timeout_seconds=60):
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(timeout_seconds)
        if code != 0:
            raise RuntimeError(f"server ended with {code}:\n{self.log()[-4000:]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def log(self):
        return self.log_path.read_text(errors="replace")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        self.log_path.unlink(missing_ok=True)


@contextlib.contextmanager
def running(binary, options=()):
    """A fresh server for the body, removed behind it. Behind a body that fails its log is shown; otherwise the server must end
    cleanly, if the body has not ended it."""
    server = Server(binary, options)
    try:
        yield server.start()
        if server.process.poll() is None:
            server.stop()
    except BaseException:
        print(server.log()[-4000:], file=sys.stderr)
        if server.process and server.process.poll() is None:
            server.kill()
        raise
    finally:
        server.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--option", action="append", default=["--innodb-buffer-pool-size=256M", "--local-infile=ON"])
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    server = Server(options.binary, options.option)
    command = [word.replace("{target}", f"127.0.0.1:{server.port}") for word in options.command if word != "--"]
    code = 1
    try:
        server.start()
        environment = dict(os.environ, IRUKA_PORT=str(server.port), IRUKA_SOCKET=str(server.folder / "s.sock"))
        code = subprocess.run(command, env=environment).returncode
        server.stop()
    except Exception as error:
        print(error, file=sys.stderr)
        code = code or 1
        if server.process and server.process.poll() is None:
            server.kill()
    finally:
        if code:
            print(server.log()[-4000:], file=sys.stderr)
        server.remove()
    sys.exit(code)


if __name__ == "__main__":
    main()
