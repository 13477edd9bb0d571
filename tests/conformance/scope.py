"""Which statements of a recorded stream are about what this server builds now.

A statement is out of scope if it is about stored programs, partitions, geometry, full-text, vectors, replication, plugins, EXPLAIN (its
output is costs) or status counters, or if it names an object that an out-of-scope statement of its stream has made. A session variable or a
schema is not such an object: what fails behind one counts."""
import re

FLAGS = re.IGNORECASE | re.DOTALL
# What a statement begins with.
KINDS = re.compile(
    r"\s*(?:/\*.*?\*/\s*)*(?:"
    r"call\b|create\s+(?:or\s+replace\s+)?(?:definer\s*=\s*\S+(?:\s*@\s*\S+)?\s+)?(?:aggregate\s+)?(?:procedure|function|trigger|event|server|tablespace|undo|spatial|fulltext|library|resource|logfile)\b"
    r"|(?:alter|drop|show\s+create)\s+(?:procedure|function|trigger|event|server|tablespace|undo|library|resource|logfile|instance)\b"
    r"|show\s+(?:procedure|function|triggers|events|(?:global\s+|session\s+)?status|engine|binary|binlog|relaylog|replica|slave|master|plugins|profile|library|parse_tree)\b"
    r"|explain\b|desc(?:ribe)?\s+(?:select|insert|update|delete|replace|with|table\s|format|analyze)\b"
    r"|signal\b|resignal\b|get\s+(?:current\s+|stacked\s+)?diagnostics\b|begin\s+not\b|declare\b"
    r"|install\b|uninstall\b|change\s+(?:replication|master)\b|(?:start|stop|reset)\s+(?:replica|slave|master|group|binary)\b|purge\b|clone\b|import\b"
    r"|flush\s+(?:status|binary|engine|error|general|slow|relay|optimizer)\b|do\s+release_all"
    r")",
    FLAGS,
)
# What stands anywhere in it, literals left out.
WORDS = re.compile(
    r"\b(?:partition(?:s|ing)?\s+(?:by|p\d|\()|(?:add|drop|truncate|coalesce|reorganize|exchange|rebuild|discard|import|analyze|check|optimize|repair)\s+partition|remove\s+partitioning|subpartition"
    r"|geometry(?:collection)?|point|multipoint|linestring|multilinestring|polygon|multipolygon|geomcollection|srid|spatial|st_\w+|mbr\w+"
    r"|fulltext|match\s*\(|against\s*\(|ft_\w+|vector|gtid\w*|binlog\w*|wait_for_executed|source_pos_wait|master_pos_wait"
    r"|information_schema\s*\.\s*(?:routines|parameters|triggers|events|partitions|innodb_\w+|optimizer_trace|st_\w+|plugins|files|tablespaces\w*|profiling|engines)"
    r"|performance_schema|mysql\s*\.\s*(?:innodb_\w+|func|proc|event|plugin|component|gtid_executed|general_log|slow_log|slave_\w+|server_cost|engine_cost|help_\w+|servers)"
    r"|optimizer_trace|tablespace|encryption\s*=|compression\s*=|data\s+directory|secondary_engine|algorithm\s*=\s*instant"
    r"|show_json_object|grant\s+execute|on\s+(?:procedure|function)\b|create\s+routine|alter\s+routine"
    r")",
    FLAGS,
)
LITERALS = re.compile(r"'(?:[^'\\]|\\.|'')*'|\"(?:[^\"\\]|\\.)*\"|/\*(?!!).*?\*/|--\s[^\n]*|#[^\n]*", FLAGS)
MADE = re.compile(
    r"\s*create\s+(?:or\s+replace\s+)?(?:algorithm\s*=\s*\w+\s+)?(?:definer\s*=\s*\S+(?:\s*@\s*\S+)?\s+)?(?:sql\s+security\s+\w+\s+)?"
    r"(?:temporary\s+|aggregate\s+)?(?:table|view|procedure|function|trigger|event)\s+(?:if\s+not\s+exists\s+)?((?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)",
    FLAGS,
)
TRIGGER = re.compile(r"\bon\s+((?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)\s+for\s+each\s+row", FLAGS)
ALTERED = re.compile(r"\s*alter\s+table\s+((?:`[^`]+`|[\w$]+)(?:\s*\.\s*(?:`[^`]+`|[\w$]+))?)", FLAGS)
DROPPED = re.compile(r"\s*drop\s+(?:temporary\s+)?(?:table|view)\s+(?:if\s+exists\s+)?(.*?)\s*;?\s*$", FLAGS)
NAMES = re.compile(r"`([^`]+)`|\b([a-z_$][\w$]*)", re.IGNORECASE)


def own_name(name):
    return name.split(".")[-1].strip().strip("`").lower()


class Scope:
    """Follows a stream."""

    def __init__(self):
        self.outside = set()
        # The last statement of each connection was out of scope: so is what SHOW WARNINGS says of it.
        self.last = {}

    def admits(self, connection, text):
        bare = LITERALS.sub("''", text)
        if re.match(r"\s*show\s+(?:count\s*\(\s*\*\s*\)\s+)?(?:warnings|errors)\b", bare, FLAGS):
            return self.last.get(connection, True)
        inside = self.judge(bare)
        self.last[connection] = inside
        return inside

    def judge(self, bare):
        made = MADE.match(bare)
        direct = KINDS.match(bare) or WORDS.search(bare)
        words = {(quoted or plain).lower() for quoted, plain in NAMES.findall(bare)}
        if direct:
            if made:
                self.outside.add(own_name(made.group(1)))
            trigger = TRIGGER.search(bare)
            if trigger:
                self.outside.add(own_name(trigger.group(1)))
            altered = ALTERED.match(bare)
            if altered:
                self.outside.add(own_name(altered.group(1)))
            return False
        touched = words & self.outside
        dropped = DROPPED.match(bare)
        if dropped:
            for name in dropped.group(1).split(","):
                self.outside.discard(own_name(name))
        elif made:
            if touched - {own_name(made.group(1))}:
                self.outside.add(own_name(made.group(1)))
                return False
            # A new object in the place of one that was out of scope.
            self.outside.discard(own_name(made.group(1)))
            return True
        return not touched
