"""Random tables, and queries and changes over them. Main type: Tables. Rows are few and full of extremes and NULL, so that
every operator meets its edge; result rows are compared as a multiset, so LIMIT only follows a total order."""
from expressions import Expressions
from literals import LITERALS

COLUMNS = {
    "i": ["INT", "BIGINT", "TINYINT UNSIGNED", "SMALLINT", "BIGINT UNSIGNED", "YEAR"],
    "d": ["DECIMAL(10,2)", "DECIMAL(20,6)"],
    "f": ["DOUBLE"],
    "s": ["VARCHAR(20)", "CHAR(8)", "VARCHAR(20) COLLATE utf8mb4_bin", "TEXT", "ENUM('a','b','abc')"],
    "D": ["DATE"],
    "S": ["DATETIME", "DATETIME(3)"],
    "T": ["TIME"],
}
VALUES = {
    "i": ["0", "1", "2", "3", "5", "7", "100", "127"],
    "d": ["0", "1.5", "2.25", "-3.75", "100", "5"],
    "f": ["0", "1.5", "-2.5", "1e10", "5"],
    "s": ["'a'", "'b'", "'abc'", "'A'"],
    "D": ["'2024-01-15'", "'2024-02-29'", "'1970-01-01'", "'2023-12-31'"],
    "S": ["'2024-01-15 10:20:30'", "'2024-02-29 23:59:59'", "'1970-01-01 00:00:01'", "'2024-01-15 00:00:00'"],
    "T": ["'10:20:30'", "'00:00:00'", "'-01:00:00'", "'100:00:00'"],
}
AGGREGATES = ["COUNT({})", "COUNT(DISTINCT {})", "SUM({})", "AVG({})", "MIN({})", "MAX({})", "BIT_OR({})", "BIT_AND({})", "BIT_XOR({})",
              "GROUP_CONCAT({0} ORDER BY {0})", "GROUP_CONCAT(DISTINCT {0} ORDER BY {0})", "STDDEV_POP({})", "VAR_SAMP({})"]


class Tables:
    """Tables t0, t1, t2 with an id and random columns; makes statements over them."""

    def __init__(self, random, typed):
        self.random, self.typed = random, typed
        self.tables = {}

    def create(self):
        """Statements that make the tables anew."""
        for number in range(3):
            name = f"t{number}"
            columns = [(f"c{at}", self.random.choice("iiidfssDST")) for at in range(self.random.randint(3, 6))]
            self.tables[name] = columns
            yield f"DROP TABLE IF EXISTS {name}"
            required = [self.random.random() < 0.15 for _ in columns]
            parts = ["id INT PRIMARY KEY"]
            parts += [f"{column} {self.random.choice(COLUMNS[kind])}{' NOT NULL' if needed else ''}" for (column, kind), needed in zip(columns, required)]
            indexed = [column for column, part in zip(columns, parts[1:]) if "TEXT" not in part]
            for column, _ in self.random.sample(indexed, min(len(indexed), self.random.randint(0, 2))):
                parts.append(f"KEY ({column})")
            yield f"CREATE TABLE {name} ({', '.join(parts)})"
            rows = [f"({', '.join([str(at)] + [self.value(kind, needed) for (_, kind), needed in zip(columns, required)])})" for at in range(self.random.randint(0, 12))]
            if rows:
                yield f"INSERT IGNORE INTO {name} VALUES {', '.join(rows)}"

    def value(self, kind, needed=False):
        if not needed and self.random.random() < 0.15:
            return "NULL"
        return self.random.choice(VALUES[kind])

    def names(self, aliases):
        """Columns by kind of `aliases`: (alias, table)."""
        by_kind = {}
        for alias, table in aliases:
            by_kind.setdefault("i", []).append(f"{alias}.id")
            for column, kind in self.tables[table]:
                by_kind.setdefault(kind, []).append(f"{alias}.{column}")
        return by_kind

    def expressions(self, aliases):
        return Expressions(self.random, self.names(aliases), wild=0.0 if self.typed else 0.2)

    def scalar(self, aliases, depth=1):
        """A value over the columns of `aliases`."""
        if not self.typed:
            return self.expressions(aliases).of("A", depth)
        names = self.names(aliases)
        kind = self.random.choice(sorted(names))
        column = self.random.choice(names[kind])
        if self.random.random() < 0.6:
            return column
        suited = {"i": f"{column} + 1", "d": f"ROUND({column}, 1)", "f": f"{column} * 2", "s": f"CONCAT({column}, 'x')", "D": f"YEAR({column})",
                  "S": f"DATE({column})", "T": f"HOUR({column})"}
        return suited[kind]

    def condition(self, aliases, depth=1):
        """A condition over the columns of `aliases`."""
        if not self.typed and self.random.random() < 0.5:
            return self.expressions(aliases).of("A", depth)
        names = self.names(aliases)
        kind = self.random.choice(sorted(names))
        column = self.random.choice(names[kind])
        other = self.random.choice(names[kind] + VALUES[kind])
        pick = self.random.randrange(9)
        if pick < 4:
            return f"{column} {self.random.choice(['=', '<', '>', '<=', '>=', '<>', '<=>'])} {other}"
        if pick == 4:
            return f"{column} BETWEEN {self.random.choice(VALUES[kind])} AND {other}"
        if pick == 5:
            return f"{column} {self.random.choice(['IN', 'NOT IN'])} ({', '.join(self.random.choice(VALUES[kind] + ['NULL']) for _ in range(3))})"
        if pick == 6:
            return f"{column} IS {self.random.choice(['', 'NOT '])}NULL"
        if pick == 7 and depth:
            return self.subquery_condition(aliases, kind, column)
        if depth:
            word = self.random.choice(["AND", "OR"])
            return f"({self.condition(aliases, depth - 1)} {word} {self.condition(aliases, depth - 1)})"
        return f"NOT ({column} = {other})"

    def subquery_condition(self, aliases, kind, column):
        table = self.random.choice(sorted(self.tables))
        inner = self.names([("q", table)]).get(kind, ["q.id"])
        chosen, where = self.random.choice(inner), self.condition([("q", table)], 0)
        form = self.random.randrange(4)
        if form == 0:
            return f"{column} {self.random.choice(['IN', 'NOT IN'])} (SELECT {chosen} FROM {table} q WHERE {where})"
        if form == 1:
            return f"{self.random.choice(['', 'NOT '])}EXISTS (SELECT 1 FROM {table} q WHERE {chosen} = {column} AND {where})"
        if form == 2:
            word = self.random.choice(["> ANY", "<= ALL", "= ANY", "<> ALL", "< ANY"])
            return f"{column} {word} (SELECT {chosen} FROM {table} q WHERE {where})"
        return f"{column} > (SELECT MIN({chosen}) FROM {table} q WHERE {where})"

    def source(self):
        """FROM of one to three tables, with the aliases that it makes."""
        aliases = [("a", self.random.choice(sorted(self.tables)))]
        text = f"{aliases[0][1]} a"
        for alias in "bc"[:self.random.choice([0, 0, 1, 1, 2])]:
            aliases.append((alias, self.random.choice(sorted(self.tables))))
            word = self.random.choice(["JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN"])
            on = "" if word == "CROSS JOIN" else f" ON {self.condition(aliases, 0)}"
            text += f" {word} {aliases[-1][1]} {alias}{on}"
        return text, aliases

    def query(self):
        """A SELECT."""
        text, aliases = self.source()
        where = f" WHERE {self.condition(aliases)}" if self.random.random() < 0.7 else ""
        form = self.random.randrange(10)
        if form < 3:
            return self.grouped(text, aliases, where)
        items = [self.scalar(aliases) for _ in range(self.random.randint(1, 3))]
        distinct = "DISTINCT " if self.random.random() < 0.2 else ""
        query = f"SELECT {distinct}{', '.join(items)} FROM {text}{where}"
        if form == 3:
            other, names = self.source()
            others = ", ".join(self.scalar(names) for _ in items)
            return f"{query} {self.random.choice(['UNION', 'UNION ALL', 'INTERSECT', 'EXCEPT'])} SELECT {others} FROM {other}"
        if form == 4 and not distinct:
            order = ", ".join(f"{alias}.id {self.random.choice(['', 'DESC'])}" for alias, _ in aliases)
            return f"{query} ORDER BY {order} LIMIT {self.random.randint(0, 5)} OFFSET {self.random.randint(0, 2)}"
        if form == 5:
            return f"SELECT * FROM ({query.replace(items[0], items[0] + ' AS x0', 1) if len(items) == 1 else query}) d"
        return query

    def grouped(self, text, aliases, where):
        """A SELECT with aggregates."""
        results = [self.random.choice(AGGREGATES).format(self.scalar(aliases)) for _ in range(self.random.randint(1, 2))]
        if self.random.random() < 0.3:
            return f"SELECT {', '.join(results)} FROM {text}{where}"
        keys = [self.scalar(aliases) for _ in range(self.random.randint(1, 2))]
        rollup = " WITH ROLLUP" if self.random.random() < 0.1 else ""
        having = f" HAVING COUNT(*) {self.random.choice(['>', '<', '='])} {self.random.randint(0, 3)}" if self.random.random() < 0.3 else ""
        return f"SELECT {', '.join(keys + results)} FROM {text}{where} GROUP BY {', '.join(keys)}{rollup}{having}"

    def change(self):
        """The table, and an INSERT, UPDATE, DELETE or REPLACE of it."""
        table = self.random.choice(sorted(self.tables))
        columns = self.tables[table]
        alias = [(table, table)]
        form = self.random.randrange(7)
        name, kind = self.random.choice(columns)
        value = lambda kind: self.value(kind) if self.typed or self.random.random() < 0.4 else self.random.choice(LITERALS[self.random.choice("idfsxDTSn")])  # noqa: E731
        if form < 2:
            row = ", ".join([str(self.random.randint(0, 40))] + [value(kind) for _, kind in columns])
            verb = self.random.choice(["INSERT", "INSERT IGNORE", "REPLACE", "INSERT"])
            update = f" ON DUPLICATE KEY UPDATE {name} = {value(kind)}" if verb == "INSERT" and self.random.random() < 0.4 else ""
            return table, f"{verb} INTO {table} VALUES ({row}){update}"
        if form == 2:
            other = self.random.choice(sorted(self.tables))
            items = ", ".join(["id + 50"] + [self.scalar([(other, other)]) for _ in columns])
            return table, f"INSERT {self.random.choice(['', 'IGNORE '])}INTO {table} SELECT {items} FROM {other} WHERE {self.condition([(other, other)])}"
        if form < 6:
            result = value(kind) if self.random.random() < 0.4 else self.scalar(alias)
            ignore = "IGNORE " if self.random.random() < 0.15 else ""
            return table, f"UPDATE {ignore}{table} SET {name} = {result} WHERE {self.condition(alias)}"
        return table, f"DELETE FROM {table} WHERE {self.condition(alias)} ORDER BY id LIMIT {self.random.randint(1, 4)}"
