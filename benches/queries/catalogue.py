"""The queries of sql/*.sql: a name, whether the order of its rows is decided, its text."""
import pathlib
import re
from dataclasses import dataclass

HERE = pathlib.Path(__file__).resolve().parent
GROUPS = ("tpch", "wiki", "sbtest", "cliffs")
HEAD = re.compile(r"-- ([a-z]\d+)( ordered)?: ")


@dataclass(frozen=True)
class Query:
    name: str
    ordered: bool
    text: str


def queries(scale, only=None):
    """All queries or those named, in the order of the files."""
    found, wanted = [], set(only.split(",")) if only else None
    for group in GROUPS:
        for block in (HERE / "sql" / f"{group}.sql").read_text(encoding="utf8").split("\n\n"):
            head = HEAD.match(block)
            if head is None:
                continue
            text = block.split("\n", 1)[1].rstrip().rstrip(";").replace("{rows}", str(round(1_000_000 * scale)))
            if wanted is None or head[1] in wanted:
                found.append(Query(head[1], bool(head[2]), text))
    if wanted and wanted - {query.name for query in found}:
        raise SystemExit(f"no such query: {', '.join(sorted(wanted - {query.name for query in found}))}")
    return found
