"""A value that is longer than the server may keep in memory goes in and comes out, by every way that carries it in pieces, while the
server's memory stays near that of its pool: `run.py --binary B [--bytes N]`. N is 300 MiB in CI; 4294967295, LONGBLOB's longest, by
hand (a quarter of an hour, and 20 GB of disk).

In: prepared statements whose parameter comes by COM_STMT_SEND_LONG_DATA (INSERT, UPDATE), LOAD DATA LOCAL of the client `mysql`,
LOAD DATA of a file. Out: the text protocol, the binary protocol. A value's bytes follow from their place, so neither side keeps it."""
import argparse
import hashlib
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

import pymysql

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from with_server import running  # noqa: E402

POOL_BYTES = 128 << 20
# What the server may take beyond its pool.
MEMORY_BYTES = 64 << 20
PACKET_BYTES_MAX = 1 << 30
FRAME_BYTES_MAX = 0xFFFFFF
PIECE_BYTES = 1 << 20

COM_STMT_PREPARE, COM_STMT_EXECUTE, COM_STMT_SEND_LONG_DATA, COM_QUERY = 0x16, 0x17, 0x18, 0x03
LONG_BLOB = 0xFB


def pieces(length, seed):
    """The bytes of a value: letters, so that a file of them needs no escapes."""
    block = b"".join(hashlib.sha512(b"%d %d" % (seed, at)).hexdigest().encode() for at in range(PIECE_BYTES // 128))
    at = 0
    while at < length:
        piece = b"%08d" % (at // PIECE_BYTES) + block[8:]
        yield piece[:length - at]
        at += len(piece)


def digest_of(length, seed):
    whole = hashlib.sha256()
    for piece in pieces(length, seed):
        whole.update(piece)
    return whole.digest()


class Raw:
    """Packets over the socket of a connection that is logged in."""

    def __init__(self, connection):
        self.socket = connection._sock
        self.file = connection._rfile
        self.sequence = 0

    def send(self, payload):
        assert len(payload) < FRAME_BYTES_MAX
        self.socket.sendall(struct.pack("<I", len(payload))[:3] + bytes([self.sequence]) + payload)
        self.sequence = self.sequence + 1 & 255

    def command(self, payload):
        self.sequence = 0
        self.send(payload)

    def frame(self):
        header = self.file.read(4)
        return int.from_bytes(header[:3], "little")

    def packet(self):
        payload = self.file.read(self.frame())
        if payload[:1] == b"\xff":
            number, = struct.unpack_from("<H", payload, 1)
            raise pymysql.err.OperationalError(number, payload[9:].decode())
        return payload

    def prepare(self, statement):
        self.command(bytes([COM_STMT_PREPARE]) + statement.encode())
        answer = self.packet()
        identifier, columns, parameters = struct.unpack_from("<IHH", answer, 1)
        for count in (parameters, columns):
            for _ in range(count + (count > 0)):
                self.packet()
        return identifier

    def send_long(self, identifier, parameter, piece):
        self.command(struct.pack("<BIH", COM_STMT_SEND_LONG_DATA, identifier, parameter) + piece)

    def execute(self, identifier, types=b""):
        """Executes a statement whose parameters were all sent."""
        bound = bytes((len(types) + 7) // 8) + b"\x01" + b"".join(bytes([code, 0]) for code in types) if types else b""
        self.command(struct.pack("<BIBI", COM_STMT_EXECUTE, identifier, 0, 1) + bound)

    def column_definitions(self):
        for _ in range(self.packet()[0] + 1):
            self.packet()

    def read_row_digest(self, skipped):
        """Length and digest of the only value of the only row. `skipped` bytes stand before its length."""
        whole, left, length = hashlib.sha256(), 0, None
        while True:
            frame = size = self.frame()
            if length is None:
                head = self.file.read(skipped + 9)
                assert head[skipped] == 0xFE, f"no long value: {head!r}"
                length = left = struct.unpack_from("<Q", head, skipped + 1)[0]
                size -= len(head)
            while size > 0:
                piece = self.file.read(min(size, PIECE_BYTES))
                assert piece, "the connection ended in the row"
                whole.update(piece)
                size, left = size - len(piece), left - len(piece)
            if frame < FRAME_BYTES_MAX:
                break
        assert left == 0, f"{left} bytes are missing"
        assert self.packet()[0] == 0xFE
        return length, whole.digest()


class Memory:
    """The most memory of its own that the server's process has during a step; pages of its binary do not count."""

    def __init__(self, process):
        self.status = pathlib.Path("/proc") / str(process.pid) / "status"
        self.most = 0
        threading.Thread(target=self.watch, daemon=True).start()

    def watch(self):
        while True:
            try:
                line = next(line for line in self.status.read_text().splitlines() if line.startswith("RssAnon"))
            except (OSError, StopIteration):
                return
            self.most = max(self.most, int(line.split()[1]) << 10)
            time.sleep(0.01)

    def check(self, what, seconds):
        most, self.most = self.most, 0
        fits = most <= POOL_BYTES + MEMORY_BYTES
        print(f"{'ok    ' if fits else 'FAILED'} {what}: {seconds:.1f} s, at most {most >> 20} MiB", flush=True)
        return fits


def connect(server, **more):
    return pymysql.connect(host="127.0.0.1", port=server.port, user="root", database="streaming", autocommit=True, **more)


def write_file(path, length, seed):
    with open(path, "wb") as file:
        file.write(b"%d\t" % seed)
        for piece in pieces(length, seed):
            file.write(piece)
        file.write(b"\n")


def run(server, length, folder):
    with pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True) as setup, setup.cursor() as cursor:
        cursor.execute("CREATE DATABASE streaming")
        cursor.execute("SET GLOBAL local_infile = 1")
        cursor.execute(f"SET GLOBAL max_allowed_packet = {PACKET_BYTES_MAX}")
        cursor.execute("CREATE TABLE streaming.t (id INT PRIMARY KEY, n INT NOT NULL DEFAULT 0, v LONGBLOB, s LONGTEXT, KEY (n))")
    memory, failed = Memory(server.process), []

    def step(what, action):
        began = time.monotonic()
        action()
        if not memory.check(what, time.monotonic() - began):
            failed.append(what)

    def query(statement):
        with connect(server) as connection, connection.cursor() as cursor:
            cursor.execute(statement)
            return cursor.fetchall()

    def send(statement, seed):
        connection = connect(server)
        raw = Raw(connection)
        identifier = raw.prepare(statement)
        for piece in pieces(length, seed):
            raw.send_long(identifier, 0, piece)
        raw.execute(identifier, bytes([LONG_BLOB]))
        assert raw.packet()[0] == 0
        connection.close()

    def load(seed, local):
        path = folder / f"{seed}.txt"
        write_file(path, length, seed)
        statement = f"LOAD DATA {'LOCAL' if local else ''} INFILE '{path}' INTO TABLE t CHARACTER SET utf8mb4 (id, v)"
        if local:
            subprocess.run(["mysql", "--skip-ssl", "-h127.0.0.1", f"-P{server.port}", "-uroot", "--local-infile=1", "streaming",
                            "-e", statement], check=True)
        else:
            query(statement)
        path.unlink()

    def receive(row, seed, binary, column="v"):
        connection = connect(server)
        raw = Raw(connection)
        statement = f"SELECT {column} FROM t WHERE id = {row}"
        if binary:
            raw.execute(raw.prepare(statement))
        else:
            raw.command(bytes([COM_QUERY]) + statement.encode())
        raw.column_definitions()
        assert raw.read_row_digest(2 if binary else 0) == (length, digest_of(length, seed)), "other bytes came out than went in"
        connection.close()

    step("INSERT of a parameter in pieces", lambda: send("INSERT INTO t (id, v) VALUES (1, ?)", 1))
    step("SELECT, text protocol", lambda: receive(1, 1, False))
    step("SELECT, binary protocol", lambda: receive(1, 1, True))
    step("UPDATE of a number beside", lambda: query("UPDATE t SET n = n + 1"))
    step("DELETE", lambda: query("DELETE FROM t WHERE id = 1"))
    step("LOAD DATA LOCAL by mysql", lambda: load(2, True))
    step("SELECT of what it put in", lambda: receive(2, 2, False))
    step("LOAD DATA", lambda: load(3, False))
    step("UPDATE that replaces the value", lambda: send("UPDATE t SET v = ? WHERE id = 3", 4))
    step("SELECT of the other value", lambda: receive(3, 4, True))
    step("UPDATE by a text in pieces", lambda: send("UPDATE t SET s = ?, n = 5 WHERE id = 2", 5))
    step("SELECT of the text", lambda: receive(2, 5, False, "s"))
    assert [row[0] for row in query("SELECT n FROM t ORDER BY id")] == [5, 0]
    assert query("CHECK TABLE t")[0][3] == "OK"
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--bytes", type=int, default=300 << 20)
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="iruka-streaming-"))
    try:
        with running(options.binary, [f"--innodb-buffer-pool-size={POOL_BYTES}", "--secure-file-priv="]) as server:
            failed = run(server, options.bytes, folder)
    finally:
        shutil.rmtree(folder)
    sys.exit(f"too much memory: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
