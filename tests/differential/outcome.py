"""What a server answers to a statement, as plain data that can be stored, and how two answers differ.
Main types: Session (a connection that runs statements in either protocol), difference(), is_determined()."""
import re
import struct

import pymysql
from pymysql.connections import MySQLResult
from pymysql.constants import CLIENT, COMMAND

UNSIGNED = 32
KINDS = ("lost", "error", "rows", "type", "warning")
# Hints that make MySQL answer a query by other plans. Names that a query lacks do no harm.
OTHER_PLANS = ["NO_INDEX(a) NO_INDEX(b) NO_INDEX(c) NO_INDEX(q) NO_INDEX(keyed)", "JOIN_FIXED_ORDER()", "JOIN_PREFIX(b)", "JOIN_SUFFIX(a)",
               "JOIN_PREFIX(c)", "NO_BNL()"]


# Orders in which the rows of the tables come when MySQL is asked again.
OTHER_ORDERS = ["1 DESC", "RAND(1)", "RAND(2)", "RAND(3)"]
# A table of FROM, as queries name it.
SOURCE = re.compile(r"\b(FROM|JOIN) (\w+) (?!WHERE|ON|ORDER|GROUP|LIMIT|JOIN|LEFT|RIGHT|CROSS|UNION|INTERSECT|EXCEPT)(\w+)")


def text(value):
    if value is None:
        return None
    try:
        return value.decode("utf8")
    except UnicodeDecodeError:
        return "0x" + value.hex()


class Session:
    """A connection to HOST:PORT. `run` never fails but for a server that is gone: that outcome is ["lost"]."""

    def __init__(self, target, schema):
        self.host, port = target.split(":")
        self.port, self.schema = int(port), schema
        self.connection = None
        self.connect(fresh=True)

    def connect(self, fresh=False):
        self.connection = pymysql.connect(host=self.host, port=self.port, user="root", charset="utf8mb4", autocommit=None, conv={}, use_unicode=False,
                                          client_flag=CLIENT.MULTI_STATEMENTS, read_timeout=60, init_command=None)
        if fresh:
            self.run(f"DROP DATABASE IF EXISTS {self.schema}")
            self.run(f"CREATE DATABASE {self.schema}")
        self.run(f"USE {self.schema}")

    def close(self):
        """Ends the connection, and the transaction that a stream may have left open."""
        try:
            self.connection.close()
        except pymysql.err.MySQLError:
            pass

    def run(self, statement, parameters=None):
        """The outcome: ["error", number] | ["ok", affected, warnings] | ["rows", columns, rows, warnings] | ["lost"]."""
        try:
            if parameters is not None:
                return self.execute_prepared(statement, parameters)
            self.connection._execute_command(COMMAND.COM_QUERY, statement.encode("utf8"))
            self.connection._read_query_result(unbuffered=False)
            result = self.connection._result
            if result.description is None:
                return ["ok", result.affected_rows, self.warnings(result.warning_count)]
            rows = [[text(value) for value in row] for row in result.rows]
            return ["rows", [column(field) for field in result.fields], rows, self.warnings(result.warning_count)]
        except (pymysql.err.InterfaceError, pymysql.err.OperationalError) as error:
            if error.args[0] not in (0, 2006, 2013):
                return ["error", error.args[0]]
            try:
                self.connect()
            except pymysql.err.MySQLError:
                pass
            return ["lost"]
        except pymysql.err.MySQLError as error:
            return ["error", error.args[0]]

    def warnings(self, count):
        if not count:
            return []
        with self.connection.cursor() as cursor:
            cursor.execute("SHOW WARNINGS")
            return [[text(value) for value in row] for row in cursor.fetchall()]

    def execute_prepared(self, statement, parameters):
        """Prepares, executes once, closes. Rows are the bytes of the binary protocol."""
        connection = self.connection
        connection._execute_command(COMMAND.COM_STMT_PREPARE, statement.encode("utf8"))
        packet = connection._read_packet()
        handle, columns, places = struct.unpack_from("<IHH", packet._data, 1)
        for count in (places, columns):
            if count:
                for _ in range(count + 1):
                    connection._read_packet()
        try:
            connection._execute_command(COMMAND.COM_STMT_EXECUTE, execute_body(handle, parameters))
            result = BinaryResult(connection)
            result.read()
            if result.description is None:
                return ["ok", result.affected_rows, self.warnings(result.warning_count)]
            return ["rows", [column(field) for field in result.fields], [[row.hex()] for row in result.raw_rows], self.warnings(result.warning_count)]
        finally:
            connection._execute_command(COMMAND.COM_STMT_CLOSE, struct.pack("<I", handle))


class BinaryResult(MySQLResult):
    """A result whose rows are kept as the packets that came."""

    def _read_rowdata_packet(self):
        self.raw_rows = []
        while True:
            packet = self.connection._read_packet()
            if self._check_packet_is_eof(packet):
                self.connection = None
                break
            self.raw_rows.append(packet._data)
        self.rows, self.affected_rows = (), len(self.raw_rows)


def column(field):
    return [text(field.name.encode()), field.type_code, field.charsetnr, bool(field.flags & UNSIGNED)]


def execute_body(handle, parameters):
    """COM_STMT_EXECUTE without a cursor."""
    body = struct.pack("<IBI", handle, 0, 1)
    if not parameters:
        return body
    nulls = bytearray((len(parameters) + 7) // 8)
    types, values = b"", b""
    for at, parameter in enumerate(parameters):
        if parameter is None:
            nulls[at // 8] |= 1 << at % 8
            types += b"\x06\x00"
        elif isinstance(parameter, int):
            types, values = types + b"\x08\x00", values + struct.pack("<q", parameter)
        elif isinstance(parameter, float):
            types, values = types + b"\x05\x00", values + struct.pack("<d", parameter)
        else:
            raw = parameter.encode("utf8") if isinstance(parameter, str) else parameter
            types += b"\xfd\x00" if isinstance(parameter, str) else b"\xfc\x00"
            values += bytes([len(raw)]) + raw
    return body + bytes(nulls) + b"\x01" + types + values


def same_value(left, right):
    """Equal, or floating point numbers that differ in the last digit (the C library's functions are not all exact)."""
    if left == right:
        return True
    if left is None or right is None or "." not in left + right and "e" not in left + right:
        return False
    try:
        one, other = float(left), float(right)
    except ValueError:
        return False
    return len(left.strip("-0.")) > 15 and abs(one - other) <= 1e-14 * abs(one)


def same_rows(left, right):
    if left == right:
        return True
    if len(left) != len(right):
        return False
    order = lambda row: [(value is not None, value or "") for value in row]  # noqa: E731
    return all(len(one) == len(other) and all(map(same_value, one, other))
               for one, other in zip(sorted(left, key=order), sorted(right, key=order)))


def difference(expected, got):
    """How `got` differs: one of KINDS, the gravest; None if it does not."""
    if got[0] == "lost" or expected[0] == "lost":
        return None if got[0] == expected[0] else "lost"
    if expected[0] != got[0] or (expected[0] == "error" and expected[1] != got[1]):
        return "error"
    if expected[0] == "error":
        return None
    if expected[0] == "ok":
        if expected[1] != got[1]:
            return "rows"
    elif not same_rows(expected[2], got[2]):
        return "rows"
    elif expected[1] != got[1]:
        return "type"
    return "warning" if sorted(map(str, expected[-1])) != sorted(map(str, got[-1])) else None


def is_determined(reference, statement, parameters, expected):
    """Whether MySQL itself answers a query with the same rows by other plans. If not, SQL leaves the answer open (which of the equal texts
    'a' and 'A' stands for their group, in which order numbers are added up), or an index of MySQL's answers otherwise than its comparison.
    It is also asked over tables whose rows come in other orders."""
    if not statement.startswith("SELECT") or " FROM " not in statement:
        return True
    for order in OTHER_ORDERS:
        reordered = SOURCE.sub(rf"\1 (SELECT * FROM \2 ORDER BY {order} LIMIT 1000000) \3", statement)
        if difference(expected, reference.run(reordered, parameters)) == "rows":
            return False
    answers = (reference.run(re.sub(r"\bSELECT\b", f"SELECT /*+ {hints} */", statement), parameters) for hints in OTHER_PLANS)
    return not any(difference(expected, answer) in ("error", "rows") for answer in answers)
