"""Writes hermitage.spec: the anomalies of Adya's phenomena as two and three sessions show them, at each level. The cases are those of Martin
Kleppmann's Hermitage. Run it after a change here, and record the result from MySQL."""
import pathlib

LEVELS = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"]

CASES = {
    "G0 write cycles": """
        a UPDATE test SET value = 11 WHERE id = 1
        b UPDATE test SET value = 12 WHERE id = 1
        a UPDATE test SET value = 21 WHERE id = 2
        a COMMIT
        a SELECT * FROM test
        b UPDATE test SET value = 22 WHERE id = 2
        b COMMIT
        a SELECT * FROM test""",
    "G1a aborted reads": """
        a UPDATE test SET value = 101 WHERE id = 1
        b SELECT * FROM test
        a ROLLBACK
        b SELECT * FROM test
        b COMMIT""",
    "G1b intermediate reads": """
        a UPDATE test SET value = 101 WHERE id = 1
        b SELECT * FROM test
        a UPDATE test SET value = 11 WHERE id = 1
        a COMMIT
        b SELECT * FROM test
        b COMMIT""",
    "G1c circular information flow": """
        a UPDATE test SET value = 11 WHERE id = 1
        b UPDATE test SET value = 22 WHERE id = 2
        a SELECT * FROM test WHERE id = 2
        b SELECT * FROM test WHERE id = 1
        a COMMIT
        b COMMIT""",
    "OTV observed transaction vanishes": """
        a UPDATE test SET value = 11 WHERE id = 1
        a UPDATE test SET value = 19 WHERE id = 2
        b UPDATE test SET value = 12 WHERE id = 1
        a COMMIT
        c SELECT * FROM test WHERE id = 1
        b UPDATE test SET value = 18 WHERE id = 2
        c SELECT * FROM test WHERE id = 2
        b COMMIT
        c SELECT * FROM test WHERE id = 2
        c SELECT * FROM test WHERE id = 1
        c COMMIT""",
    "PMP predicate-many-preceders": """
        a SELECT * FROM test WHERE value = 30
        b INSERT INTO test VALUES (3, 30)
        b COMMIT
        a SELECT * FROM test WHERE value MOD 3 = 0
        a COMMIT""",
    "PMP for writes": """
        a UPDATE test SET value = value + 10
        b SELECT * FROM test WHERE value = 20
        b DELETE FROM test WHERE value = 20
        a COMMIT
        b SELECT * FROM test
        b COMMIT""",
    "P4 lost update": """
        a SELECT * FROM test WHERE id = 1
        b SELECT * FROM test WHERE id = 1
        a UPDATE test SET value = 11 WHERE id = 1
        b UPDATE test SET value = 11 WHERE id = 1
        a COMMIT
        b COMMIT""",
    "P4 lost update with FOR UPDATE": """
        a SELECT * FROM test WHERE id = 1 FOR UPDATE
        b SELECT * FROM test WHERE id = 1 FOR UPDATE
        a UPDATE test SET value = 11 WHERE id = 1
        a COMMIT
        b UPDATE test SET value = 12 WHERE id = 1
        b COMMIT""",
    "G-single read skew": """
        a SELECT * FROM test WHERE id = 1
        b SELECT * FROM test WHERE id = 1
        b SELECT * FROM test WHERE id = 2
        b UPDATE test SET value = 12 WHERE id = 1
        b UPDATE test SET value = 18 WHERE id = 2
        b COMMIT
        a SELECT * FROM test WHERE id = 2
        a COMMIT""",
    "G-single predicate dependencies": """
        a SELECT * FROM test WHERE value MOD 5 = 0
        b UPDATE test SET value = 12 WHERE value = 10
        b COMMIT
        a SELECT * FROM test WHERE value MOD 3 = 0
        a COMMIT""",
    "G-single write predicate, one": """
        a SELECT * FROM test WHERE id = 1
        b SELECT * FROM test
        b UPDATE test SET value = 12 WHERE id = 1
        b UPDATE test SET value = 18 WHERE id = 2
        b COMMIT
        a DELETE FROM test WHERE value = 20
        a SELECT * FROM test WHERE id = 2
        a COMMIT""",
    "G-single write predicate, two": """
        a SELECT * FROM test WHERE id = 1
        b SELECT * FROM test
        b UPDATE test SET value = 12 WHERE id = 1
        a DELETE FROM test WHERE value = 20
        b UPDATE test SET value = 18 WHERE id = 2
        b COMMIT
        a COMMIT
        c SELECT * FROM test""",
    "G2-item write skew": """
        a SELECT * FROM test WHERE id IN (1, 2)
        b SELECT * FROM test WHERE id IN (1, 2)
        a UPDATE test SET value = 11 WHERE id = 1
        b UPDATE test SET value = 21 WHERE id = 2
        a COMMIT
        b COMMIT
        c SELECT * FROM test""",
    "G2 anti-dependency cycles": """
        a SELECT * FROM test WHERE value MOD 3 = 0
        b SELECT * FROM test WHERE value MOD 3 = 0
        a INSERT INTO test VALUES (3, 30)
        b INSERT INTO test VALUES (4, 42)
        a COMMIT
        b COMMIT
        c SELECT * FROM test WHERE value MOD 3 = 0""",
    "G2 two edges": """
        a SELECT * FROM test
        b UPDATE test SET value = value + 5 WHERE id = 2
        b COMMIT
        c SELECT * FROM test
        c COMMIT
        a UPDATE test SET value = 0 WHERE id = 1
        a COMMIT
        d SELECT * FROM test""",
    "phantom under a locking read": """
        a SELECT * FROM test WHERE id > 1 FOR UPDATE
        b INSERT INTO test VALUES (3, 30)
        a SELECT * FROM test WHERE id > 1 FOR UPDATE
        a COMMIT
        b COMMIT
        a SELECT * FROM test""",
    "two who keep one gap closed": """
        a SELECT * FROM test WHERE id = 5 FOR UPDATE
        b SELECT * FROM test WHERE id = 5 FOR UPDATE
        a INSERT INTO test VALUES (5, 1)
        b INSERT INTO test VALUES (5, 2)
        a COMMIT
        b COMMIT
        c SELECT * FROM test""",
    "two inserts of one key, the first rolls back": """
        a INSERT INTO test VALUES (5, 1)
        b INSERT INTO test VALUES (5, 2)
        c INSERT INTO test VALUES (5, 3)
        a ROLLBACK
        b COMMIT
        c COMMIT
        d SELECT * FROM test""",
    "two inserts of one key, the first commits": """
        a INSERT INTO test VALUES (5, 1)
        b INSERT INTO test VALUES (5, 2)
        a COMMIT
        b COMMIT
        d SELECT * FROM test""",
    "an insert of a key whose row is being deleted": """
        a DELETE FROM test WHERE id = 1
        b INSERT INTO test VALUES (1, 2)
        a COMMIT
        b COMMIT
        d SELECT * FROM test""",
    "a snapshot that is taken late": """
        a SELECT 1
        b UPDATE test SET value = 12 WHERE id = 1
        b COMMIT
        a SELECT * FROM test
        b UPDATE test SET value = 13 WHERE id = 1
        a SELECT * FROM test
        a COMMIT""",
}


def main():
    lines = ["# Written by hermitage.py.", "setup: CREATE TABLE test (id INT PRIMARY KEY, value INT)", "setup: INSERT INTO test VALUES (1, 10), (2, 20)", ""]
    for level in LEVELS:
        for name, steps in CASES.items():
            steps = [line.strip().split(" ", 1) for line in steps.strip().splitlines()]
            sessions = sorted({session for session, _ in steps})
            lines.append(f"== {level}: {name}")
            for session in sessions:
                lines += [f"{session}: SET SESSION TRANSACTION ISOLATION LEVEL {level}", f"{session}: BEGIN"]
            lines += [f"{session}: {statement}" for session, statement in steps]
    (pathlib.Path(__file__).resolve().parent / "hermitage.spec").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
