"""Which functions of MySQL 9.7 are equal here in all that the tests of functions, JSON and windows ask of them: coverage.md.

    coverage.py            writes coverage.md
    coverage.py --check    fails where it is not what the tests say

A combination is a call of a function in a statement, once for each row that the statement returns. A function counts when there are
COMBINATIONS_MIN of them at least and no statement that calls it differs from MySQL's result (`NAME.known`). A call around another one, as
HEX(AES_ENCRYPT(..)), does not count against the outer function if that is one of WRAPPERS. Where MySQL is at fault and the statement
stays different for that reason, it counts against its functions all the same."""
import collections
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOLDERS = [HERE, HERE.parent / "json"]
FILES = ["../select/window_*.test", "../temporal/*.test"]
COMBINATIONS_MIN = 20
WRAPPERS = {"hex", "length", "concat", "cast", "repeat", "count", "ifnull", "isnull", "upper", "replace"}

# Every name that 9.7.4 answers, but those of full-text search, GIS, vectors and replication.
NAMES = """
abs acos adddate addtime aes_decrypt aes_encrypt any_value ascii asin atan atan2 avg benchmark bin bin_to_uuid bit_and bit_count
bit_length bit_or bit_xor cast ceil ceiling char char_length character_length charset coalesce coercibility collation compress concat
concat_ws connection_id conv convert convert_tz cos cot count crc32 cume_dist curdate current_date current_role current_role_in
current_time current_timestamp current_user current_user_in curtime database date date_add date_format date_sub datediff day dayname
dayofmonth dayofweek dayofyear default degrees dense_rank elt etag exp export_set extract extractvalue field find_in_set first_value
floor format format_bytes format_pico_time found_rows from_base64 from_days from_unixtime get_format get_lock greatest group_concat
grouping hex hour icu_version if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert instr interval is_free_lock is_ipv4
is_ipv4_compat is_ipv4_mapped is_ipv6 is_used_lock is_uuid isnull json_array json_array_append json_array_insert json_arrayagg
json_contains json_contains_path json_depth json_extract json_insert json_keys json_length json_merge json_merge_patch
json_merge_preserve json_object json_objectagg json_overlaps json_pretty json_quote json_remove json_replace json_schema_valid
json_schema_validation_report json_search json_set json_storage_free json_storage_size json_table json_type json_unquote json_valid
json_value lag last_day last_insert_id last_value lcase lead least left length ln load_file localtime localtimestamp locate log log10
log2 lower lpad ltrim make_set makedate maketime max member_of microsecond mid min minute mod month monthname name_const now nth_value
ntile nullif oct octet_length ord percent_rank period_add period_diff pi position pow power ps_current_thread_id ps_thread_id quarter
quote radians rand random_bytes rank regexp_instr regexp_like regexp_replace regexp_substr release_all_locks release_lock repeat
replace reverse right roles_graphml round row_count row_number rpad rtrim schema sec_to_time second session_user sha2 sign sin sleep
soundex space sqrt statement_digest statement_digest_text std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr
substring substring_index subtime sum sysdate system_user tan time time_format time_to_sec timediff timestamp timestampadd
timestampdiff to_base64 to_days to_seconds trim truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml upper
user utc_date utc_time utc_timestamp uuid uuid_short uuid_to_bin validate_password_strength values var_pop var_samp variance version
version_with_update week weekday weekofyear weight_string year yearweek
""".split()
KNOWN = set(NAMES)


def calls(statement):
    """The functions that a statement calls, as often as it does, each with whether another one is called within it."""
    bare = re.sub(r"'(?:[^'\\]|\\.|'')*'", "''", statement.lower())
    # The type that JSON_VALUE returns is no call.
    bare = re.sub(r"\breturning \w+", "returning", bare)
    open_calls, found = [], []
    for token in re.finditer(r"([a-z_][a-z0-9_]*)\s*\(|\bmember of\s*\(|\(|\)|\b(?:curdate|current_\w+|localtime\w*|utc_\w+)\b", bare):
        text = token.group()
        if text == ")":
            if open_calls and (closed := open_calls.pop()):
                if open_calls:
                    open_calls[-1] = open_calls[-1] and (open_calls[-1][0], True)
                found.append(closed)
        elif text.endswith("("):
            name = "member_of" if text.startswith("member of") else token.group(1)
            # A parenthesis without a name hands on what is called in it.
            open_calls.append((name, False) if name in KNOWN else None)
        elif text in KNOWN:
            found.append((text, False))
            if open_calls:
                open_calls[-1] = open_calls[-1] and (open_calls[-1][0], True)
    return found


def statements(path):
    """(statement, rows) of a result."""
    statement, rows = None, 0
    for line in path.with_suffix(".result").read_text(encoding="utf8").splitlines():
        if line.startswith("> "):
            if statement:
                yield statement, max(rows, 1)
            statement, rows = line[2:], 0
        elif not line.startswith(("columns ", "warning ", "error ", "ok ")):
            rows += 1
    if statement:
        yield statement, max(rows, 1)


def different(path):
    """The statements of a test that differ."""
    known = path.with_suffix(".known")
    lines = known.read_text(encoding="utf8").splitlines() if known.exists() else []
    return {line[2:] for line in lines if line.startswith("> ")}


def counted():
    """How many combinations there are of each function, and in how many statements it differs."""
    combinations, differing = collections.Counter(), collections.defaultdict(set)
    paths = [path for folder in FOLDERS for path in sorted(folder.glob("*.test"))]
    paths += [path for pattern in FILES for path in sorted(HERE.glob(pattern))]
    for path in paths:
        if not path.with_suffix(".result").exists():
            continue
        wrong = different(path)
        for statement, rows in statements(path):
            for name, encloses in calls(statement):
                combinations[name] += rows
                if statement in wrong and not (encloses and name in WRAPPERS):
                    differing[name].add((path.stem, statement))
    return combinations, {name: len(found) for name, found in differing.items()}


def document():
    combinations, differing = counted()
    equal = [name for name in NAMES if combinations[name] >= COMBINATIONS_MIN and not differing.get(name)]
    few = [name for name in NAMES if name not in equal and not differing.get(name)]
    rest = [name for name in NAMES if differing.get(name)]
    lines = [
        "# Functions that are equal to MySQL 9.7's",
        "",
        "Written by `coverage.py`; what counts is said there.",
        "",
        f"**{len(equal)} of {len(NAMES)}** names count: at least {COMBINATIONS_MIN} combinations, all equal in values, types, errors and warnings.",
        "",
        "| function | combinations |",
        "| --- | --- |",
        *[f"| {name.upper()} | {combinations[name]} |" for name in equal],
        "",
        f"## {len(rest)} that differ in something",
        "",
        "| function | combinations | statements that differ |",
        "| --- | --- | --- |",
        *[f"| {name.upper()} | {combinations[name]} | {differing[name]} |" for name in rest],
        "",
        f"## {len(few)} that too little is asked of",
        "",
        "| function | combinations |",
        "| --- | --- |",
        *[f"| {name.upper()} | {combinations[name]} |" for name in few],
        "",
    ]
    return "\n".join(lines)


def main():
    path, text = HERE / "coverage.md", document()
    if "--check" not in sys.argv:
        path.write_text(text, encoding="utf8")
    elif not path.exists() or path.read_text(encoding="utf8") != text:
        sys.exit("coverage.md is not what the tests say: run tests/sql/functions/coverage.py")


if __name__ == "__main__":
    main()
