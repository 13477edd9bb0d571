"""A client of MySQL's protocol that shows what it gets: values, or the very packets. It knows no more than the tests of the proxy need."""
import hashlib
import socket
import struct

LONG_PASSWORD, CONNECT_WITH_DB, LOCAL_FILES, PROTOCOL_41, TRANSACTIONS = 0x1, 0x8, 0x80, 0x200, 0x2000
SECURE_CONNECTION, MULTI_STATEMENTS, MULTI_RESULTS, PLUGIN_AUTH, DEPRECATE_EOF = 0x8000, 0x10000, 0x20000, 0x80000, 0x1000000
CAPABILITIES = LONG_PASSWORD | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | MULTI_RESULTS | PLUGIN_AUTH
OPTIONS = {"multi": MULTI_STATEMENTS, "local": LOCAL_FILES, "deprecate_eof": DEPRECATE_EOF}
FRAME_MAX = 0xFFFFFF
MORE_RESULTS = 8


class Closed(Exception):
    """The other side closed the connection, or has said nothing for long."""


def number(data, at):
    """A length-encoded number, None for NULL, and where it ends."""
    first = data[at]
    if first < 0xFB:
        return first, at + 1
    if first == 0xFB:
        return None, at + 1
    size = {0xFC: 2, 0xFD: 3, 0xFE: 8}[first]
    return int.from_bytes(data[at + 1:at + 1 + size], "little"), at + 1 + size


def text(data, at):
    size, at = number(data, at)
    return (None, at) if size is None else (data[at:at + size], at + size)


def shown(value):
    """Bytes as a reader of a transcript wants them."""
    if value is None:
        return "NULL"
    if len(value) > 200:
        return f"{shown(value[:8])}... {len(value)} bytes, sha1 {hashlib.sha1(value).hexdigest()[:10]}"
    return "".join(chr(byte) if 32 <= byte < 127 and byte != 92 else f"\\x{byte:02x}" for byte in value)


def scrambled(password, scramble):
    """The answer of mysql_native_password."""
    if not password:
        return b""
    first = hashlib.sha1(password.encode()).digest()
    mask = hashlib.sha1(scramble[:20] + hashlib.sha1(first).digest()).digest()
    return bytes(a ^ b for a, b in zip(first, mask))


class Client:
    """One connection. Each method gives lines of the transcript."""

    def __init__(self, port, timeout):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=timeout)
        self.packets = []
        self.statements = []
        self.flags = CAPABILITIES

    # Packets.

    def receive(self, count):
        parts = []
        while count:
            try:
                part = self.socket.recv(min(count, 1 << 20))
            except TimeoutError as error:
                raise Closed("nothing comes") from error
            except OSError as error:
                raise Closed("closed") from error
            if not part:
                raise Closed("closed")
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def packet(self):
        whole = b""
        while True:
            header = self.receive(4)
            size = int.from_bytes(header[:3], "little")
            payload = self.receive(size)
            self.packets.append((header[3], payload))
            whole += payload
            if size < FRAME_MAX:
                self.sequence = header[3] + 1
                return whole

    def send(self, payload, sequence=0):
        frames = []
        for at in range(0, len(payload) + 1, FRAME_MAX):
            part = payload[at:at + FRAME_MAX]
            frames.append(len(part).to_bytes(3, "little") + bytes([sequence % 256]) + part)
            sequence += 1
        try:
            self.socket.sendall(b"".join(frames))
        except OSError as error:
            raise Closed("closed") from error

    # The login.

    def login(self, user="root", password="", db="", options=()):
        greeting = self.packet()
        if greeting[0] == 0xFF:
            return self.error(greeting)
        at = greeting.index(0, 1) + 1
        self.version = greeting[1:at - 1]
        self.thread = struct.unpack_from("<I", greeting, at)[0]
        scramble = greeting[at + 4:at + 12]
        self.plugin = b"mysql_native_password"
        # A short greeting, of a script, ends here.
        if len(greeting) > at + 31:
            scramble += greeting[at + 31:at + 43]
            self.plugin = greeting[at + 44:].split(b"\0")[0] or self.plugin
        for option in options:
            self.flags |= OPTIONS[option]
        flags = self.flags | (CONNECT_WITH_DB if db else 0)
        answer = scrambled(password, scramble)
        payload = struct.pack("<IIB23x", flags, 1 << 24, 45) + user.encode() + b"\0" + bytes([len(answer)]) + answer
        if db:
            payload += db.encode() + b"\0"
        self.send(payload + self.plugin + b"\0", 1)
        verdict = self.packet()
        while verdict[0] not in (0, 0xFF):
            if verdict[0] == 0xFE:
                self.send(scrambled(password, verdict[1:].split(b"\0", 1)[1][:20]), self.sequence)
            verdict = self.packet()
        return self.error(verdict) if verdict[0] == 0xFF else "in"

    # Answers.

    def error(self, payload):
        code = struct.unpack_from("<H", payload, 1)[0]
        rest = payload[3:]
        state = shown(rest[1:6]) + " " if rest[:1] == b"#" else "(no state) "
        return f"ERROR {code} {state}{shown(rest[6:] if rest[:1] == b'#' else rest)}"

    def ok(self, payload, header=0):
        affected, at = number(payload, 1)
        insert_id, at = number(payload, at)
        self.status, warnings = struct.unpack_from("<HH", payload, at)
        if header == 0xFE:
            return ""
        parts = [f"affected {affected}"] + [f"insert id {insert_id}"] * bool(insert_id) + [f"warnings {warnings}"] * bool(warnings)
        return "OK " + ", ".join(parts)

    def end(self, payload):
        """The packet behind definitions or rows."""
        if self.flags & DEPRECATE_EOF:
            self.ok(payload, 0xFE)
        else:
            self.status = struct.unpack_from("<H", payload, 3)[0]

    def is_end(self, payload):
        return payload[:1] == b"\xfe" and len(payload) < FRAME_MAX and (self.flags & DEPRECATE_EOF or len(payload) < 9)

    def definition(self, payload):
        at = 0
        names = []
        for _ in range(6):
            name, at = text(payload, at)
            names.append(name)
        return names[4].decode(), payload[at + 7]

    def result(self, is_binary=False):
        """All results of one answer."""
        lines = []
        while True:
            self.status = 0
            lines += self.one_result(is_binary)
            if not self.status & MORE_RESULTS:
                return lines

    def one_result(self, is_binary):
        first = self.packet()
        if first[0] == 0xFF:
            return [self.error(first)]
        if first[0] == 0:
            return [self.ok(first)]
        if first[0] == 0xFB:
            self.send(self.file, self.sequence)
            self.send(b"", self.sequence + 1)
            return [f"is asked for the file {shown(first[1:])}"] + self.one_result(is_binary)
        columns = [self.definition(self.packet()) for _ in range(number(first, 0)[0])]
        if not self.flags & DEPRECATE_EOF:
            self.end(self.packet())
        lines = [" | ".join(name for name, _ in columns)]
        while True:
            row = self.packet()
            if row[:1] == b"\xff":
                return lines + [self.error(row)]
            if self.is_end(row):
                self.end(row)
                return lines
            lines.append("  " + " | ".join(shown(value) for value in self.cells(row, columns, is_binary)))

    def cells(self, row, columns, is_binary):
        if not is_binary:
            at = 0
            for _ in columns:
                value, at = text(row, at)
                yield value
            return
        at = 1 + (len(columns) + 9) // 8
        for index, (_, kind) in enumerate(columns):
            if row[1 + (index + 2) // 8] >> (index + 2) % 8 & 1:
                yield None
            elif kind in (3, 8):
                size = 4 if kind == 3 else 8
                yield str(int.from_bytes(row[at:at + size], "little", signed=True)).encode()
                at += size
            else:
                value, at = text(row, at)
                yield value

    # Commands.

    def query(self, statement):
        self.send(b"\x03" + statement)
        return self.result()

    def single(self, payload):
        """A command whose answer is one packet."""
        self.send(payload)
        answer = self.packet()
        if answer[0] == 0xFF:
            return [self.error(answer)]
        if answer[0] == 0:
            return [self.ok(answer)]
        return [shown(answer)]

    def prepare(self, statement):
        self.send(b"\x16" + statement)
        first = self.packet()
        if first[0] == 0xFF:
            return [self.error(first)]
        handle, columns, parameters = struct.unpack_from("<IHH", first, 1)
        for count in (parameters, columns):
            for _ in range(count and count + (not self.flags & DEPRECATE_EOF)):
                self.packet()
        self.statements.append((handle, parameters))
        return [f"prepared, {columns} columns, {parameters} parameters"]

    def prepared(self):
        if not self.statements:
            raise Closed("nothing is prepared")
        return self.statements[-1]

    def execute(self, values):
        handle, parameters = self.prepared()
        payload = struct.pack("<BIBI", 0x17, handle, 0, 1)
        if parameters:
            payload += bytes((parameters + 7) // 8) + b"\1" + b"\xfd\0" * parameters
            payload += b"".join(bytes([len(value)]) + value for value in values)
        self.send(payload)
        return self.result(is_binary=True)

    def close_statement(self):
        handle, _ = self.prepared()
        self.statements.pop()
        self.send(struct.pack("<BI", 0x19, handle))
        return ["sent"]

    def fields(self, table):
        self.send(b"\x04" + table + b"\0")
        names = []
        while True:
            answer = self.packet()
            if answer[0] == 0xFF:
                return [self.error(answer)]
            if self.is_end(answer):
                return [", ".join(names)]
            names.append(self.definition(answer)[0])

    def change_user(self, user, db):
        self.send(b"\x11" + user + b"\0\0" + db + b"\0" + struct.pack("<H", 45) + self.plugin + b"\0")
        verdict = self.packet()
        if verdict[0] == 0xFE:
            self.send(b"", self.sequence)
            verdict = self.packet()
        return [self.error(verdict) if verdict[0] == 0xFF else self.ok(verdict)]

    def quit(self):
        self.send(b"\1")
        return self.wait_closed()

    def wait_closed(self):
        try:
            payload = self.packet()
        except Closed as error:
            return [str(error)]
        return [f"got {shown(payload)}"]
