"""The cells of the privilege matrix: statements x ways to name an object x grants. Main function: `cells()`.

A `Case` is a statement with what it needs; `cells` runs it without any grant, with grants elsewhere only, with each need
missing once, with all needs at table, schema and global level, through a role, and (where columns can be granted) with the
needs on one column and on all columns; and with everything but what was revoked of the schemas that it names, by a role
too, and with the needs granted there all the same. Which outcome is right is not said here: it is recorded from MySQL."""
import collections
import itertools

# A table, its columns (key, plain, not to be seen) and what can be granted on it.
Table = collections.namedtuple("Table", "name a b secret exists")
T = Table("security_a.t", "a", "b", "secret", True)
U = Table("security_a.u", "a", "b", "secret", True)
MISSING = Table("security_a.missing", "a", "b", "secret", False)
NO_SCHEMA = Table("security_none.t", "a", "b", "secret", False)
ACCOUNTS = Table("mysql.user", "User", "Host", "authentication_string", True)
OTHER_ACCOUNTS = Table("mysql.db", "User", "Host", "Select_priv", True)
VIEW = Table("information_schema.TABLES", "TABLE_NAME", "TABLE_SCHEMA", "TABLE_TYPE", True)
THREADS = Table("performance_schema.threads", "THREAD_ID", "NAME", "TYPE", True)
# Views of T: by root's rights, by the asker's, over the first, by those of one who lacks `secret`, by nobody's, and over the last.
VIEWS = [Table(f"security_v.{name}", "a", "b", "secret", True) for name in ("definer", "invoker", "over", "weak", "gone", "over_gone", "invoker_over_gone")]
# Tables and views that statements make, and names at which there is nothing.
MADE = ("security_a.new", "security_v.new", "security_v.other", "security_v.nosuch")

WORLD = [
    *[f"DROP DATABASE IF EXISTS security_{name}" for name in ("a", "b", "v", "w", "new")],
    *[f"CREATE DATABASE security_{name}" for name in ("a", "b", "v", "w")],
    *[f"CREATE TABLE {name} (a INT PRIMARY KEY, b INT, secret VARCHAR(20), KEY kb (b))"
      for name in ("security_a.t", "security_a.u", "security_a.other", "security_b.t")],
    *[f"INSERT INTO {name} VALUES (1, 10, 'first'), (2, 20, 'second')"
      for name in ("security_a.t", "security_a.u", "security_a.other", "security_b.t")],
    "CREATE USER IF NOT EXISTS security_weak@localhost, security_gone@localhost",
    "GRANT SELECT (a, b), UPDATE (b) ON security_a.t TO security_weak@localhost", "GRANT SELECT ON security_a.t TO security_gone@localhost",
    *[f"CREATE {how} VIEW security_v.{name} AS SELECT * FROM {base}" for name, how, base in (
        ("definer", "", "security_a.t"), ("invoker", "SQL SECURITY INVOKER", "security_a.t"), ("over", "", "security_v.definer"),
        ("weak", "DEFINER = security_weak@localhost", "security_a.t"), ("gone", "DEFINER = security_gone@localhost", "security_a.t"),
        ("over_gone", "", "security_v.gone"), ("invoker_over_gone", "SQL SECURITY INVOKER", "security_v.gone"))],
    "DROP USER security_gone@localhost",
    "CREATE VIEW security_w.plain AS SELECT a, b, secret FROM security_a.t", "CREATE VIEW security_w.nested AS SELECT a, b, secret FROM security_w.plain",
    "CREATE VIEW security_w.asking AS SELECT a, b, (SELECT MAX(secret) FROM security_a.u) AS secret FROM security_a.t",
    "CREATE VIEW security_w.lent AS SELECT a, b, secret FROM security_w.plain",
]
TARGETS = [
    "CREATE USER security_plain@localhost", "CREATE USER security_system@localhost",
    "GRANT SYSTEM_USER ON *.* TO security_system@localhost", "CREATE ROLE security_role", "CREATE ROLE security_system_role",
    "GRANT SELECT ON security_b.t TO security_role", "GRANT SYSTEM_USER ON *.* TO security_system_role",
    "GRANT SELECT ON security_a.t TO security_plain@localhost", "GRANT security_role TO security_plain@localhost",
]
REMAKE_TARGETS = [
    "DROP USER IF EXISTS security_plain@localhost, security_system@localhost, security_role, security_system_role, "
    "security_new@localhost, security_renamed@localhost", *TARGETS]

# Grants that say nothing about what most statements touch.
ELSEWHERE = ("ALL ON security_b.*", "ALL ON security_a.other")
COLUMN_PRIVILEGES = ("SELECT", "INSERT", "UPDATE")

Case = collections.namedtuple("Case", "group steps needs undo rows states full")
Cell = collections.namedtuple("Cell", "group steps undo rows state grants")


def case(group, steps, needs=(), undo=(), rows=True, states=()):
    """`needs` are `PRIVILEGES ON object`; `states` are further (name, grants). A grant that begins with `-` is revoked."""
    steps = [steps] if isinstance(steps, str) else list(steps)
    # Levels, roles and columns are tried where a base table that exists is named, or nothing but the server.
    full = all(split(grant)[1] in (T.name, U.name, "*.*", "security_a.*") for grant in needs) and "missing" not in steps[-1]
    return Case(group, steps, tuple(needs), tuple(undo), rows, tuple(states), full)


def need(privilege, table):
    """At the table, or at its schema if there is no table to grant on."""
    return f"{privilege} ON {table.name if table.exists else table.name.split('.')[0] + '.*'}"


def split(grant):
    privilege, _, rest = grant.partition(" ON ")
    return privilege, rest


def at_level(grant, level):
    privilege, target = split(grant)
    if level == "global" or target == "*.*":
        return f"{privilege} ON *.*"
    return f"{privilege} ON {target.split('.')[0]}.*"


def on_columns(grant, columns):
    privilege, target = split(grant)
    words = privilege.split(", ")
    if target not in (T.name, U.name) or any(word not in COLUMN_PRIVILEGES for word in words):
        return grant
    return ", ".join(f"{word} ({columns})" for word in words) + f" ON {target}"


def restricted(one):
    """Everything, but nothing in `mysql` and in the schemas that the case names; nothing if it names none."""
    text = " ".join(one.steps)
    schemas = [name for name in ("security_a", "security_v") if f"{name}" in text or "security%" in text]
    return ("ALL ON *.*", *(f"-ALL ON {schema}.*" for schema in ("mysql", *schemas))) if schemas else ()


def states(one):
    """(name, grants) of a case, without repetition of the grants."""
    needs = one.needs
    yield "none", ()
    yield "elsewhere", ELSEWHERE
    yield from one.states
    if len(needs) > 1:
        for missing in range(len(needs)):
            short = tuple(grant for at, grant in enumerate(needs) if at != missing)
            yield f"without {needs[missing]}", short
    limited = restricted(one)
    if limited:
        yield "restricted", limited
    if needs:
        yield "granted", needs
        if not one.full:
            return
        if limited:
            yield "restricted by role", ("ROLE", *limited)
            yield "restricted and granted", (*limited, *needs)
        yield "by role", ("ROLE", *needs)
        yield "on the schema", tuple(at_level(grant, "schema") for grant in needs)
        yield "on everything", tuple(at_level(grant, "global") for grant in needs)
        yield "on one column", tuple(on_columns(grant, "a") for grant in needs)
        yield "on two columns", tuple(on_columns(grant, "a, b") for grant in needs)
        yield "on all columns", tuple(on_columns(grant, "a, b, secret") for grant in needs)


def grantable(grants):
    """MySQL refuses to grant anything but SELECT on performance_schema and anything at all on information_schema."""
    for grant in grants:
        privilege, target = split(grant)
        if target.startswith("information_schema"):
            return False
        if target.startswith("performance_schema") and privilege != "SELECT":
            return False
    return True


def cells():
    for one in itertools.chain(queries(), changes(), views(), temporary(), definitions(), shows(), system_views(), administration(), accounts(), session_variables(),
                               any_column()):
        seen = set()
        for name, grants in states(one):
            if grants in seen or not grantable(grants):
                continue
            seen.add(grants)
            yield Cell(one.group, one.steps, one.undo, one.rows, name, grants)


QUERIES = [
    ("column", "SELECT {a} FROM {t}"),
    ("other column", "SELECT {secret} FROM {t}"),
    ("every column", "SELECT * FROM {t}"),
    ("every column of an alias", "SELECT x.* FROM {t} x"),
    ("TABLE", "TABLE {t}"),
    ("no column", "SELECT 1 FROM {t} LIMIT 1"),
    ("COUNT(*)", "SELECT COUNT(*) > 0 FROM {t}"),
    ("WHERE", "SELECT {a} FROM {t} WHERE {secret} = 'first'"),
    ("GROUP BY", "SELECT COUNT(*) FROM {t} GROUP BY {secret}"),
    ("HAVING", "SELECT MAX({a}) FROM {t} HAVING MAX({secret}) > ''"),
    ("ORDER BY", "SELECT {a} FROM {t} ORDER BY {secret}"),
    ("derived table", "SELECT d.{a} FROM (SELECT {a} FROM {t}) d"),
    ("derived table, every column", "SELECT d.{a} FROM (SELECT * FROM {t}) d"),
    ("lateral table", "SELECT d.{a} FROM (SELECT 1 one) o, LATERAL (SELECT {a} FROM {t} WHERE {a} >= o.one) d"),
    ("lateral table, of a column", "SELECT d.k FROM {t}, LATERAL (SELECT {t}.{b} AS k) d"),
    ("json table", "SELECT d.k FROM {t}, JSON_TABLE(CONCAT('[', {t}.{b}, ']'), '$[*]' COLUMNS (k INT PATH '$')) d"),
    ("common table", "WITH c AS (SELECT {a} FROM {t}) SELECT * FROM c"),
    ("common table used twice", "WITH c AS (SELECT {a} FROM {t}) SELECT x.{a} FROM c x JOIN c y ON x.{a} = y.{a}"),
    ("common table not used", "WITH c AS (SELECT {a} FROM {t}) SELECT 1"),
    ("recursive common table",
     "WITH RECURSIVE c (n, k) AS (SELECT 1, MIN({a}) FROM {t} UNION ALL SELECT n + 1, k FROM c WHERE n < 2) SELECT n FROM c"),
    ("subquery as a value", "SELECT (SELECT {a} FROM {t} LIMIT 1) IS NULL"),
    ("subquery in IN", "SELECT 1 IN (SELECT {a} FROM {t})"),
    ("subquery in EXISTS", "SELECT EXISTS (SELECT 1 FROM {t})"),
    ("subquery in ANY", "SELECT 'x' = ANY (SELECT {secret} FROM {t})"),
    ("subquery in ORDER BY", "SELECT 1 AS one ORDER BY (SELECT {secret} FROM {t} LIMIT 1)"),
    ("UNION", "SELECT 'x' UNION SELECT {secret} FROM {t}"),
    ("INTERSECT", "SELECT 'x' INTERSECT SELECT {secret} FROM {t}"),
    ("unknown column", "SELECT nosuch FROM {t}"),
    ("unknown column in WHERE", "SELECT 1 FROM {t} WHERE nosuch = 1"),
    ("into a variable", "SELECT {a} INTO @v FROM {t} LIMIT 1"),
    ("variable assigned", "SELECT LENGTH(@x := {secret}) > 0 FROM {t} LIMIT 1"),
    ("DO", "DO (SELECT {a} FROM {t} LIMIT 1)"),
    ("SET", "SET @x = (SELECT {secret} FROM {t} LIMIT 1)"),
    ("EXPLAIN", "EXPLAIN FORMAT=TRADITIONAL SELECT {a} FROM {t}"),
    ("VALUES", "VALUES ROW((SELECT {a} FROM {t} LIMIT 1))"),
    ("PREPARE", ["PREPARE s FROM 'SELECT {a} FROM {t}'", "EXECUTE s"]),
]
LOCKING = [
    ("FOR UPDATE", "SELECT {a} FROM {t} FOR UPDATE"),
    ("FOR UPDATE, no column", "SELECT 1 FROM {t} FOR UPDATE"),
    ("FOR UPDATE SKIP LOCKED", "SELECT {a} FROM {t} FOR UPDATE SKIP LOCKED"),
    ("FOR UPDATE OF", "SELECT x.{a} FROM {t} x FOR UPDATE OF x"),
    ("FOR SHARE", "SELECT {a} FROM {t} FOR SHARE"),
    ("LOCK IN SHARE MODE", "SELECT {a} FROM {t} LOCK IN SHARE MODE"),
    ("FOR UPDATE in a derived table", "SELECT d.{a} FROM (SELECT {a} FROM {t} FOR UPDATE) d"),
    ("FOR UPDATE in a subquery", "SELECT (SELECT {a} FROM {t} LIMIT 1 FOR UPDATE) IS NULL"),
    ("FOR UPDATE in a common table", "WITH c AS (SELECT {a} FROM {t} FOR UPDATE) SELECT * FROM c"),
]


def fill(template, table):
    words = dict(t=table.name, a=table.a, b=table.b, secret=table.secret)
    steps = [template] if isinstance(template, str) else template
    return [step.format(**words) for step in steps]


def queries():
    for table in (T, ACCOUNTS, MISSING, NO_SCHEMA, VIEW, THREADS):
        for group, template in QUERIES:
            explains = group == "EXPLAIN"
            yield case(group, fill(template, table), [need("SELECT", table)], rows=table is T and not explains)
    for table in (T, ACCOUNTS, MISSING, VIEW):
        for group, template in LOCKING:
            more = []
            if table.exists and table is not VIEW:
                for other in ("UPDATE", "DELETE", "LOCK TABLES", "INSERT"):
                    level = f"{table.name.split('.')[0]}.*" if other == "LOCK TABLES" else table.name
                    more.append((f"with {other}", (need("SELECT", table), f"{other} ON {level}")))
                    more.append((f"{other} alone", (f"{other} ON {level}",)))
            yield case(group, fill(template, table), [need("SELECT", table)], rows=table is T, states=more)
    both = [need("SELECT", T), need("SELECT", U)]
    joins = [
        "SELECT x.a FROM security_a.t x JOIN security_a.u y ON x.a = y.a",
        "SELECT x.a FROM security_a.t x JOIN security_a.u y USING (a)",
        "SELECT x.a FROM security_a.t x JOIN security_a.u y USING (secret)",
        "SELECT 1 FROM security_a.t NATURAL JOIN security_a.u",
        "SELECT x.a FROM security_a.t x LEFT JOIN security_a.u y ON x.secret = y.secret",
        "SELECT * FROM security_a.t x, security_a.u y ORDER BY x.a, y.a",
        "SELECT x.a FROM security_a.t x WHERE EXISTS (SELECT 1 FROM security_a.u y WHERE y.secret = x.secret)",
        "SELECT x.a FROM security_a.t x WHERE x.b IN (SELECT b FROM security_a.u)",
        "SELECT x.a, (SELECT y.b FROM security_a.u y WHERE y.a = x.a) FROM security_a.t x",
        "SELECT x.a FROM security_a.t x JOIN security_a.u y ON x.a = y.a FOR UPDATE",
        "SELECT x.a FROM security_a.t x JOIN security_a.u y ON x.a = y.a FOR UPDATE OF x FOR SHARE OF y",
        "SELECT a FROM security_a.t UNION SELECT a FROM security_a.u",
    ]
    for sql in joins:
        yield case("two tables", sql, both, states=[("with UPDATE of one", (*both, need("UPDATE", T)))])
    default = [
        "SELECT a FROM t", "SELECT secret FROM other", "WITH t AS (SELECT 7 AS a) SELECT a FROM t",
        "WITH t AS (SELECT a FROM t) SELECT a FROM t", "SELECT a FROM (WITH t AS (SELECT 7 AS a) SELECT a FROM t) d",
        "SELECT EXISTS (WITH t AS (SELECT 7 AS a) SELECT a FROM t), (SELECT COUNT(*) FROM t)",
        "WITH t AS (SELECT 7 AS a) SELECT a FROM security_a.t", "WITH c AS (WITH t AS (SELECT 7 AS a) SELECT a FROM t) SELECT c.a, t.a FROM c, t",
        "WITH RECURSIVE t AS (SELECT 1 AS a UNION ALL SELECT a + 1 FROM t WHERE a < 2) SELECT a FROM t",
        "INSERT INTO t VALUES (3, 3, 'third')", "DELETE FROM t", "WITH t AS (SELECT 1 AS a) DELETE FROM t",
        "WITH t AS (SELECT 7 AS a) UPDATE other SET b = 1 WHERE a IN (SELECT a FROM t)",
    ]
    for sql in default:
        yield case("default schema", ["USE security_a", sql], [need("SELECT", T)],
                   states=[("with more", ("SELECT, UPDATE, DELETE ON security_a.other", "SELECT, INSERT, DELETE ON security_a.t"))])
    for sql in ("SELECT 1", "SELECT a FROM t", "SELECT NOW() > '2000-01-01', USER() = CURRENT_USER(), @@max_connections > 0"):
        yield case("no table", sql)
    for path in ("/etc/passwd", "/security/none"):
        yield case("LOAD_FILE", f"SELECT LOAD_FILE('{path}') IS NULL", ["FILE ON *.*"])
        yield case("LOAD_FILE", ["SET @f = LOAD_FILE('%s')" % path, "SELECT @f IS NULL"], ["FILE ON *.*"])
    yield case("LOAD_FILE", "SELECT LOAD_FILE(secret) IS NULL FROM security_a.t", ["FILE ON *.*", need("SELECT", T)])
    for table in (T, ACCOUNTS, MISSING):
        for how in ("OUTFILE", "DUMPFILE"):
            yield case(f"INTO {how}", fill("SELECT {a} FROM {t} INTO %s '/security/none/x'" % how, table), ["FILE ON *.*", need("SELECT", table)])


ROW = "(3, 30, 'third')"
ONE_TABLE_CHANGES = [
    ("INSERT", "INSERT", "INSERT INTO {t} VALUES " + ROW),
    ("INSERT", "INSERT", "INSERT INTO {t} ({a}) VALUES (3)"),
    ("INSERT", "INSERT", "INSERT INTO {t} ({a}, {b}, {secret}) VALUES " + ROW),
    ("INSERT", "INSERT", "INSERT INTO {t} SET {a} = 3, {b} = 4"),
    ("INSERT", "INSERT", "INSERT IGNORE INTO {t} VALUES " + ROW),
    ("INSERT", "INSERT", "INSERT INTO {t} VALUES (1)"),
    ("INSERT", "INSERT", "INSERT INTO {t} ({a}, {b}) VALUES (1)"),
    ("INSERT", "INSERT", "INSERT INTO {t} (nosuch) VALUES (1)"),
    ("INSERT", "INSERT", "INSERT INTO {t} VALUES (3, nosuch, 'third')"),
    ("INSERT", "INSERT", "INSERT INTO {t} SELECT 3, 30, 'third'"),
    ("INSERT", "INSERT", "INSERT INTO {t} ({a}, {b}) VALUES (3, {a} + 1)"),
    ("INSERT", "INSERT", "INSERT INTO {t} ({a}, {b}) VALUES (3, DEFAULT)"),
    ("INSERT", "INSERT", "INSERT INTO {t} ({a}, {b}) VALUES (3, DEFAULT({b}))"),
    ("REPLACE", "INSERT, DELETE", "REPLACE INTO {t} VALUES (1, 30, 'third')"),
    ("REPLACE", "INSERT, DELETE", "REPLACE INTO {t} SELECT 1, 30, 'third'"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} VALUES (1, 2, '') ON DUPLICATE KEY UPDATE {b} = 1"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} ({a}) VALUES (1) ON DUPLICATE KEY UPDATE {b} = VALUES({b})"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} ({a}) VALUES (1) ON DUPLICATE KEY UPDATE {b} = LENGTH(@x := {secret})"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} ({a}) VALUES (1) ON DUPLICATE KEY UPDATE {b} = {b} + 1"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} ({a}, {b}) VALUES (1, 2) AS n ON DUPLICATE KEY UPDATE {b} = n.{b}"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} VALUES (1, 2, '') AS n (x, y, z) ON DUPLICATE KEY UPDATE {b} = y + {b}"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} ({a}) VALUES (1) ON DUPLICATE KEY UPDATE nosuch = 1"),
    ("ON DUPLICATE KEY", "INSERT, UPDATE", "INSERT INTO {t} ({a}) VALUES (1) ON DUPLICATE KEY UPDATE {b} = DEFAULT"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {b} = 1"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {b} = 1 WHERE {a} = 1"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {b} = {b} + 1"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {secret} = {b}, {b} = 2"),
    ("UPDATE", "UPDATE", "UPDATE {t} x SET x.{b} = 1 WHERE x.{secret} = 'first'"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {b} = 1 ORDER BY {secret} LIMIT 1"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {b} = DEFAULT"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET nosuch = 1"),
    ("UPDATE", "UPDATE", "UPDATE {t} SET {b} = 1 WHERE nosuch = 1"),
    ("DELETE", "DELETE", "DELETE FROM {t}"),
    ("DELETE", "DELETE", "DELETE FROM {t} WHERE {a} = 1"),
    ("DELETE", "DELETE", "DELETE FROM {t} WHERE {secret} = 'first'"),
    ("DELETE", "DELETE", "DELETE FROM {t} ORDER BY {secret} LIMIT 1"),
    ("DELETE", "DELETE", "DELETE FROM {t} WHERE nosuch = 1"),
    ("DELETE", "DELETE", "DELETE x FROM {t} AS x"),
    ("DELETE", "DELETE", "DELETE FROM x USING {t} AS x WHERE x.{a} = 1"),
    ("DELETE", "DELETE", ["USE security_a", "DELETE x FROM {t} AS x"]),
    ("DELETE", "DELETE", ["USE security_a", "DELETE FROM x USING {t} AS x WHERE x.{a} = 1"]),
    ("EXPLAIN of a change", "UPDATE", "EXPLAIN FORMAT=TRADITIONAL UPDATE {t} SET {b} = 1"),
    ("EXPLAIN of a change", "DELETE", "EXPLAIN FORMAT=TRADITIONAL DELETE FROM {t} WHERE {a} = 1"),
    ("EXPLAIN of a change", "INSERT", "EXPLAIN FORMAT=TRADITIONAL INSERT INTO {t} ({a}) VALUES (3)"),
]


def changes():
    for table in (T, MISSING, NO_SCHEMA, VIEW):
        for group, privileges, template in ONE_TABLE_CHANGES:
            needs = [need(privilege, table) for privilege in privileges.split(", ")]
            reads = (*needs, need("SELECT", table))
            more = [] if table is VIEW else [
                ("with SELECT", reads), ("with SELECT of a column", (*needs, on_columns(need("SELECT", table), "a"))),
                ("SELECT alone", (need("SELECT", table),))]
            yield case(group, fill(template, table), needs, rows=not group.startswith("EXPLAIN"), states=more)
    for group, privileges, template in ONE_TABLE_CHANGES:
        # Only root of Iruka's peers may write these; here it is enough that nobody else may.
        yield case(group, fill(template, ACCOUNTS))
    for group, needs, sql in [
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", U)], "INSERT INTO security_a.t SELECT a + 2, b, secret FROM security_a.u"),
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", U)], "INSERT INTO security_a.t (a, b) SELECT a + 2, b FROM security_a.u"),
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", U)], "INSERT INTO security_a.t SELECT a FROM security_a.u"),
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", U)], "INSERT INTO security_a.t (a) SELECT nosuch FROM security_a.u"),
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", U)], "INSERT INTO security_a.t (a, b) VALUES (3, (SELECT MAX(b) FROM security_a.u))"),
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", U)],
         "INSERT INTO security_a.t (a) WITH c AS (SELECT a FROM security_a.u) SELECT a + 2 FROM c"),
        ("INSERT .. SELECT", [need("INSERT", T), need("SELECT", T)], "INSERT INTO security_a.t SELECT a + 2, b, secret FROM security_a.t"),
        ("INSERT .. SELECT", [need("INSERT", T)], "INSERT INTO security_a.t (a) SELECT a FROM security_a.missing"),
        ("INSERT .. SELECT", [need("INSERT", T)], "INSERT INTO security_a.t (secret, a) SELECT User, 3 FROM mysql.user LIMIT 1"),
        ("INSERT .. SELECT", [need("INSERT, UPDATE", T), need("SELECT", U)],
         "INSERT INTO security_a.t SELECT a, b, secret FROM security_a.u ON DUPLICATE KEY UPDATE b = u.b"),
        ("INSERT .. SELECT", [need("INSERT, UPDATE", T), need("SELECT", U)],
         "INSERT INTO security_a.t (a) VALUES (1) ON DUPLICATE KEY UPDATE b = (SELECT MAX(b) FROM security_a.u)"),
        ("INSERT .. TABLE", [need("INSERT", T), need("SELECT", U)], "INSERT IGNORE INTO security_a.t TABLE security_a.u"),
        ("REPLACE .. SELECT", [need("INSERT", T), need("DELETE", T), need("SELECT", U)], "REPLACE INTO security_a.t SELECT * FROM security_a.u"),
        ("UPDATE with a subquery", [need("UPDATE", T), need("SELECT", U)], "UPDATE security_a.t SET b = (SELECT MAX(b) FROM security_a.u)"),
        ("UPDATE with a subquery", [need("UPDATE, SELECT", T), need("SELECT", U)],
         "UPDATE security_a.t SET b = 1 WHERE a IN (SELECT a FROM security_a.u WHERE secret = 'first')"),
        ("UPDATE with a common table", [need("UPDATE, SELECT", T), need("SELECT", U)],
         "WITH c AS (SELECT a FROM security_a.u) UPDATE security_a.t SET b = 1 WHERE a IN (SELECT a FROM c)"),
        ("UPDATE of a join", [need("UPDATE, SELECT", T), need("SELECT", U)], "UPDATE security_a.t x JOIN security_a.u y USING (a) SET x.b = y.b"),
        ("UPDATE of a join", [need("UPDATE, SELECT", T), need("SELECT", U)], "UPDATE security_a.t x, security_a.u y SET x.b = 1 WHERE x.a = y.a"),
        ("UPDATE of a join", [need("UPDATE, SELECT", T), need("UPDATE, SELECT", U)],
         "UPDATE security_a.t x JOIN security_a.u y ON x.a = y.a SET x.b = 5, y.b = 6"),
        ("UPDATE of a join", [need("UPDATE", T), need("SELECT", U)], "UPDATE security_a.t x, security_a.u y SET x.b = 1"),
        ("UPDATE of a join", [need("UPDATE, SELECT", T), need("SELECT", U)],
         "UPDATE security_a.t x JOIN (SELECT a, b FROM security_a.u) y ON x.a = y.a SET x.b = y.b"),
        ("UPDATE of a join", [need("UPDATE, SELECT", T)], "UPDATE security_a.t x JOIN security_a.missing y ON x.a = y.a SET x.b = 1"),
        ("DELETE with a subquery", [need("DELETE, SELECT", T), need("SELECT", U)],
         "DELETE FROM security_a.t WHERE a IN (SELECT a FROM security_a.u WHERE secret = 'first')"),
        ("DELETE with a common table", [need("DELETE, SELECT", T), need("SELECT", U)],
         "WITH c AS (SELECT a FROM security_a.u) DELETE FROM security_a.t WHERE a IN (SELECT a FROM c)"),
        ("DELETE from a join", [need("DELETE, SELECT", T), need("SELECT", U)],
         "DELETE x FROM security_a.t x JOIN security_a.u y ON x.a = y.a"),
        ("DELETE from a join", [need("DELETE, SELECT", T), need("DELETE, SELECT", U)],
         "DELETE x, y FROM security_a.t x JOIN security_a.u y ON x.a = y.a"),
        ("DELETE from a join", [need("DELETE, SELECT", T), need("SELECT", U)],
         "DELETE FROM security_a.t USING security_a.t JOIN security_a.u WHERE t.a = u.a AND u.secret = 'first'"),
        ("DELETE from a join", [need("DELETE", T), need("SELECT", U)], "DELETE x FROM security_a.t x, security_a.u y"),
        ("DELETE from a join", [need("DELETE, SELECT", T)], "DELETE x FROM security_a.t x JOIN security_a.missing y"),
        ("DELETE from a join", [need("DELETE, SELECT", T)], "DELETE nosuch FROM security_a.t x"),
        ("DELETE from a join", [need("DELETE, SELECT", T), need("DELETE, SELECT", U)],
         ["USE security_a", "DELETE x, y FROM security_a.t x JOIN security_a.u y ON x.a = y.a"]),
        ("DELETE from a join", [need("DELETE, SELECT", T), need("SELECT", U)],
         ["USE security_a", "DELETE x FROM security_a.t x JOIN security_a.u y ON x.a = y.a"]),
    ]:
        yield case(group, sql, needs, states=[("all but one column", (*[on_columns(one, "a, b") for one in needs], need("SELECT", U)))])
    for table in (T, MISSING):
        for sql in ("LOAD DATA INFILE '/security/none' INTO TABLE {t}", "LOAD DATA INFILE '/security/none' REPLACE INTO TABLE {t} ({a}, {b})",
                    "LOAD DATA INFILE '/security/none' INTO TABLE {t} ({a}, @x) SET {b} = @x"):
            needs = ["FILE ON *.*", need("INSERT", table)] + ([need("DELETE", table)] if "REPLACE" in sql else [])
            yield case("LOAD DATA", fill(sql, table), needs)
        yield case("LOAD DATA LOCAL", fill("LOAD DATA LOCAL INFILE 'rows' INTO TABLE {t} ({a}, {b}, {secret})", table), [need("INSERT", table)])
    yield case("LOAD DATA LOCAL", "LOAD DATA LOCAL INFILE 'rows' INTO TABLE security_a.t (a, b) SET secret = (SELECT MAX(secret) FROM security_a.u)",
               [need("INSERT", T), need("SELECT", U)])
    yield case("LOAD DATA LOCAL", "LOAD DATA LOCAL INFILE 'rows' REPLACE INTO TABLE security_a.t", [need("INSERT", T), need("DELETE", T)])
    yield case("LOAD DATA LOCAL", "LOAD DATA LOCAL INFILE 'rows' INTO TABLE security_a.t (a, @x, @y) SET b = LENGTH(secret)", [need("INSERT", T), need("SELECT", T)])


VIEW_STATEMENTS = [
    ("SELECT", "SELECT {a} FROM {t}"),
    ("SELECT", "SELECT {secret} FROM {t}"),
    ("SELECT", "SELECT COUNT(*) FROM {t} x JOIN {t} y ON x.{a} = y.{a}"),
    ("SELECT", "SELECT d.{a} FROM (SELECT {a} FROM {t} LIMIT 5) d"),
    ("SELECT", "SELECT {a} FROM security_a.u WHERE {b} IN (SELECT {b} FROM {t})"),
    ("SELECT", "SELECT nosuch FROM {t}"),
    ("SELECT, UPDATE", "SELECT {a} FROM {t} FOR UPDATE"),
    ("SELECT, SHOW VIEW", "EXPLAIN FORMAT=TRADITIONAL SELECT {a} FROM {t}"),
    ("SELECT, SHOW VIEW", "SHOW CREATE VIEW {t}"),
    ("SELECT, SHOW VIEW", "SHOW CREATE TABLE {t}"),
    ("SELECT", "SHOW COLUMNS FROM {t}"),
    ("SELECT", "CHECK TABLE {t}"),
    ("UPDATE", "UPDATE {t} SET {b} = 1"),
    ("SELECT, UPDATE", "UPDATE {t} SET {b} = {b} + 1 WHERE {a} = 1"),
    ("SELECT, UPDATE", "UPDATE {t} SET {secret} = 'x' WHERE {a} = 1"),
    ("SELECT, UPDATE", "UPDATE {t} SET nosuch = 1"),
    ("SELECT, DELETE", "DELETE FROM {t} WHERE {a} = 1"),
    ("DELETE", "DELETE FROM {t}"),
    ("INSERT", "INSERT INTO {t} VALUES (3, 30, 'third')"),
    ("INSERT", "INSERT INTO {t} ({a}, {b}) VALUES (3, 30)"),
    ("INSERT, UPDATE", "INSERT INTO {t} ({a}) VALUES (1) ON DUPLICATE KEY UPDATE {b} = 1"),
    ("INSERT, DELETE", "REPLACE INTO {t} VALUES (1, 30, 'third')"),
    ("SELECT, UPDATE, SHOW VIEW", "EXPLAIN FORMAT=TRADITIONAL UPDATE {t} SET {b} = 1 WHERE {a} = 1"),
]


def views():
    for table in VIEWS:
        for privileges, template in VIEW_STATEMENTS:
            needs = [need(privilege, table) for privilege in privileges.split(", ")]
            base = ("SELECT, INSERT, UPDATE, DELETE, SHOW VIEW ON security_a.t", "SELECT ON security_a.u")
            more = [("with the table's", (*needs, *base)), ("the table's alone", base), ("with the texts", (*needs, *base, "SELECT, SHOW VIEW ON security_v.definer")), ("everything", ("ALL ON security_v.*", *base)),
                    ("on the server", ("SELECT, INSERT, UPDATE, DELETE, SHOW VIEW ON *.*",)),
                    ("who sets definers", (*needs, *base, "SET_ANY_DEFINER ON *.*"))]
            yield case("views", fill(template, table), needs, rows=not template.startswith("EXPLAIN"), states=more)
    new = "security_v.new"
    for sql, needs in [
        (f"CREATE VIEW {new} AS SELECT a FROM security_a.t", [f"CREATE VIEW ON {new}", "SELECT ON security_a.t"]),
        (f"CREATE VIEW {new} AS SELECT secret FROM security_v.weak", [f"CREATE VIEW ON {new}", "SELECT ON security_v.weak"]),
        (f"CREATE VIEW {new} AS SELECT a FROM security_v.gone", [f"CREATE VIEW ON {new}", "SELECT ON security_v.gone"]),
        (f"CREATE VIEW {new} AS SELECT a FROM security_a.missing", [f"CREATE VIEW ON {new}", "SELECT ON security_a.*"]),
        (f"CREATE DEFINER = root@localhost VIEW {new} AS SELECT 1 AS a", [f"CREATE VIEW ON {new}", "SET_ANY_DEFINER ON *.*"]),
        (f"CREATE DEFINER = security_gone@localhost VIEW {new} AS SELECT 1 AS a",
         [f"CREATE VIEW ON {new}", "SET_ANY_DEFINER ON *.*", "ALLOW_NONEXISTENT_DEFINER ON *.*"]),
        (f"CREATE OR REPLACE VIEW {new} AS SELECT a FROM security_a.t", [f"CREATE VIEW, DROP ON {new}", "SELECT ON security_a.t"]),
    ]:
        yield case("views", sql, needs, [f"DROP VIEW IF EXISTS {new}"])
    for sql, needs in [
        ("ALTER VIEW security_v.definer AS SELECT a FROM security_a.t", ["CREATE VIEW, DROP ON security_v.definer", "SELECT ON security_a.t"]),
        ("ALTER VIEW security_v.gone AS SELECT a FROM security_a.t", ["CREATE VIEW, DROP ON security_v.gone", "SELECT ON security_a.t"]),
        ("DROP VIEW security_v.definer", ["DROP ON security_v.definer"]),
        ("DROP VIEW IF EXISTS security_v.definer, security_v.nosuch", ["DROP ON security_v.definer", "DROP ON security_v.nosuch"]),
        ("RENAME TABLE security_v.definer TO security_v.other", ["ALTER, DROP ON security_v.definer", "CREATE, INSERT ON security_v.other"]),
    ]:
        yield case("views", sql, needs, WORLD, states=[("and SET_ANY_DEFINER", (*needs, "SET_ANY_DEFINER ON *.*"))])


def temporary():
    """Temporary tables: who may make them may do all with them; what they hide, and what they do not, is asked for as ever."""
    make, may = "CREATE TEMPORARY TABLE security_a.t (a INT, b INT, secret INT)", "CREATE TEMPORARY TABLES ON security_a.*"
    for sql, needs in [
        (make, [may]), ("CREATE TEMPORARY TABLE security_none.t (a INT)", ["CREATE TEMPORARY TABLES ON security_none.*"]),
        ("CREATE TEMPORARY TABLE security_b.new (a INT)", ["CREATE TEMPORARY TABLES ON security_b.*"]),
        ("CREATE TEMPORARY TABLE security_a.own LIKE security_a.t", [may, "SELECT ON security_a.t"]),
        ("CREATE TEMPORARY TABLE security_a.own SELECT secret FROM security_a.t", [may, "SELECT ON security_a.t"]),
        ("CREATE TEMPORARY TABLE security_a.own SELECT a FROM security_a.missing", [may, "SELECT ON security_a.*"]),
        ("CREATE TEMPORARY TABLE information_schema.own (a INT)", []),
        ("DROP TEMPORARY TABLE security_a.t", []), ("DROP TEMPORARY TABLE IF EXISTS security_a.missing", []),
    ]:
        yield case("temporary", sql, needs, states=[("with CREATE", (*needs, "CREATE ON security_a.*"))])
    for sql, more in [
        ("SELECT * FROM security_a.t", []), ("INSERT INTO security_a.t VALUES (1, 2, 3)", []), ("UPDATE security_a.t SET secret = 1", []),
        ("DELETE FROM security_a.t", []), ("REPLACE INTO security_a.t VALUES (1, 2, 3)", []), ("SELECT * FROM security_a.t FOR UPDATE", []),
        ("INSERT INTO security_a.t SELECT a, b, 1 FROM security_a.u", ["SELECT ON security_a.u"]),
        ("UPDATE security_a.t JOIN security_a.u USING (a) SET security_a.u.b = 1", ["SELECT, UPDATE ON security_a.u"]),
        ("DROP TABLE security_a.t", []), ("DROP TEMPORARY TABLE security_a.t", []), ("DROP TABLE security_a.t, security_a.u", ["DROP ON security_a.u"]),
        ("TRUNCATE TABLE security_a.t", []), ("ALTER TABLE security_a.t ADD COLUMN c INT", []), ("CREATE INDEX i ON security_a.t (b)", []),
        ("ALTER TABLE security_a.t RENAME TO security_a.own", []), ("RENAME TABLE security_a.t TO security_a.own", ["ALTER, DROP ON security_a.t", "CREATE, INSERT ON security_a.*"]),
        ("DESCRIBE security_a.t", []), ("SHOW CREATE TABLE security_a.t", []), ("SHOW INDEX FROM security_a.t", []), ("EXPLAIN SELECT * FROM security_a.t", []),
        ("CHECK TABLE security_a.t", []), ("ANALYZE TABLE security_a.t", []), ("CHECKSUM TABLE security_a.t", []),
        ("CREATE TABLE security_a.own LIKE security_a.t", ["CREATE ON security_a.*"]),
        ("CREATE TEMPORARY TABLE security_a.own SELECT * FROM security_a.t", []),
        ("SELECT a FROM security_v.invoker", ["SELECT ON security_v.invoker", "SELECT ON security_a.t"]),
        ("SELECT a FROM security_v.definer", ["SELECT ON security_v.definer"]),
    ]:
        yield case("temporary", (make, sql), [may, *more], WORLD, rows=sql.startswith("SELECT"))


def definitions():
    a, b = "security_a.*", "security_b.*"
    new, undo = "security_a.new", ["DROP TABLE IF EXISTS security_a.new"]
    again = WORLD
    for sql, needs, back in [
        (f"CREATE TABLE {new} (a INT)", [f"CREATE ON {new}"], undo),
        (f"CREATE TABLE IF NOT EXISTS {new} (a INT)", [f"CREATE ON {new}"], undo),
        ("CREATE TABLE security_a.t (a INT)", [f"CREATE ON security_a.t"], again),
        ("CREATE TABLE IF NOT EXISTS security_a.t (a INT)", [f"CREATE ON security_a.t"], again),
        ("CREATE TABLE security_none.t (a INT)", ["CREATE ON security_none.*"], undo),
        (f"CREATE TABLE {new} LIKE security_a.t", [f"CREATE ON {new}", "SELECT ON security_a.t"], undo),
        (f"CREATE TABLE {new} LIKE security_a.missing", [f"CREATE ON {new}", "SELECT ON security_a.*"], undo),
        (f"CREATE TABLE {new} LIKE mysql.user", [f"CREATE ON {new}"], undo),
        (f"CREATE TABLE {new} SELECT a FROM security_a.t", [f"CREATE ON {new}", f"INSERT ON {new}", "SELECT ON security_a.t"], undo),
        (f"CREATE TABLE {new} (x INT) SELECT secret FROM security_a.t", [f"CREATE, INSERT ON {new}", "SELECT ON security_a.t"], undo),
        (f"CREATE TABLE {new} AS WITH c AS (SELECT * FROM security_a.t) SELECT a FROM c", [f"CREATE, INSERT ON {new}", "SELECT ON security_a.t"], undo),
        (f"CREATE TABLE {new} SELECT a FROM security_a.missing", [f"CREATE, INSERT ON {new}", "SELECT ON security_a.*"], undo),
        (f"CREATE TABLE {new} SELECT User FROM mysql.user", [f"CREATE, INSERT ON {new}", "SELECT ON mysql.user"], undo),
        *[(f"CREATE TABLE {new} (a INT, FOREIGN KEY (a) REFERENCES {parent})", [f"CREATE ON {new}", f"REFERENCES ON {held}"], undo)
          for parent, held in (("security_a.t (a)", "security_a.t"), ("security_a.t (secret)", "security_a.t"), ("security_a.t", "security_a.t"),
                               ("security_a.missing (a)", "security_a.*"), ("security_none.t (a)", "security_none.*"))],
        (f"CREATE TABLE {new} (a INT REFERENCES security_a.t (a))", [f"CREATE ON {new}", "REFERENCES ON security_a.t"], undo),
        (f"CREATE TABLE {new} (a INT, FOREIGN KEY (a) REFERENCES mysql.user (User))", [f"CREATE ON {new}"], undo),
        (f"CREATE TABLE {new} (a INT, FOREIGN KEY (a) REFERENCES information_schema.tables (TABLE_NAME))", [f"CREATE ON {new}"], undo),
        ("CREATE TABLE mysql.security_new (a INT)", [], ()),
        ("CREATE TABLE information_schema.security_new (a INT)", [], ()),
        ("CREATE TABLE performance_schema.security_new (a INT)", [], ()),
        ("DROP TABLE security_a.t", ["DROP ON security_a.t"], again),
        ("DROP TABLE security_a.t, security_a.u", ["DROP ON security_a.t", "DROP ON security_a.u"], again),
        ("DROP TABLE security_a.missing", ["DROP ON security_a.*"], ()),
        ("DROP TABLE IF EXISTS security_a.missing", ["DROP ON security_a.*"], ()),
        ("DROP TABLE security_none.t", ["DROP ON security_none.*"], ()),
        ("DROP TABLE mysql.user", [], ()),
        ("DROP TABLE information_schema.tables", [], ()),
        ("TRUNCATE TABLE security_a.t", ["DROP ON security_a.t"], again),
        ("TRUNCATE TABLE security_a.missing", ["DROP ON security_a.*"], ()),
        ("TRUNCATE TABLE mysql.user", [], ()),
        ("ALTER TABLE security_a.t ADD COLUMN c INT", ["ALTER ON security_a.t"], again),
        ("ALTER TABLE security_a.t DROP COLUMN nosuch", ["ALTER ON security_a.t"], again),
        ("ALTER TABLE security_a.t ADD INDEX (b)", ["ALTER ON security_a.t"], again),
        ("ALTER TABLE security_a.t ADD FOREIGN KEY (b) REFERENCES security_a.u (nosuch)", ["ALTER ON security_a.t", "REFERENCES ON security_a.u"], again),
        ("ALTER TABLE security_a.t DROP FOREIGN KEY nosuch", ["ALTER ON security_a.t"], again),
        ("ALTER TABLE security_a.t DROP INDEX kb", ["ALTER ON security_a.t"], again),
        ("ALTER TABLE security_a.t ADD INDEX (nosuch)", ["ALTER ON security_a.t"], again),
        ("ALTER TABLE security_a.missing ADD COLUMN c INT", ["ALTER ON security_a.*"], ()),
        ("ALTER TABLE security_none.t ADD COLUMN c INT", ["ALTER ON security_none.*"], ()),
        ("ALTER TABLE mysql.user ADD COLUMN c INT", [], ()),
        (f"ALTER TABLE security_a.t RENAME TO {new}", ["ALTER ON security_a.t", "DROP ON security_a.t", f"CREATE ON {new}", f"INSERT ON {new}"], again),
        ("ALTER TABLE security_a.t RENAME TO security_b.new", ["ALTER, DROP ON security_a.t", f"CREATE, INSERT ON {b}"], again),
        (f"RENAME TABLE security_a.t TO {new}", ["ALTER ON security_a.t", "DROP ON security_a.t", f"CREATE ON {new}", f"INSERT ON {new}"], again),
        ("RENAME TABLE security_a.t TO security_b.new", ["ALTER, DROP ON security_a.t", f"CREATE, INSERT ON {b}"], again),
        ("RENAME TABLE security_a.missing TO security_a.new", [f"ALTER, DROP, CREATE, INSERT ON {a}"], again),
        ("RENAME TABLE security_a.t TO security_a.u", [f"ALTER, DROP, CREATE, INSERT ON {a}"], again),
        ("RENAME TABLE security_a.t TO security_none.t", [f"ALTER, DROP ON {a}", "CREATE, INSERT ON security_none.*"], again),
        ("RENAME TABLE mysql.user TO security_a.stolen", [f"CREATE, INSERT ON {a}"], again),
        ("CREATE INDEX i ON security_a.t (b)", ["INDEX ON security_a.t"], again),
        ("CREATE INDEX i ON security_a.t (nosuch)", ["INDEX ON security_a.t"], again),
        ("CREATE INDEX i ON security_a.missing (b)", ["INDEX ON security_a.*"], again),
        ("DROP INDEX kb ON security_a.t", ["INDEX ON security_a.t"], again),
        ("DROP INDEX nosuch ON security_a.t", ["INDEX ON security_a.t"], again),
        ("DROP VIEW security_a.missing", ["DROP ON security_a.*"], ()),
        ("CREATE DATABASE security_new", ["CREATE ON security_new.*"], ["DROP DATABASE IF EXISTS security_new"]),
        ("CREATE DATABASE security_a", [f"CREATE ON {a}"], ()),
        ("CREATE DATABASE IF NOT EXISTS security_a", [f"CREATE ON {a}"], ()),
        ("CREATE DATABASE information_schema", [], ()),
        ("CREATE DATABASE mysql", [], ()),
        ("ALTER DATABASE security_a COLLATE utf8mb4_0900_ai_ci", [f"ALTER ON {a}"], again),
        ("ALTER DATABASE security_none COLLATE utf8mb4_bin", ["ALTER ON security_none.*"], ()),
        ("ALTER DATABASE information_schema COLLATE utf8mb4_bin", [], ()),
        ("DROP DATABASE security_a", [f"DROP ON {a}"], again),
        ("DROP DATABASE security_none", ["DROP ON security_none.*"], ()),
        ("DROP DATABASE IF EXISTS security_none", ["DROP ON security_none.*"], ()),
        ("DROP DATABASE mysql", [], ()),
        ("DROP DATABASE information_schema", [], ()),
    ]:
        yield case("definition", sql, needs, back)
    for mode in ("READ", "WRITE"):
        release = ["UNLOCK TABLES"]
        yield case("LOCK TABLES", [f"LOCK TABLES security_a.t {mode}", *release], ["SELECT ON security_a.t", f"LOCK TABLES ON {a}"],
                   states=[("LOCK TABLES elsewhere", ("SELECT ON security_a.t", f"LOCK TABLES ON {b}"))])
        yield case("LOCK TABLES", [f"LOCK TABLES security_a.t {mode}, security_a.u READ", *release],
                   ["SELECT ON security_a.t", "SELECT ON security_a.u", f"LOCK TABLES ON {a}"])
        for view in ("definer", "invoker", "over", "weak", "gone", "over_gone", "invoker_over_gone"):
            own, base = ["SELECT ON security_v.*", "LOCK TABLES ON security_v.*"], ["SELECT ON security_a.t", f"LOCK TABLES ON {a}"]
            yield case("LOCK TABLES", [f"LOCK TABLES security_v.{view} {mode}", *release], own,
                       states=[("with its table", (*own, *base)), ("table unlocked", (*own, base[0])), ("table unread", (*own, base[1]))])
        yield case("LOCK TABLES", [f"LOCK TABLES security_a.missing {mode}", *release], ["SELECT ON security_a.*", f"LOCK TABLES ON {a}"])
        yield case("LOCK TABLES", [f"LOCK TABLES security_none.t {mode}", *release], ["SELECT, LOCK TABLES ON security_none.*"])
        yield case("LOCK TABLES", [f"LOCK TABLES mysql.user {mode}", *release])
    for sql in ("CHECK TABLE {t}", "CHECKSUM TABLE {t}"):
        for table in (T, MISSING, NO_SCHEMA, ACCOUNTS):
            yield case("maintenance", fill(sql, table), [need("SELECT", table)], rows=False)
    for sql in ("ANALYZE TABLE {t}", "OPTIMIZE TABLE {t}", "REPAIR TABLE {t}"):
        for table in (T, MISSING, NO_SCHEMA):
            yield case("maintenance", fill(sql, table), [need("SELECT", table), need("INSERT", table)], rows=False)
        yield case("maintenance", fill(sql, ACCOUNTS), rows=False)


ANY_PRIVILEGES = ("SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "INDEX", "ALTER", "REFERENCES", "SHOW VIEW", "TRIGGER", "CREATE VIEW")


def shows():
    t, u = T.name, U.name
    every = [(f"{privilege} alone", (f"{privilege} ON {t}",)) for privilege in ANY_PRIVILEGES]
    every += [(f"{privilege} of a column", (f"{privilege} (b) ON {t}",)) for privilege in (*COLUMN_PRIVILEGES, "REFERENCES")]
    every += [(f"{privilege} on the schema", (f"{privilege} ON security_a.*",)) for privilege in ("INSERT", "LOCK TABLES", "EXECUTE", "CREATE TEMPORARY TABLES", "EVENT")]
    every += [(f"{privilege} on everything", (f"{privilege} ON *.*",)) for privilege in ("SHOW DATABASES", "PROCESS", "RELOAD", "UPDATE")]
    every += [("select of mysql", ("SELECT ON mysql.*",))]
    for sql, rows in [
        ("SHOW DATABASES LIKE 'security%'", True), ("USE security_a", True), ("USE security_none", True), ("USE mysql", True),
        ("SHOW TABLES FROM security_a", True), ("SHOW FULL TABLES FROM security_a", True), ("SHOW TABLES FROM security_none", True),
        ("SHOW TABLE STATUS FROM security_a", "first"), ("SHOW TABLE STATUS FROM security_none", "first"),
        (f"SHOW COLUMNS FROM {t}", "first"), (f"SHOW FULL COLUMNS FROM {t}", "first"), (f"DESCRIBE {t}", "first"), (f"DESCRIBE {t} secret", "first"),
        (f"SHOW INDEX FROM {t}", "count"), (f"SHOW CREATE TABLE {t}", "first"), ("SHOW CREATE DATABASE security_a", "first"),
        ("SHOW CREATE DATABASE security_none", "first"), ("SHOW CREATE DATABASE mysql", "first"),
        (f"SHOW COLUMNS FROM {MISSING.name}", "first"), (f"SHOW INDEX FROM {MISSING.name}", "first"), (f"SHOW CREATE TABLE {MISSING.name}", "first"),
        (f"SHOW COLUMNS FROM {NO_SCHEMA.name}", "first"), (f"SHOW INDEX FROM {NO_SCHEMA.name}", "first"), (f"SHOW CREATE TABLE {NO_SCHEMA.name}", "first"),
        ("SHOW COLUMNS FROM mysql.user", "count"), ("SHOW CREATE TABLE mysql.user", "first"), ("SHOW INDEX FROM mysql.user", False),
        ("SHOW TABLES FROM mysql LIKE 'user'", True), ("SHOW OPEN TABLES FROM security_a", False),
        ("SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME LIKE 'security%'", True),
        ("SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'security_a' ORDER BY 1", True),
        ("SELECT COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'security_a' AND TABLE_NAME = 't' ORDER BY 1", True),
        ("SELECT DISTINCT INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = 'security_a' AND TABLE_NAME = 't' ORDER BY COLUMN_NAME", True),
        ("SELECT CONSTRAINT_NAME FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'security_a' AND TABLE_NAME = 't'", True),
        ("SELECT COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = 'security_a' AND TABLE_NAME = 't'", True),
        ("SELECT COUNT(*) FROM information_schema.PARTITIONS WHERE TABLE_SCHEMA = 'security_a' AND TABLE_NAME = 't'", True),
        ("SELECT PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE GRANTEE LIKE '%security_plain%' ORDER BY 1", True),
        ("SELECT NAME FROM information_schema.INNODB_TABLES WHERE NAME LIKE 'security\\_a/t'", True),
        ("SELECT COUNT(*) FROM information_schema.INNODB_TABLESPACES WHERE NAME = 'security_a/t'", True),
        ("SELECT COUNT(*) > 1 FROM information_schema.PROCESSLIST", False),
    ]:
        yield case("SHOW", sql, rows=rows, states=every)
    for sql, needs in [
        ("SHOW GRANTS FOR security_plain@localhost", ["SELECT ON mysql.*"]), ("SHOW GRANTS FOR security_role", ["SELECT ON mysql.*"]),
        ("SHOW GRANTS FOR security_nobody@localhost", ["SELECT ON mysql.*"]), ("SHOW GRANTS FOR security_plain@localhost USING security_role", ["SELECT ON mysql.*"]),
        ("SHOW CREATE USER security_plain@localhost", ["SELECT ON mysql.*"]), ("SHOW CREATE USER security_nobody@localhost", ["SELECT ON mysql.*"]),
        ("SHOW CREATE USER security_plain@localhost", ["CREATE USER ON *.*"]), ("SHOW CREATE USER CURRENT_USER()", ["CREATE USER ON *.*"]),
        ("SHOW CREATE USER security_plain@localhost", ["SELECT ON mysql.user"]), ("SHOW GRANTS FOR security_plain@localhost", ["SELECT ON mysql.user"]),
        ("SHOW ENGINE INNODB STATUS", ["PROCESS ON *.*"]), ("SHOW BINARY LOGS", ["REPLICATION CLIENT ON *.*"]),
        ("SHOW BINARY LOG STATUS", ["REPLICATION CLIENT ON *.*"]), ("SHOW REPLICA STATUS", ["REPLICATION CLIENT ON *.*"]),
        ("SHOW REPLICAS", ["REPLICATION SLAVE ON *.*"]), ("SHOW PLUGINS", ["SELECT ON mysql.*"]), ("SHOW ENGINES", ["SELECT ON mysql.*"]),
        ("SHOW VARIABLES LIKE 'port'", ["PROCESS ON *.*"]), ("SHOW GLOBAL STATUS LIKE 'Uptime'", ["PROCESS ON *.*"]),
        ("SHOW PROCESSLIST", ["PROCESS ON *.*"]), ("SHOW PRIVILEGES", ["PROCESS ON *.*"]), ("SHOW TRIGGERS FROM security_a", ["TRIGGER ON security_a.*"]),
        ("SHOW EVENTS FROM security_a", ["EVENT ON security_a.*"]), ("SHOW EVENTS FROM security_none", ["EVENT ON security_none.*"]),
        ("SHOW TRIGGERS FROM security_none", ["TRIGGER ON security_none.*"]), ("SHOW CREATE VIEW security_a.t", ["SELECT ON security_a.t", "SHOW VIEW ON security_a.t"]),
        ("SHOW PROCEDURE STATUS", ["PROCESS ON *.*"]), ("SHOW WARNINGS", []), ("SHOW CHARACTER SET LIKE 'ascii'", []), ("SHOW COLLATION LIKE 'ascii%'", []),
        ("SHOW PROFILES", []),
    ]:
        yield case("SHOW", sql, needs, rows="count" if sql.startswith("SHOW GRANTS") else False)


def system_views():
    """Every table of the system schemas, read."""
    mysql = ("user", "db", "tables_priv", "columns_priv", "procs_priv", "proxies_priv", "global_grants", "role_edges", "default_roles",
             "password_history", "component", "func", "general_log", "slow_log", "innodb_table_stats", "innodb_index_stats", "plugin",
             "servers", "time_zone", "time_zone_name", "engine_cost", "server_cost", "help_topic", "gtid_executed")
    performance = ("threads", "processlist", "session_variables", "global_variables", "session_status", "global_status", "variables_info",
                   "variables_metadata", "variables_by_thread", "persisted_variables", "user_variables_by_thread", "status_by_thread", "metadata_locks",
                   "data_locks", "data_lock_waits", "events_statements_current", "events_statements_history", "events_statements_summary_by_digest",
                   "accounts", "users", "hosts", "host_cache", "session_connect_attrs", "session_account_connect_attrs", "setup_actors",
                   "setup_consumers", "setup_instruments", "error_log", "keyring_keys", "prepared_statements_instances",
                   "replication_connection_configuration", "tls_channel_status", "global_variable_attributes", "performance_timers",
                   "user_defined_functions", "replication_group_members")
    information = ("COLUMN_PRIVILEGES", "SCHEMA_PRIVILEGES", "TABLE_PRIVILEGES", "USER_PRIVILEGES", "USER_ATTRIBUTES", "APPLICABLE_ROLES",
                   "ENABLED_ROLES", "ADMINISTRABLE_ROLE_AUTHORIZATIONS", "ROLE_TABLE_GRANTS", "ROLE_COLUMN_GRANTS", "ENGINES", "PLUGINS",
                   "CHARACTER_SETS", "COLLATIONS", "KEYWORDS", "FILES", "PARAMETERS", "ROUTINES", "TRIGGERS", "EVENTS", "VIEWS",
                   "REFERENTIAL_CONSTRAINTS", "CHECK_CONSTRAINTS", "INNODB_TABLES", "INNODB_COLUMNS", "INNODB_INDEXES", "INNODB_FIELDS",
                   "INNODB_TABLESPACES", "INNODB_TABLESTATS", "INNODB_TRX", "INNODB_METRICS", "INNODB_BUFFER_PAGE", "INNODB_BUFFER_POOL_STATS",
                   "INNODB_CMP", "INNODB_TEMP_TABLE_INFO", "INNODB_DATAFILES", "INNODB_FOREIGN", "INNODB_VIRTUAL", "OPTIMIZER_TRACE", "PROFILING")
    for name in mysql:
        yield case("system table", f"SELECT COUNT(*) >= 0 FROM mysql.{name}", [f"SELECT ON mysql.{name}"])
        yield case("system table", f"SELECT * FROM mysql.{name} LIMIT 0", [f"SELECT ON mysql.{name}"], rows=False)
    for name in performance:
        yield case("system table", f"SELECT COUNT(*) >= 0 FROM performance_schema.{name}", [f"SELECT ON performance_schema.{name}"])
        yield case("system table", f"SELECT * FROM performance_schema.{name} LIMIT 0", [f"SELECT ON performance_schema.{name}"], rows=False)
    for name in information:
        yield case("system table", f"SELECT COUNT(*) >= 0 FROM information_schema.{name}", ["PROCESS ON *.*"])
    for name in ("version", "sys_config"):
        yield case("system table", f"SELECT COUNT(*) FROM sys.{name}", [f"SELECT ON sys.{name}"], rows=False)
    own = [
        "SELECT GRANTEE, TABLE_SCHEMA, TABLE_NAME, PRIVILEGE_TYPE FROM information_schema.TABLE_PRIVILEGES WHERE TABLE_SCHEMA LIKE 'security%' AND GRANTEE LIKE '%plain%' ORDER BY 4",
        "SELECT COUNT(*) FROM information_schema.USER_PRIVILEGES WHERE GRANTEE LIKE '%root%' AND PRIVILEGE_TYPE = 'SELECT'",
        "SELECT COUNT(*) FROM information_schema.USER_ATTRIBUTES WHERE USER = 'root'",
        "SELECT COUNT(*) FROM performance_schema.processlist WHERE USER = 'root'",
        "SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE USER = 'root'",
        "SELECT COUNT(*) FROM information_schema.SCHEMA_PRIVILEGES WHERE GRANTEE LIKE '%plain%'",
        "SELECT COUNT(*) FROM information_schema.COLUMN_PRIVILEGES WHERE GRANTEE LIKE '%plain%'",
    ]
    for sql in own:
        yield case("system table", sql, ["SELECT ON mysql.*"], states=[("PROCESS", ("PROCESS ON *.*",)), ("CREATE USER", ("CREATE USER ON *.*",))])


def administration():
    dynamic = "{} ON *.*".format
    for sql, needs in [
        ("FLUSH TABLES", ["RELOAD ON *.*"]), ("FLUSH TABLES", [dynamic("FLUSH_TABLES")]), ("FLUSH PRIVILEGES", ["RELOAD ON *.*"]),
        ("FLUSH PRIVILEGES", [dynamic("FLUSH_PRIVILEGES")]), ("FLUSH STATUS", ["RELOAD ON *.*"]), ("FLUSH STATUS", [dynamic("FLUSH_STATUS")]),
        ("FLUSH LOGS", ["RELOAD ON *.*"]), ("FLUSH USER_RESOURCES", ["RELOAD ON *.*"]), ("FLUSH USER_RESOURCES", [dynamic("FLUSH_USER_RESOURCES")]),
        ("FLUSH OPTIMIZER_COSTS", [dynamic("FLUSH_OPTIMIZER_COSTS")]), ("FLUSH ENGINE LOGS", ["RELOAD ON *.*"]),
        ("FLUSH TABLES security_a.t", ["RELOAD ON *.*"]), ("FLUSH TABLES security_a.missing", ["RELOAD ON *.*"]),
        ("FLUSH TABLES WITH READ LOCK", []), ("FLUSH TABLES security_a.t WITH READ LOCK", []),
        ("SHUTDOWN", []), ("RESTART", []), ("LOCK INSTANCE FOR BACKUP", [dynamic("BACKUP_ADMIN")]), ("UNLOCK INSTANCE", [dynamic("BACKUP_ADMIN")]),
        ("KILL {root_id}", []), ("KILL QUERY {root_id}", []), ("KILL 4000000000", [dynamic("CONNECTION_ADMIN")]),
        ("SET GLOBAL max_connections = @@max_connections", [dynamic("SYSTEM_VARIABLES_ADMIN")]), ("SET GLOBAL max_connections = @@max_connections", ["SUPER ON *.*"]),
        ("SET PERSIST_ONLY max_connections = @@max_connections", [dynamic("SYSTEM_VARIABLES_ADMIN"), dynamic("PERSIST_RO_VARIABLES_ADMIN")]),
        ("SET GLOBAL nosuch = 1", [dynamic("SYSTEM_VARIABLES_ADMIN")]), ("SET GLOBAL port = 1", [dynamic("SYSTEM_VARIABLES_ADMIN")]),
        ("SET SESSION sql_log_bin = 1", [dynamic("SYSTEM_VARIABLES_ADMIN")]), ("SET SESSION sql_log_bin = 1", [dynamic("SESSION_VARIABLES_ADMIN")]),
        ("SET SESSION pseudo_thread_id = 1", [dynamic("SESSION_VARIABLES_ADMIN")]), ("SET SESSION sql_mode = ''", []), ("SET SESSION max_connections = 1", []),
        ("SET SESSION innodb_tmpdir = '/security/none'", ["FILE ON *.*"]), ("SET SESSION innodb_tmpdir = NULL", ["FILE ON *.*"]), ("SET SESSION innodb_tmpdir = DEFAULT", []),
        ("SET GLOBAL TRANSACTION ISOLATION LEVEL REPEATABLE READ", [dynamic("SYSTEM_VARIABLES_ADMIN")]), ("SET SESSION TRANSACTION READ ONLY", []),
        ("RESET PERSIST IF EXISTS max_connections", [dynamic("SYSTEM_VARIABLES_ADMIN"), dynamic("PERSIST_RO_VARIABLES_ADMIN")]),
        ("SET GLOBAL read_only = 0", [dynamic("SYSTEM_VARIABLES_ADMIN")]), ("SET GLOBAL read_only = 0", [dynamic("SYSTEM_VARIABLES_ADMIN"), dynamic("CONNECTION_ADMIN")]),
        ("SELECT @@global.secure_file_priv IS NULL", []), ("SELECT GET_LOCK('security', 0), RELEASE_LOCK('security')", []),
        ("SELECT SLEEP(0), BENCHMARK(1, 1), CONNECTION_ID() > 0", []),
    ]:
        yield case("administration", sql, needs, undo=["UNLOCK TABLES"])


# Whatever the session value of a variable takes, and some that take nothing.
SESSION_VARIABLES = """autocommit binlog_direct_non_transactional_updates binlog_format binlog_row_image binlog_row_value_options
    binlog_rows_query_log_events binlog_transaction_compression binlog_transaction_compression_level_zstd bulk_insert_buffer_size
    character_set_client character_set_database character_set_filesystem character_set_results collation_connection
    connection_memory_chunk_size connection_memory_limit default_week_format foreign_key_checks global_connection_memory_tracking
    gtid_next histogram_generation_max_mem_size immediate_server_version innodb_lock_wait_timeout internal_tmp_mem_storage_engine
    join_buffer_size low_priority_updates max_allowed_packet max_delayed_threads max_error_count max_execution_time
    max_heap_table_size max_insert_delayed_threads max_user_connections min_examined_row_limit net_buffer_length optimizer_switch
    original_commit_timestamp original_server_version preload_buffer_size pseudo_replica_mode pseudo_thread_id
    select_into_buffer_size select_into_disk_sync_delay session_track_gtids sort_buffer_size sql_generate_invisible_primary_key
    sql_log_bin sql_log_off sql_mode sql_notes sql_require_primary_key sql_safe_updates sql_select_limit time_zone tmp_table_size
    transaction_isolation transaction_read_only unique_checks wait_timeout""".split()


def session_variables():
    granted = [("SESSION_VARIABLES_ADMIN", ("SESSION_VARIABLES_ADMIN ON *.*",)), ("SYSTEM_VARIABLES_ADMIN", ("SYSTEM_VARIABLES_ADMIN ON *.*",)),
               ("REPLICATION_APPLIER", ("REPLICATION_APPLIER ON *.*",)), ("SUPER", ("SUPER ON *.*",))]
    for name in SESSION_VARIABLES:
        yield case("session variable", ["ROLLBACK", f"SET SESSION {name} = DEFAULT"], [], states=granted)


def accounts():
    plain, system, root = "security_plain@localhost", "security_system@localhost", "root@localhost"
    create, own = "CREATE USER ON *.*", "SYSTEM_USER ON *.*"
    remake = REMAKE_TARGETS
    for sql in [
        "CREATE USER security_new@localhost", "CREATE USER IF NOT EXISTS security_plain@localhost", "CREATE USER security_plain@localhost",
        "CREATE USER security_new@localhost DEFAULT ROLE security_role", "CREATE USER security_new@localhost IDENTIFIED BY 'x' ACCOUNT LOCK",
        *[statement for user in (plain, system, "security_nobody@localhost") for statement in (
            f"ALTER USER {user} IDENTIFIED BY 'x'", f"ALTER USER {user} ACCOUNT LOCK", f"ALTER USER IF EXISTS {user} PASSWORD EXPIRE",
            f"DROP USER {user}", f"DROP USER IF EXISTS {user}", f"RENAME USER {user} TO security_renamed@localhost",
            f"SET PASSWORD FOR {user} = 'x'", f"SET DEFAULT ROLE NONE TO {user}", f"ALTER USER {user} DEFAULT ROLE NONE",
            f"REVOKE ALL PRIVILEGES, GRANT OPTION FROM {user}")],
        f"ALTER USER {root} IDENTIFIED BY ''", f"RENAME USER {plain} TO security_system@localhost",
        f"DROP USER {plain}, {system}", f"ALTER USER {plain}, {system} ACCOUNT UNLOCK",
    ]:
        safe = root not in sql
        more = [("with SYSTEM_USER", (create, own)), ("SYSTEM_USER alone", (own,)), ("SUPER", ("SUPER ON *.*", create)),
                ("ROLE_ADMIN", ("ROLE_ADMIN ON *.*",)), ("everything", ("ALL ON *.*",))]
        yield case("accounts", sql, [create], remake, states=more if safe else more[2:3])
    for sql in [
        "CREATE ROLE security_new@localhost", "CREATE ROLE IF NOT EXISTS security_role", "DROP ROLE security_role", "DROP ROLE security_system_role",
        "DROP ROLE security_nobody", "DROP ROLE IF EXISTS security_nobody",
    ]:
        yield case("roles", sql, [create], remake, states=[(f"{word}", (f"{word} ON *.*",)) for word in ("CREATE ROLE", "DROP ROLE", "ROLE_ADMIN")])
    for sql in [
        f"GRANT security_role TO {plain}", f"GRANT security_role TO {system}", f"GRANT security_system_role TO {plain}", f"REVOKE security_role FROM {plain}",
        f"GRANT security_nobody TO {plain}", "GRANT security_role TO security_nobody", f"REVOKE security_role FROM {system}", "GRANT security_role TO security_role",
        f"GRANT security_role TO {plain} WITH ADMIN OPTION", f"REVOKE IF EXISTS security_role FROM {system}",
    ]:
        yield case("roles", sql, ["ROLE_ADMIN ON *.*"], remake, states=[("CREATE USER", (create,)), ("SUPER", ("SUPER ON *.*",)),
                   ("with SYSTEM_USER", ("ROLE_ADMIN, SYSTEM_USER ON *.*",))])
    for sql in [
        "SET ROLE NONE", "SET ROLE ALL", "SET ROLE DEFAULT", "SET ROLE security_role", "SET ROLE ALL EXCEPT security_role", "SET DEFAULT ROLE NONE TO CURRENT_USER()",
        "SET DEFAULT ROLE security_role TO CURRENT_USER()", "SELECT CURRENT_ROLE()",
    ]:
        yield case("roles", sql)
    grants = [
        ("GRANT SELECT ON security_a.t TO {0}", ["SELECT ON security_a.t", "GRANT OPTION ON security_a.t"]),
        ("GRANT SELECT, INSERT ON security_a.t TO {0}", ["SELECT ON security_a.t", "GRANT OPTION ON security_a.t"]),
        ("GRANT ALL ON security_a.t TO {0}", ["SELECT ON security_a.t", "GRANT OPTION ON security_a.t"]),
        ("GRANT SELECT (a) ON security_a.t TO {0}", ["SELECT ON security_a.t", "GRANT OPTION ON security_a.t"]),
        ("GRANT SELECT (nosuch) ON security_a.t TO {0}", ["SELECT ON security_a.t", "GRANT OPTION ON security_a.t"]),
        ("GRANT SELECT ON security_a.* TO {0}", ["SELECT ON security_a.*", "GRANT OPTION ON security_a.*"]),
        ("GRANT SELECT ON security_a.missing TO {0}", ["SELECT ON security_a.*", "GRANT OPTION ON security_a.*"]),
        ("GRANT CREATE ON security_a.missing TO {0}", ["CREATE ON security_a.*", "GRANT OPTION ON security_a.*"]),
        ("GRANT SELECT ON *.* TO {0}", ["SELECT ON *.*", "GRANT OPTION ON *.*"]),
        ("GRANT ALL ON *.* TO {0}", ["SELECT ON *.*", "GRANT OPTION ON *.*"]),
        ("GRANT USAGE ON *.* TO {0}", ["GRANT OPTION ON *.*"]),
        ("GRANT PROCESS ON *.* TO {0} WITH GRANT OPTION", ["PROCESS ON *.*", "GRANT OPTION ON *.*"]),
        ("GRANT BACKUP_ADMIN ON *.* TO {0}", ["BACKUP_ADMIN ON *.*", "GRANT OPTION ON *.*"]),
        ("GRANT SYSTEM_USER ON *.* TO {0}", ["SYSTEM_USER ON *.*", "GRANT OPTION ON *.*"]),
        ("REVOKE SELECT ON security_a.t FROM {0}", ["SELECT ON security_a.t", "GRANT OPTION ON security_a.t"]),
        ("REVOKE SELECT ON security_a.* FROM {0}", ["SELECT ON security_a.*", "GRANT OPTION ON security_a.*"]),
        ("REVOKE SELECT ON *.* FROM {0}", ["SELECT ON *.*", "GRANT OPTION ON *.*"]),
        ("REVOKE ALL ON security_a.* FROM {0}", ["ALL ON security_a.*", "GRANT OPTION ON security_a.*"]),
    ]
    for template, needs in grants:
        for user in (plain, system, "security_nobody@localhost"):
            yield case("GRANT", template.format(user), needs, remake, states=[
                ("CREATE USER", (create,)), ("with CREATE USER", (*needs, create))])


def any_column():
    """What rights on some columns, or other rights, are enough for."""
    some = [f"{word} (a)" for word in ("SELECT", "INSERT", "UPDATE", "REFERENCES")]
    some += ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "REFERENCES", "TRIGGER", "SHOW VIEW", "CREATE VIEW"]
    made = "CREATE ON security_a.new"
    for sql in ("CHECK TABLE security_a.t", "CHECK TABLE security_a.t, security_a.u", "CHECKSUM TABLE security_a.t", "CHECK TABLE security_w.lent"):
        yield case("any column", sql, rows=False, states=[
            (word, (f"{word} ON security_a.t", f"{word} ON security_w.lent")) for word in some])
    yield case("any column", "CREATE TABLE security_a.new LIKE security_a.t", undo=["DROP TABLE IF EXISTS security_a.new"],
               states=[(word, (made, f"{word} ON security_a.t")) for word in some])
    texts = ["SELECT TABLE_NAME, LENGTH(VIEW_DEFINITION) > 0 FROM information_schema.VIEWS WHERE TABLE_SCHEMA = 'security_w' AND TABLE_NAME IN ('lent', 'nested') ORDER BY 1",
             "SELECT VIEW_NAME, TABLE_NAME FROM information_schema.VIEW_TABLE_USAGE WHERE VIEW_SCHEMA = 'security_w' AND VIEW_NAME IN ('lent', 'asking') ORDER BY 1, 2"]
    for sql in texts:
        for view in ("lent", "asking"):
            yield case("any column", sql, states=[
                (f"{words} of {view}, {base}", (f"{words} ON security_w.{view}", base)) for words in ("SELECT", "SHOW VIEW", "SELECT, SHOW VIEW", "SELECT (a), SHOW VIEW", "INSERT, SHOW VIEW")
                for base in ("SELECT ON security_a.t", "SELECT (a) ON security_w.plain", "SELECT ON *.*")])
