"""Writes the tests `every_*.test` of this folder: each function and operator of SQL over one table of arguments, and over literals.

    generate.py [FAMILY ...]      then `run.py record HOST:PORT functions/every_FAMILY.test`

A line of FAMILIES is an expression: {all} stands for each column of the table in turn, {some} for those of the most different types,
{literal} for each literal. `each: ` before it makes a statement of each, where some are errors; `WHERE ..` behind it leaves rows out.
Over the table it is selected where it names a column (`id` comes first). Lines that begin with SELECT, SET and the like are statements.
crates/planner/tests/functions_are_tested.rs fails for a function or operator that no golden file of this folder calls."""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
COLUMNS = "v l b i u c f d t m y e".split()
DIFFERENT = "v b i c f d t m".split()
LITERALS = ["NULL", "''", "'abc'", "' 12.5xyz'", "0", "-1", "9223372036854775807", "18446744073709551615", "1.5", "-0.005", "1e308",
            "X'4142'", "B'101'", "DATE'2024-02-29'", "TIME'-12:34:56.7'", "TIMESTAMP'2024-02-29 12:34:56.789'"]
# Nothing, zero, one, less, most, least, and texts that are numbers, dates, lists or need more than a byte a character.
TABLE = """SET time_zone = '+00:00', timestamp = 1709210096.789012;
CREATE TABLE a (id INT PRIMARY KEY, v VARCHAR(40), l VARCHAR(40) CHARSET latin1, b VARBINARY(20), i BIGINT, u BIGINT UNSIGNED,
  c DECIMAL(20, 6), f DOUBLE, d DATE, t TIME(3), m DATETIME(6), y YEAR, e ENUM('a', 'B', '12', '2024-02-29'));
INSERT INTO a VALUES
  (1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (2, '', '', '', 0, 0, 0, 0, '2001-02-03', '00:00:00', '2001-02-03', 0, '2024-02-29'),
  (3, 'abc', 'B', 'abc', 1, 1, 1.5, 1.5, '2024-02-29', '12:34:56.789', '2024-02-29 12:34:56.789012', 2024, 'a'),
  (4, '-12.7x', '-1', 'ab ', -1, 7, -12.7, -0.5, '1000-01-01', '-01:02:03.5', '1000-01-01', 1901, 'B'),
  (5, 'ÄÖ€', 'sz', '-1.5', 9223372036854775807, 18446744073709551615, 99999999999999.999999, 1.5e300, '9999-12-31', '838:59:59',
    '9999-12-31 23:59:59', 2155, '12'),
  (6, 'two words ', 'x ', '0', -9223372036854775808, 3, -99999999999999.999999, -1.5e300, '0001-01-01', '-838:59:59', '0001-01-01', 1970,
    '2024-02-29'),
  (7, '12', '1e3', '255', 10, 255, 0.000001, 1e-10, '1970-01-01', '00:00:00.001', '1970-01-01 00:00:01', 2000, 'a'),
  (8, '2024-02-30', '2024-12-31 23:59:59.5', '2024-01-01', 20240229, 20240229123456, 20240229.5, 20240229, '2024-12-31', '23:59:59.999',
    '2024-12-31 23:59:59.5', 2024, 'B'),
  (9, 'a''b\\\\c"%_', 'a''b', 'b%', 2, 2, 2.5, 2.5, '2023-03-01', '24:00:00', '2023-03-01 01:00:00', 2023, 'a'),
  (10, '101112', '-101112.5', '101112', -2, 101112, -2.5, 3.5, '2000-10-11', '10:11:12', '2000-10-11 10:11:12', 2069, 'B'),
  (11, 'true', 'x41', '1', 100, 3232235521, 100.25, 1e15, '2038-01-19', '100:00:00', '2038-01-19 03:14:08', 1999, '12'),
  (12, 'a,b,,c', 'b,A', 'b', 3, 12, 3, 3, '1999-12-31', '-00:00:01', '1999-12-31 23:59:59', 1999, '12');
"""
AGGREGATES = r"(COUNT|SUM|AVG|MIN|MAX|GROUP_CONCAT|BIT_(AND|OR|XOR)|STD|STDDEV\w*|VAR\w*|JSON_\w+AGG)\("
A_COLUMN = r"\b(id|[vlbiucfdtmye])\b(?![.(])"

FAMILIES = {
    "numeric": """
ABS({all}) WHERE i > -9223372036854775808 OR i IS NULL
SIGN({all})
CEIL({all})
CEILING({all})
FLOOR({all})
ROUND({all})
ROUND({all}, 2)
ROUND({all}, -1) WHERE id NOT IN (5, 6)
ROUND(c, {some})
TRUNCATE({all}, 1)
TRUNCATE({all}, -1)
TRUNCATE(f, {some})
POW({all}, 2) WHERE id NOT IN (5, 6)
each: POWER(2, {some}) WHERE id NOT IN (5, 6, 8, 10, 11)
SQRT({all})
each: EXP({all}) WHERE id IN (1, 2, 3, 4, 7, 9, 12)
LN({all})
LOG({all})
LOG({all}, 10)
LOG(2, {some})
LOG2({all})
LOG10({all})
SIN({some})
COS({some})
TAN({some})
each: COT({all}) WHERE id NOT IN (1, 2)
ASIN({all})
ACOS({all})
ATAN({all})
ATAN({all}, 2)
ATAN2({some}, f)
DEGREES({all}) WHERE id NOT IN (5, 6)
RADIANS({all})
PI()
PI() + 0.000000000000000
SELECT id, PI(), PI() * i, PI() / c, PI() - f, PI() > y FROM a WHERE id NOT IN (5, 6) ORDER BY id;
RAND({literal}) >= 0
RAND(3)
RAND(i) WHERE id < 8
FORMAT_BYTES({all})
FORMAT_PICO_TIME({all})
BIT_COUNT({all})
CRC32({all})
each: ABS({literal})
SIGN({literal})
CEIL({literal})
FLOOR({literal})
ROUND({literal})
ROUND(-25.455, {literal})
TRUNCATE({literal}, 1)
TRUNCATE(123.456e0, {literal})
each: POW({literal}, 2)
SQRT({literal})
each: EXP({literal})
LN({literal})
LOG(2, {literal})
LOG2({literal})
LOG10({literal})
SIN({literal})
COS({literal})
TAN({literal})
each: COT({literal})
ASIN({literal})
ACOS({literal})
ATAN({literal})
ATAN2({literal}, 1)
each: DEGREES({literal})
RADIANS({literal})
FORMAT_BYTES({literal})
FORMAT_PICO_TIME({literal})
BIT_COUNT({literal})
CRC32({literal})
MOD({all}, 3)
MOD(i, {some}) WHERE id NOT IN (5, 6)
MOD({literal}, 3)
""",
    "string_build": """
CONCAT({all}, '|')
CONCAT(v, l)
CONCAT(b, v)
CONCAT_WS(',', {all}, '')
CONCAT_WS({some}, 'a', 'b')
REPEAT({all}, 2)
LENGTH(REPEAT('ab', {some}))
SPACE(i) WHERE id IN (1, 2, 3, 4, 7, 9, 10, 12)
LENGTH(SPACE({some}))
LPAD({all}, 6, 'xy')
LPAD('ab', i, '-') WHERE id NOT IN (8, 11)
LENGTH(LPAD('ab', {some}, '-'))
LPAD(v, 9, '')
RPAD({all}, 6, 'xy')
each: RPAD('ab', i, {some}) WHERE id IN (1, 2, 3, 4, 7, 9, 10, 12)
RPAD(v, 9, '')
INSERT({all}, 2, 1, 'XY')
INSERT('abcdef', {some}, 2, 'XY')
INSERT('abcdef', 3, {some}, 'XY')
each: INSERT('abcdef', 3, 2, {some})
REPLACE({all}, '1', 'one')
each: REPLACE('a1b12', {some}, '-')
each: REPLACE('a1b12', '1', {some})
ELT({all}, 'one', 'two')
ELT(2, 'one', {all})
MAKE_SET({all}, 'one', 'two', NULL, 'four')
MAKE_SET(7, 'one', {some})
EXPORT_SET({all}, 'Y', 'n', '', 5)
EXPORT_SET(5, {some}, '-', '|', 4)
EXPORT_SET(5, 'Y', {some}, ',', 3)
EXPORT_SET(5, 'Y', 'n', {some}, 3)
EXPORT_SET(5, 'Y', 'n', ',', {some})
REVERSE({all})
UPPER({all})
UCASE(v)
LOWER({all})
LCASE(v)
each: QUOTE({all})
FORMAT({all}, 2)
FORMAT(1234567.891, {some})
FORMAT(1234567.891, 2, {all})
CONCAT({literal}, 'x')
CONCAT_WS({literal}, 'a', 'b')
REPEAT({literal}, 2)
LENGTH(REPEAT('ab', {literal}))
LENGTH(SPACE({literal}))
LPAD({literal}, 6, 'xy')
RPAD('ab', 6, {literal})
INSERT({literal}, 2, 1, 'XY')
REPLACE({literal}, '1', 'one')
ELT({literal}, 'one', 'two')
MAKE_SET({literal}, 'one', 'two')
EXPORT_SET({literal}, 'Y', 'n', ',', 5)
REVERSE({literal})
UPPER({literal})
LOWER({literal})
UCASE({literal})
LCASE({literal})
QUOTE({literal})
FORMAT({literal}, 2)
""",
    "string_cut": """
SUBSTRING({all}, 2)
SUBSTRING({all}, -3, 2)
SUBSTRING('abcdef', {some})
SUBSTRING('abcdef', 2, {some})
SUBSTR(v, 2, 3)
SUBSTR(v FROM -3 FOR 2)
MID({all}, 2, 3)
LEFT({all}, 3)
LEFT('abcdef', {some})
RIGHT({all}, 3)
RIGHT('abcdef', {some})
LTRIM('  a ') = 'a ', RTRIM(' a  ') = ' a', TRIM('  a '), TRIM(LEADING FROM '  a '), TRIM(TRAILING FROM ' a  '), TRIM(BOTH FROM ' a ')
LTRIM({all})
RTRIM({all})
TRIM({all})
TRIM(LEADING 'a' FROM {all})
TRIM(TRAILING '2' FROM {all})
each: TRIM(BOTH {some} FROM 'abcabc')
TRIM('b' FROM b)
SUBSTRING_INDEX({all}, '-', 1)
SUBSTRING_INDEX({all}, ',', -2)
each: SUBSTRING_INDEX('a1b1c', {some}, 1)
SUBSTRING_INDEX('a1b1c', '1', {some})
SUBSTRING({literal}, 2)
SUBSTRING('abcdef', {literal})
SUBSTR({literal}, 1, 2)
MID({literal}, 2, 3)
LEFT({literal}, 3)
RIGHT({literal}, 3)
LEFT('abcdef', {literal})
RIGHT('abcdef', {literal})
LTRIM({literal})
RTRIM({literal})
TRIM({literal})
TRIM(LEADING '1' FROM {literal})
TRIM(TRAILING 'c' FROM {literal})
TRIM(BOTH 'a' FROM {literal})
SUBSTRING_INDEX({literal}, '-', 1)
SUBSTRING_INDEX('a1b1c', '1', {literal})
""",
    "string_search": """
LENGTH({all})
OCTET_LENGTH({all})
BIT_LENGTH({all})
CHAR_LENGTH({all})
CHARACTER_LENGTH({all})
LOCATE('1', {all})
each: LOCATE({some}, 'abc 12 2024')
LOCATE('a', 'banana', {some})
POSITION('b' IN {all})
each: POSITION({some} IN 'abc 12 2024')
INSTR({all}, 'B')
each: INSTR('abc 12 2024', {some})
FIELD({all}, 'b', 1, NULL, '')
FIELD(v, 'ABC', l, b) WHERE id NOT IN (4, 5, 11)
FIELD(i, 2, 10, u)
FIND_IN_SET({all}, 'a,b,12,,2024-02-29')
FIND_IN_SET('b', {all})
STRCMP(v, 'ABC'), STRCMP(l, 'abc'), STRCMP(b, 'ABC'), STRCMP(e, 'A'), STRCMP(c, 'abc'), STRCMP(f, '1.5')
STRCMP(i, 'abc'), STRCMP(d, '2024-02-29')
each: STRCMP(v, {some})
LENGTH({literal})
OCTET_LENGTH({literal})
BIT_LENGTH({literal})
CHAR_LENGTH({literal})
CHARACTER_LENGTH({literal})
LOCATE({literal}, 'abc12')
POSITION({literal} IN 'abc12')
INSTR({literal}, '1')
LOCATE('a', 'banana', {literal})
FIELD({literal}, 'abc', 0, 1.5)
FIND_IN_SET({literal}, 'abc,0,-1,1.5')
each: STRCMP({literal}, '1')
STRCMP({literal}, 1)
""",
    "string_code": """
HEX({all})
UNHEX({all})
UNHEX(HEX({some}))
CONV({all}, 10, 16)
CONV({all}, 16, -10)
CONV('1f', {some}, 10)
CONV(100, 10, {some})
BIN({all})
OCT({all})
ASCII({all})
ORD({all})
HEX(CHAR({some}))
CHAR(i, u USING latin1)
HEX(CHAR(f, c USING utf8mb4))
TO_BASE64({all})
FROM_BASE64({all})
FROM_BASE64(TO_BASE64(v))
SOUNDEX({all})
HEX(WEIGHT_STRING({all}))
HEX(WEIGHT_STRING(v AS CHAR(3)))
HEX(WEIGHT_STRING(l AS BINARY(3)))
CHARSET({all})
COLLATION({all})
COERCIBILITY({all})
IS_UUID({all})
HEX({literal})
UNHEX({literal})
CONV({literal}, 10, 16)
CONV('ff', 16, {literal})
BIN({literal})
OCT({literal})
ASCII({literal})
ORD({literal})
HEX(CHAR({literal}))
TO_BASE64({literal})
FROM_BASE64({literal})
SOUNDEX({literal})
HEX(WEIGHT_STRING({literal}))
CHARSET({literal})
COLLATION({literal})
COERCIBILITY({literal})
IS_UUID({literal})
IS_UUID('6ccd780c-baba-1026-9564-5b8c656024db')
each: HEX(UUID_TO_BIN({literal}))
HEX(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db', {some}))
each: BIN_TO_UUID({literal})
BIN_TO_UUID(X'6CCD780CBABA102695645B8C656024DB', {some})
""",
    "digest": """
SHA2({all}, 256)
SHA2('abc', {some})
SHA2({literal}, 224)
SHA2('abc', {literal})
ETAG({all})
ETAG(v, {some})
ETAG({some}, NULL, v)
ETAG({literal})
ETAG(''), ETAG('', ''), ETAG(NULL, NULL), ETAG('a', 'b'), ETAG('b', 'a'), ETAG('ab'), ETAG(_utf16'ab'), ETAG(REPEAT('a', 1000)), ETAG(v, v, v) WHERE id = 3
ETAG()
CREATE TABLE kept AS SELECT ETAG(v) a, ETAG('a') b, SHA2(v, 224) c, SHA2(l, 512) d, COMPRESS(v) e, UNCOMPRESS(v) f, UNCOMPRESSED_LENGTH(v) g, RANDOM_BYTES(i) h FROM a LIMIT 0;
SHOW CREATE TABLE kept;
MD5(v)
MD5({literal})
SHA(v)
SHA1(v)
SHA1({literal})
HEX(COMPRESS({all}))
UNCOMPRESS(COMPRESS({all}))
UNCOMPRESS({some})
UNCOMPRESSED_LENGTH({all})
UNCOMPRESSED_LENGTH(COMPRESS({some}))
HEX(COMPRESS({literal}))
UNCOMPRESS({literal})
UNCOMPRESSED_LENGTH({literal})
each: LENGTH(RANDOM_BYTES({literal}))
LENGTH(RANDOM_BYTES(i)) WHERE id IN (1, 3, 7, 9)
""",
    "cipher": r"""
HEX(AES_ENCRYPT({all}, 'key'))
HEX(AES_ENCRYPT('text', {some}))
CAST(AES_DECRYPT(AES_ENCRYPT({all}, 'key'), 'key') AS CHAR)
AES_DECRYPT({some}, 'key')
HEX(AES_ENCRYPT({literal}, 'key'))
HEX(AES_ENCRYPT('text', {literal}))
AES_DECRYPT({literal}, 'key')
HEX(AES_ENCRYPT('', '')), HEX(AES_ENCRYPT('0123456789abcde', 'k')), HEX(AES_ENCRYPT('0123456789abcdef', 'k')), HEX(AES_ENCRYPT(_utf16'ab', _utf16'kl')), HEX(AES_ENCRYPT(_latin1'ä', 'ä'))
HEX(AES_ENCRYPT('text', '0123456789abcdef')), HEX(AES_ENCRYPT('text', '0123456789abcdefg'))
AES_DECRYPT(AES_ENCRYPT('text', '0123456789abcdefg'), '0123456789abcdefg'), AES_DECRYPT(X'00', 'key'), AES_DECRYPT(AES_ENCRYPT('text', 'key'), 'kez')
HEX(AES_ENCRYPT('text', 'key', {literal}))
AES_DECRYPT('text', 'key', NULL)
HEX(AES_ENCRYPT(i, '0123456789abcdefg', 'vector')) WHERE id < 4
each: HEX(AES_ENCRYPT('text', 'key', '', {literal}))
each: HEX(AES_ENCRYPT('text', 'key', '', 'hkdf', {literal}))
each: HEX(AES_ENCRYPT('text', 'key', '', 'hkdf', 'salt', {literal}))
each: HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', {literal}))
each: HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', {literal}))
HEX(AES_ENCRYPT('text', {some}, '', 'hkdf', v, l)) WHERE id IN (2, 3, 4, 9)
HEX(AES_ENCRYPT('text', v, '', 'pbkdf2_hmac', b)) WHERE id IN (2, 3, 4, 9)
HEX(AES_ENCRYPT('text', 'key', '', 'HKDF'))
AES_ENCRYPT(NULL, 'key', '', 'none'), AES_ENCRYPT('text', NULL, '', 'none')
AES_DECRYPT('text', 'key', '', 'none')
HEX(AES_ENCRYPT('text', 'key', '', REPEAT('a', 255)))
HEX(AES_ENCRYPT('text', 'key', '', REPEAT('a', 256)))
HEX(AES_ENCRYPT('text', 'key', '', 'hkdf', REPEAT('a', 255), REPEAT('a', 255)))
HEX(AES_ENCRYPT('text', 'key', '', 'hkdf', REPEAT('a', 256)))
HEX(AES_ENCRYPT('text', 'key', '', 'hkdf', '', REPEAT('a', 256)))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', REPEAT('a', 256), NULL))
HEX(AES_ENCRYPT('text', '0123456789abcdefg', '', 'hkdf')), HEX(AES_ENCRYPT('text', '0123456789abcdefg', '', 'pbkdf2_hmac'))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', 999))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', 1000)), HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', 1001)), HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', '65535'))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', 65536))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', '001000'))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', '+1000')), HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', ' 1000')), HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', '1000x'))
HEX(AES_ENCRYPT('text', 'key', '', 'pbkdf2_hmac', 'salt', '-1000'))
AES_ENCRYPT('text')
AES_DECRYPT('text', 'key', 'v', 'hkdf', 's', 'i', 'x')
CREATE TABLE kept AS SELECT AES_ENCRYPT(v, 'k') a, AES_ENCRYPT(l, 'k') b, AES_ENCRYPT(i, 'k') c, AES_ENCRYPT(m, 'k') d, AES_ENCRYPT(NULL, 'k') e, AES_DECRYPT(v, 'k') f, AES_DECRYPT(b, 'k') g, AES_DECRYPT(REPEAT(v, 1000), 'k') h, AES_ENCRYPT(REPEAT(v, 1000), 'k') i FROM a LIMIT 0;
SHOW CREATE TABLE kept;
SET block_encryption_mode = 'aes-128-cbc';
AES_ENCRYPT('text', 'key')
AES_DECRYPT('text', 'key')
AES_ENCRYPT(NULL, 'key'), AES_ENCRYPT('text', NULL)
each: HEX(AES_ENCRYPT('text', 'key', {literal}))
HEX(AES_ENCRYPT('text', 'key', '0123456789abcdef')), HEX(AES_ENCRYPT('text', 'key', '0123456789abcdefg')), HEX(AES_ENCRYPT('text', 'key', _utf16'01234567'))
AES_DECRYPT('text', 'key', '0123456789abcde')
AES_ENCRYPT('text', 'key', 'short', 'none')
HEX(AES_ENCRYPT('text', '0123456789abcdefg', '0123456789abcdef', 'hkdf', 'salt', 'info'))
AES_DECRYPT('0123456789abcdef', 'key', '0123456789abcdef')
{modes}
SET block_encryption_mode = 'aes-128-gcm';
SET block_encryption_mode = DEFAULT;
HEX(AES_ENCRYPT('text', 'key'))
""",
    "json": r"""
JSON_QUOTE(v), JSON_QUOTE(l), JSON_QUOTE(e)
each: JSON_QUOTE({literal})
JSON_UNQUOTE(v), JSON_UNQUOTE(l), JSON_UNQUOTE(e), JSON_UNQUOTE(CONCAT('"', l, '"'))
each: JSON_UNQUOTE({literal})
JSON_SEARCH('["abc", "B", {"a": "12"}]', 'all', v), JSON_SEARCH('["abc", "B", {"a": "12"}]', 'one', l), JSON_SEARCH('["a", "b"]', 'all', e)
JSON_CONTAINS_PATH('{"a": {"b": 1}, "12": [2]}', 'one', '$.a.b', CONCAT('$."', id, '"')), JSON_CONTAINS_PATH('{"a": {"b": 1}, "12": [2]}', 'all', '$.a', CONCAT('$."', id, '"'))
each: JSON_CONTAINS_PATH('[1, 2]', {literal}, '$[1]')
v MEMBER OF ('["abc", "12", 12]'), i MEMBER OF ('[1, "10", 2.0]'), f MEMBER OF ('[1.5, 2.5]'), c MEMBER OF ('[1.5, 2.5]')
each: {literal} MEMBER OF ('[1, "abc", null, 1.5]')
JSON_STORAGE_FREE(JSON_ARRAY(i, v, c)), JSON_STORAGE_FREE(JSON_OBJECT('a', v))
each: JSON_STORAGE_FREE({literal})
JSON_SCHEMA_VALIDATION_REPORT('{"type": "number"}', CONCAT(i)), JSON_SCHEMA_VALIDATION_REPORT('{"minimum": 3}', CONCAT(i)), JSON_SCHEMA_VALIDATION_REPORT('{"type": "array"}', JSON_ARRAY(v))
JSON_SCHEMA_VALID('{"type": "number"}', CONCAT(i)), JSON_SCHEMA_VALID('{"minimum": 3}', CONCAT(i)), JSON_SCHEMA_VALID('{"type": "array"}', JSON_ARRAY(v))
JSON_ARRAYAGG(v), JSON_ARRAYAGG(l), JSON_ARRAYAGG(i), JSON_ARRAYAGG(u), JSON_ARRAYAGG(d), JSON_ARRAYAGG(t), JSON_ARRAYAGG(m), JSON_ARRAYAGG(e)
JSON_OBJECTAGG(id, v), JSON_OBJECTAGG(id, l), JSON_OBJECTAGG(id, i), JSON_OBJECTAGG(id, d), JSON_OBJECTAGG(id, t), JSON_OBJECTAGG(id, m), JSON_OBJECTAGG(id, e)
SELECT id % 3 g, JSON_ARRAYAGG(v), JSON_OBJECTAGG(id, i), JSON_ARRAYAGG(id), JSON_OBJECTAGG(id, l) FROM a GROUP BY g ORDER BY g;
SELECT id, JSON_ARRAYAGG(i), JSON_OBJECTAGG(id, v) FROM a GROUP BY id ORDER BY id;
""",
    "xml": r"""
EXTRACTVALUE({all}, '/')
EXTRACTVALUE({all}, '/a')
each: EXTRACTVALUE('<a><b>1</b></a>', {literal})
EXTRACTVALUE({literal}, '/a')
UPDATEXML({all}, '/', 'x')
UPDATEXML('<a><b>1</b></a>', '/a/b', {all})
UPDATEXML('<a><b>1</b></a>', '/a/b', {literal})
UPDATEXML({literal}, '/a', 'x')
each: UPDATEXML('<a><b>1</b></a>', {literal}, 'x')
{paths}
{documents}
{updates}
EXTRACTVALUE(CONCAT(REPEAT('<a>', 254), REPEAT('</a>', 254)), 'count(//a)'), EXTRACTVALUE(REPEAT('<a>', 255), '/a'), EXTRACTVALUE(CONCAT(REPEAT('<a>', 253), '<a x="1">', REPEAT('</a>', 254)), 'count(//a)')
EXTRACTVALUE('<a>1</a>', CONCAT('/', 'a')), EXTRACTVALUE('<a>1</a>', (SELECT '/a'))
EXTRACTVALUE('<a>1</a>', v)
EXTRACTVALUE('<a>1</a>', RAND())
EXTRACTVALUE('<a>1</a>', UUID())
EXTRACTVALUE(v, '/a[') WHERE FALSE
UPDATEXML(v, v, v)
EXTRACTVALUE('<a/>')
UPDATEXML('<a/>', '/a')
SET @n = 2, @d = 1.5, @t = 'b', @z = NULL;
EXTRACTVALUE('<a>1</a><a>2</a>', '/a[$@n]'), EXTRACTVALUE('<a>1</a><a>2</a>', '/a[$@d]'), EXTRACTVALUE('<a>1</a>', '$@n+1'), EXTRACTVALUE('<a>1</a>', '$@d'), EXTRACTVALUE('<a>1</a>', '$@z'), EXTRACTVALUE('<a>1</a>', '$@undefined'), EXTRACTVALUE('<a>b</a>', '/a=$@t'), EXTRACTVALUE('<a>1</a>', '$ @t')
EXTRACTVALUE('<a>1</a>', '$n')
EXTRACTVALUE('<a>1</a>', '$nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn')
EXTRACTVALUE('<a>1</a>', '/a/$@n')
EXTRACTVALUE('<a>1</a>', '$@')
EXTRACTVALUE('<a>1</a>', '$')
PREPARE p FROM 'SELECT EXTRACTVALUE(?, ?), UPDATEXML(?, ?, ?)';
SET @a = '<a>1</a>', @b = '/a', @c = '/a[';
EXECUTE p USING @a, @b, @a, @b, @b;
EXECUTE p USING @a, @c, @a, @b, @b;
EXECUTE p USING @a, @b, @a, @b, @a;
DROP PREPARE p;
COLLATION(EXTRACTVALUE(l, '/a')), COERCIBILITY(EXTRACTVALUE(l, '/a')), COLLATION(UPDATEXML(l, '/a', 'x')), CHARSET(EXTRACTVALUE(b, '/a')), COLLATION(EXTRACTVALUE(v, '/a')) WHERE id = 3
EXTRACTVALUE(_latin1'<a>ö</a>', _latin1'/a'), HEX(UPDATEXML(_latin1'<a>ö</a>', _latin1'/a', _latin1'ü')), EXTRACTVALUE(_binary'<a>A</a>', '/a="a"'), EXTRACTVALUE('<a>A</a>' COLLATE utf8mb4_bin, '/a="a"'), EXTRACTVALUE('<a>A</a>', '/a="a"')
CREATE TABLE kept AS SELECT EXTRACTVALUE(v, '/a') a, EXTRACTVALUE(l, '1') b, EXTRACTVALUE(b, '1') c, UPDATEXML(v, '/a', v) d, UPDATEXML(i, '/a', 'x') e, EXTRACTVALUE(NULL, NULL) f FROM a LIMIT 0;
SHOW CREATE TABLE kept;
""",
    "accounts": r"""
CURRENT_USER_IN({all})
CURRENT_ROLE_IN({all})
CURRENT_USER_IN({literal})
CURRENT_ROLE_IN({literal})
CURRENT_USER_IN(CURRENT_USER()), CURRENT_USER_IN(CONCAT('a,', CURRENT_USER())), CURRENT_USER_IN(CONCAT(' ', CURRENT_USER(), ' ,b')), CURRENT_USER_IN(UPPER(CURRENT_USER()))
CURRENT_USER_IN(CONCAT(CURRENT_USER(), ';')), CURRENT_USER_IN(CONCAT('a b,', CURRENT_USER())), CURRENT_USER_IN(CONCAT(',,', CURRENT_USER())), CURRENT_USER_IN(CONCAT('`a,', CURRENT_USER())), CURRENT_USER_IN(REPLACE(CURRENT_USER(), '@', ' @ '))
CURRENT_USER_IN(CONCAT('`', REPLACE(CURRENT_USER(), '@', '`@`'), '`')), CURRENT_USER_IN(CONCAT('"', REPLACE(CURRENT_USER(), '@', '"@'))), CURRENT_USER_IN(CONCAT("'", REPLACE(CURRENT_USER(), '@', "'@")))
CURRENT_USER_IN()
CURRENT_ROLE_IN('a', 'b')
CREATE ROLE every_role, `every,other`;
GRANT every_role, `every,other` TO CURRENT_USER();
SET ROLE every_role, `every,other`;
CURRENT_ROLE_IN('every_role'), CURRENT_ROLE_IN('every_role@%'), CURRENT_ROLE_IN('`every_role`@`%`'), CURRENT_ROLE_IN('EVERY_ROLE'), CURRENT_ROLE_IN(' every_role '), CURRENT_ROLE_IN('every_role@localhost'), CURRENT_ROLE_IN('a, every_role'), CURRENT_ROLE_IN('every,other'), CURRENT_ROLE_IN('`every,other`'), CURRENT_ROLE_IN('a,"every,other"@"%"')
SET ROLE NONE;
CURRENT_ROLE_IN('every_role'), CURRENT_ROLE_IN('NONE'), CURRENT_ROLE_IN('')
ROLES_GRAPHML() LIKE '<?xml version="1.0" encoding="UTF-8"?>_<graphml xmlns=%`every_role`@`%`</data>%<edge %'
SELECT LEFT(ROLES_GRAPHML(), 5), SUBSTRING(ROLES_GRAPHML(), 1, 0);
ROLES_GRAPHML(1)
DROP ROLE every_role, `every,other`;
VALIDATE_PASSWORD_STRENGTH({all})
VALIDATE_PASSWORD_STRENGTH({literal})
VALIDATE_PASSWORD_STRENGTH()
PS_THREAD_ID({some}) WHERE id IN (1, 4, 6)
PS_THREAD_ID({literal})
PS_THREAD_ID(CONNECTION_ID()) = PS_CURRENT_THREAD_ID(), PS_THREAD_ID(CONCAT(CONNECTION_ID())) = PS_CURRENT_THREAD_ID(), PS_THREAD_ID(-CONNECTION_ID())
PS_THREAD_ID()
ICU_VERSION(), CHARSET(ICU_VERSION()), COERCIBILITY(ICU_VERSION())
SELECT id, ICU_VERSION(), CONCAT(ICU_VERSION(), v), ICU_VERSION() + 0, LENGTH(ICU_VERSION()), LENGTH(VERSION_WITH_UPDATE()) > 4, CHARSET(VERSION_WITH_UPDATE()), COERCIBILITY(VERSION_WITH_UPDATE()), LEFT(VERSION_WITH_UPDATE(), 3) FROM a ORDER BY id;
SELECT id, LENGTH(ROLES_GRAPHML()) > 10, LEFT(ROLES_GRAPHML(), id), CHARSET(ROLES_GRAPHML()), COERCIBILITY(ROLES_GRAPHML()) FROM a ORDER BY id;
ICU_VERSION(1)
VERSION_WITH_UPDATE(1)
VERSION_WITH_UPDATE() LIKE '9.7._.0%', CHARSET(VERSION_WITH_UPDATE())
CREATE TABLE kept AS SELECT CURRENT_USER_IN('a') a, CURRENT_ROLE_IN(v) b, VALIDATE_PASSWORD_STRENGTH('a') c, PS_THREAD_ID(1) d, ICU_VERSION() e, ROLES_GRAPHML() f FROM a LIMIT 0;
SHOW CREATE TABLE kept;
{internal}
CAN_ACCESS_TABLE()
can_access_table(nowhere, a.b)
SELECT golden.CAN_ACCESS_TABLE('a');
""",
    "network": """
INET_ATON({all})
INET_ATON('192.168.0.1'), INET_ATON('1.2'), INET_ATON('256.1'), INET6_NTOA(INET6_ATON('192.168.0.1')), INET6_NTOA(INET6_ATON('::ffff:1.2.3.4')), INET6_NTOA(INET6_ATON('FDFE::5A55')), IS_IPV4('1.2.3.4'), IS_IPV6('::1'), IS_IPV4_COMPAT(INET6_ATON('::1.2.3.4')), IS_IPV4_MAPPED(INET6_ATON('::ffff:1.2.3.4'))
INET_NTOA({all})
HEX(INET6_ATON({all}))
INET6_NTOA({all})
IS_IPV4({all})
IS_IPV6({all})
IS_IPV4_COMPAT({all})
IS_IPV4_COMPAT(INET6_ATON({some}))
IS_IPV4_MAPPED({all})
IS_IPV4_MAPPED(INET6_ATON(l))
INET_ATON({literal})
INET_NTOA({literal})
INET6_ATON({literal})
INET6_NTOA({literal})
IS_IPV4({literal})
IS_IPV6({literal})
IS_IPV4_COMPAT({literal})
IS_IPV4_MAPPED({literal})
""",
    "regexp": """
v REGEXP '[0-9]+'
l RLIKE '^b'
each: {all} REGEXP '1'
v NOT REGEXP 'a|z'
'abc12' REGEXP v WHERE id NOT IN (2, 9)
REGEXP_LIKE(v, 'B', 'i')
REGEXP_LIKE(v, 'B', 'c')
each: REGEXP_LIKE({all}, '1')
each: REGEXP_INSTR({all}, '[12]')
REGEXP_INSTR(v, '.', 2, 2, 1) WHERE CHAR_LENGTH(v) > 3 OR v IS NULL
REGEXP_INSTR('a1b12', '[0-9]', i) WHERE id IN (1, 3, 9, 12)
REGEXP_INSTR('a1b12', '[0-9]', c) WHERE id IN (1, 3, 9, 12)
each: REGEXP_REPLACE({all}, '[0-9]', 'x')
REGEXP_REPLACE(v, '(.)(.)', '$2$1')
each: REGEXP_REPLACE('a1b12', '[0-9]', {some})
each: REGEXP_SUBSTR({all}, '[0-9]+')
REGEXP_SUBSTR(v, '.', 2, 2) WHERE CHAR_LENGTH(v) > 3 OR v IS NULL
each: {literal} REGEXP '1'
each: REGEXP_LIKE({literal}, '1')
each: REGEXP_LIKE('abc12', {literal})
each: REGEXP_INSTR({literal}, 'b')
each: REGEXP_REPLACE({literal}, '1', '2')
each: REGEXP_SUBSTR({literal}, '[0-9]+')
""",
    "control": """
IF({all}, 'yes', 'no')
IF(id % 2, {all}, NULL)
IF(id % 2, {all}, i)
IF(id % 2, v, {all})
IFNULL({all}, 'none')
IFNULL({all}, 1)
IFNULL(NULL, {all})
NULLIF({all}, 1)
NULLIF(v, 'ABC'), NULLIF(l, 'b'), NULLIF(b, 'abc'), NULLIF(i, '1'), NULLIF(c, '1.5'), NULLIF(f, '2.5'), NULLIF(d, '2024-02-29'), NULLIF(t, '24:00'), NULLIF(e, 'A')
NULLIF(v, {some})
COALESCE({all}, 'none')
COALESCE(NULL, {all}, 1.25)
ISNULL({all})
INTERVAL({all}, -1, 0, 10, 1000)
INTERVAL(5, 1, {some})
GREATEST({all}, 2)
GREATEST({all}, '12')
GREATEST(v, 'b'), GREATEST(l, 'b'), GREATEST(b, 'b'), GREATEST(e, 'b')
GREATEST(v, {some})
LEAST({all}, 2)
LEAST({all}, '12')
LEAST(v, 'b'), LEAST(l, 'b'), LEAST(b, 'b'), LEAST(e, 'b')
LEAST(d, {some})
CASE {all} WHEN 1 THEN 'one' WHEN '12' THEN 'text' ELSE 'other' END
CASE v WHEN 'ABC' THEN 'text' WHEN 12 THEN 'number' END
CASE WHEN {all} THEN 'true' WHEN {all} IS NULL THEN 'null' END
CASE id % 3 WHEN 0 THEN {all} WHEN 1 THEN i END
CASE id % 3 WHEN 0 THEN v WHEN 1 THEN {all} END
ANY_VALUE({all})
DEFAULT(v), DEFAULT(i), DEFAULT(e)
NAME_CONST('n', 1.50)
each: NAME_CONST('n', {literal})
NAME_CONST(v, 1)
IF({literal}, 'yes', 'no')
IFNULL({literal}, 'none')
NULLIF({literal}, 1)
NULLIF(1, {literal})
COALESCE(NULL, {literal})
ISNULL({literal})
INTERVAL({literal}, -1, 0, 10)
GREATEST({literal}, 1)
GREATEST({literal}, '2')
LEAST({literal}, 1)
LEAST({literal}, DATE'2024-01-01')
CASE {literal} WHEN 0 THEN 'zero' WHEN 'abc' THEN 'text' ELSE 'other' END
CASE WHEN {literal} THEN 'true' ELSE 'else' END
ANY_VALUE({literal})
""",
    "temporal_parts": """
YEAR({all})
MONTH({all})
DAY({all})
DAYOFMONTH({some})
QUARTER({all})
HOUR({all})
MINUTE({all})
SECOND({all})
MICROSECOND({all})
DAYOFWEEK({all})
WEEKDAY({all})
DAYOFYEAR({all})
TO_DAYS({all})
TO_SECONDS({all})
LAST_DAY({all})
DAYNAME({all})
MONTHNAME({all})
WEEK({all})
WEEK({all}, 3)
WEEK('2024-12-31', {some})
WEEKOFYEAR({all})
YEARWEEK({all})
YEARWEEK('2024-12-31', {some})
TIME_TO_SEC({all})
EXTRACT(YEAR FROM {all})
EXTRACT(QUARTER FROM {some})
EXTRACT(MONTH FROM {some})
EXTRACT(WEEK FROM {some})
EXTRACT(DAY FROM {some})
EXTRACT(HOUR FROM {some})
EXTRACT(MINUTE FROM {some})
EXTRACT(SECOND FROM {some})
EXTRACT(MICROSECOND FROM {some})
EXTRACT(YEAR_MONTH FROM {some})
EXTRACT(DAY_HOUR FROM {all})
EXTRACT(DAY_MINUTE FROM {some})
EXTRACT(DAY_SECOND FROM {some})
EXTRACT(DAY_MICROSECOND FROM {some})
EXTRACT(HOUR_MINUTE FROM {some})
EXTRACT(HOUR_SECOND FROM {some})
EXTRACT(HOUR_MICROSECOND FROM {some})
EXTRACT(MINUTE_SECOND FROM {some})
EXTRACT(MINUTE_MICROSECOND FROM {some})
EXTRACT(SECOND_MICROSECOND FROM {some})
YEAR({literal})
MONTH({literal})
DAY({literal})
DAYOFMONTH({literal})
QUARTER({literal})
HOUR({literal})
MINUTE({literal})
SECOND({literal})
MICROSECOND({literal})
DAYOFWEEK({literal})
WEEKDAY({literal})
DAYOFYEAR({literal})
TO_DAYS({literal})
TO_SECONDS({literal})
LAST_DAY({literal})
DAYNAME({literal})
MONTHNAME({literal})
WEEK({literal})
WEEK('2024-12-31', {literal})
WEEKOFYEAR({literal})
YEARWEEK({literal})
TIME_TO_SEC({literal})
EXTRACT(YEAR FROM {literal})
EXTRACT(DAY_MICROSECOND FROM {literal})
""",
    "temporal_make": """
DATE({all})
TIME({all})
TIMESTAMP({all})
TIMESTAMP(m, {some})
TIMESTAMP({some}, t)
MAKEDATE({all}, 60)
MAKEDATE(2024, {some})
MAKETIME({all}, 1, 2)
MAKETIME(1, {some}, 2)
MAKETIME(1, 2, {some})
FROM_DAYS({all})
FROM_DAYS(TO_DAYS(d))
SEC_TO_TIME({all})
each: PERIOD_ADD({literal}, 2)
PERIOD_ADD(202402, {some})
each: PERIOD_DIFF(202402, {literal})
PERIOD_DIFF(202402, 9912)
STR_TO_DATE({all}, '%Y-%m-%d')
STR_TO_DATE({all}, '%Y-%m-%d %H:%i:%s.%f')
STR_TO_DATE({all}, '%H:%i:%s')
STR_TO_DATE('12', {all})
STR_TO_DATE('Thu 29 Feb 24 01:02:03 PM', '%a %d %b %y %h:%i:%s %p')
DATE_FORMAT({all}, '%Y %y %m %c %M %b %d %e %D %j %W %a %w %U %u %V %v %X %x')
DATE_FORMAT({all}, '%H %k %h %I %l %i %S %s %f %p %r %T %% %q')
DATE_FORMAT(m, {some})
TIME_FORMAT({all}, '%H %k %h %i %s %f %p %r %T')
TIME_FORMAT({all}, '%Y-%m-%d')
TIME_FORMAT(t, {some})
TIME_FORMAT(65, '%T'), TIME_FORMAT(65.5, '%T'), TIME_FORMAT(65e0, '%T'), TIME_FORMAT(-65, '%T'), TIME_FORMAT(9999999.5, '%T'), TIME_FORMAT(8385960, '%T'), TIME_FORMAT(98989898, '%T'), TIME_FORMAT(-98989898, '%T'), TIME_FORMAT(-98989898.5, '%T'), TIME_FORMAT(-3e9, '%T'), TIME_FORMAT(1000000000, '%T'), TIME_FORMAT(20010203.5, '%T')
TIMEDIFF(65, '1:00'), TIMEDIFF(65.5, '1:00'), TIMEDIFF(-65.5, '1:00'), TIMEDIFF(98989898, '1:00'), TIMEDIFF(-98989898.5, '1:00'), ADDTIME(65, '1:00'), ADDTIME(98989898.5, '1:00'), SUBTIME(-98989898, '1:00')
GET_FORMAT(DATE, v)
GET_FORMAT(DATE, 'USA')
GET_FORMAT(DATETIME, 'ISO')
GET_FORMAT(TIME, 'eur')
GET_FORMAT(TIMESTAMP, 'internal')
UNIX_TIMESTAMP({all})
UNIX_TIMESTAMP()
FROM_UNIXTIME({all})
FROM_UNIXTIME({all}, '%Y-%m-%d %H.%i')
CONVERT_TZ({all}, '+00:00', '-05:30')
CONVERT_TZ('2024-02-29 12:00:00', v, '+01:00')
CONVERT_TZ('2024-02-29 12:00:00', '+01:00', {some})
DATE({literal})
TIME({literal})
TIMESTAMP({literal})
TIMESTAMP('2024-02-29', {literal})
MAKEDATE({literal}, 60)
MAKEDATE(2024, {literal})
MAKETIME({literal}, 1, 2)
MAKETIME(1, 2, {literal})
FROM_DAYS({literal})
SEC_TO_TIME({literal})
STR_TO_DATE({literal}, '%Y-%m-%d')
DATE_FORMAT({literal}, '%Y-%m-%d %T.%f')
TIME_FORMAT({literal}, '%H:%i:%s.%f')
GET_FORMAT(DATE, {literal})
UNIX_TIMESTAMP({literal})
FROM_UNIXTIME({literal})
CONVERT_TZ({literal}, '+00:00', '+01:00')
""",
    "temporal_arithmetic": """
DATE_ADD({all}, INTERVAL 1 DAY)
DATE_ADD({all}, INTERVAL 1 MONTH)
DATE_ADD(m, INTERVAL {some} DAY)
DATE_ADD(d, INTERVAL {some} MONTH)
DATE_SUB({all}, INTERVAL 90 MINUTE)
DATE_SUB(t, INTERVAL {some} SECOND)
ADDDATE({all}, 31)
ADDDATE(d, {some})
SUBDATE({all}, INTERVAL 1 YEAR)
SUBDATE(m, {some})
TIMESTAMPADD(WEEK, 1, {all})
TIMESTAMPADD(SECOND, {some}, m)
{all} + INTERVAL 1 HOUR
INTERVAL 1 QUARTER + {some}
{some} - INTERVAL 1.5 SECOND
m + INTERVAL 5 MICROSECOND
m + INTERVAL '1:2' MINUTE_SECOND
m + INTERVAL '1.5' SECOND_MICROSECOND
m + INTERVAL '1:2.5' MINUTE_MICROSECOND
m + INTERVAL '1:2:3.5' HOUR_MICROSECOND
m + INTERVAL '1:2:3' HOUR_SECOND
m + INTERVAL '1:2' HOUR_MINUTE
m + INTERVAL '1 2:3:4.5' DAY_MICROSECOND
m + INTERVAL '1 2:3:4' DAY_SECOND
m + INTERVAL '1 2:3' DAY_MINUTE
m + INTERVAL '1 2' DAY_HOUR
m + INTERVAL '1-2' YEAR_MONTH
m + INTERVAL {some} YEAR_MONTH
t + INTERVAL {some} HOUR_SECOND
DATEDIFF({all}, '2024-02-29')
DATEDIFF(d, {some})
TIMEDIFF({all}, '01:00:00')
TIMEDIFF(m, {some})
TIMEDIFF(t, {some})
TIMESTAMPDIFF(MICROSECOND, m, '2024-02-29 12:00:00')
TIMESTAMPDIFF(SECOND, {some}, '2024-02-29 12:00:00')
TIMESTAMPDIFF(MINUTE, m, '2024-02-29 12:00:00')
TIMESTAMPDIFF(HOUR, m, '2024-02-29 12:00:00')
TIMESTAMPDIFF(DAY, {all}, '2024-02-29')
TIMESTAMPDIFF(WEEK, d, '2024-02-29')
TIMESTAMPDIFF(MONTH, {all}, '2024-02-29')
TIMESTAMPDIFF(QUARTER, d, '2024-02-29')
TIMESTAMPDIFF(YEAR, d, {some})
ADDTIME({all}, '01:02:03.5')
ADDTIME(m, {some})
ADDTIME(t, {some})
SUBTIME({all}, '01:02:03.5')
SUBTIME('10:00:00', {some})
DATE_ADD({literal}, INTERVAL 1 DAY)
DATE_ADD('2024-02-29', INTERVAL {literal} DAY)
DATE_ADD(DATE'2024-02-29', INTERVAL {literal} MONTH)
DATE_SUB('2024-02-29 12:00:00', INTERVAL {literal} SECOND)
DATE_SUB('2024-02-29 12:00:00', INTERVAL {literal} DAY_SECOND)
ADDDATE({literal}, 1)
SUBDATE({literal}, 1)
TIMESTAMPADD(MINUTE, {literal}, '2024-02-29')
DATEDIFF({literal}, '2024-02-28')
TIMEDIFF({literal}, '01:00:00')
TIMESTAMPDIFF(DAY, {literal}, '2024-03-01')
ADDTIME({literal}, '1:00')
SUBTIME('2024-02-29 12:00:00', {literal})
""",
    "temporal_clock": """
SET timestamp = 1709210096.789012, time_zone = '+02:30';
NOW(), NOW(3), CURRENT_TIMESTAMP, CURRENT_TIMESTAMP(6), LOCALTIME, LOCALTIME(2), LOCALTIMESTAMP, LOCALTIMESTAMP(1)
CURDATE(), CURRENT_DATE, CURRENT_DATE(), CURTIME(), CURTIME(4), CURRENT_TIME, CURRENT_TIME(5)
UTC_DATE(), UTC_DATE, UTC_TIME(), UTC_TIME(3), UTC_TIMESTAMP(), UTC_TIMESTAMP(6)
NOW() + 0, NOW(6) + 0, CURDATE() + 0, CURTIME(2) + 0, UTC_DATE() + 0, UTC_TIME() + 0, UTC_TIMESTAMP(3) + 0
UNIX_TIMESTAMP(), FROM_UNIXTIME(0), SYSDATE() > '2024-01-01', LENGTH(SYSDATE(3))
NOW(7)
CURTIME(-1)
SYSDATE(NULL)
SELECT id, LENGTH(SYSDATE(2)), SYSDATE() > m, LENGTH(CONCAT(SYSDATE(6), v)), SYSDATE() + 0 > 20240101000000, DATE(SYSDATE()) > d FROM a ORDER BY id;
SELECT id, CURDATE(), CURRENT_DATE(), CURDATE() + 0, CONCAT(CURRENT_DATE), DATEDIFF(CURDATE(), d), UTC_DATE(), UTC_DATE() = d FROM a ORDER BY id;
SELECT id, CURTIME(), CURRENT_TIME(2), CURTIME(6) + 0, CONCAT(CURTIME(3), v), TIMEDIFF(CURRENT_TIME(), t), UTC_TIME(1), CONCAT(UTC_TIME()) FROM a ORDER BY id;
SELECT id, CURRENT_TIMESTAMP(), LOCALTIME(3), LOCALTIMESTAMP(), LOCALTIME(), LOCALTIMESTAMP(6) + 0, CONCAT(CURRENT_TIMESTAMP(1)), UTC_TIMESTAMP(2), UTC_TIMESTAMP() > m FROM a ORDER BY id;
CREATE TABLE kept AS SELECT CURDATE() a, CURTIME(3) b, CURRENT_TIMESTAMP(6) c, LOCALTIME(2) d, LOCALTIMESTAMP() e, UTC_DATE() f, UTC_TIME(4) g, UTC_TIMESTAMP() h, SYSDATE(2) i FROM a LIMIT 0;
SHOW CREATE TABLE kept;
UTC_TIME(7)
UTC_TIMESTAMP(9)
LOCALTIME(7)
CURRENT_TIME('a')
SET timestamp = DEFAULT, time_zone = '+00:00';
""",
    "session": """
-- novalues
SELECT CONNECTION_ID(), UUID(), UUID_SHORT(), PS_CURRENT_THREAD_ID();
-- novalues
SELECT VERSION();
SELECT id, CONNECTION_ID() = CONNECTION_ID() + 0, LENGTH(UUID()), CHARSET(UUID()), UUID_SHORT() > id, PS_CURRENT_THREAD_ID() = PS_CURRENT_THREAD_ID(), UUID() = UUID(), UUID_SHORT() = UUID_SHORT(), PS_CURRENT_THREAD_ID() IS NULL FROM a ORDER BY id;
CONNECTION_ID() > 0, LENGTH(VERSION()) > 0, LENGTH(UUID()), UUID_SHORT() > 0, PS_CURRENT_THREAD_ID() > 0
CURRENT_USER(), CURRENT_USER, SESSION_USER() = USER(), SYSTEM_USER() = USER(), CURRENT_ROLE(), LEFT(USER(), 5)
DATABASE() = SCHEMA(), ISNULL(DATABASE())
CHARSET(USER()), COLLATION(DATABASE()), COERCIBILITY(VERSION()), CHARSET(UUID())
SELECT id FROM a WHERE id < 4 ORDER BY id;
FOUND_ROWS()
UPDATE a SET y = y WHERE id = 1;
ROW_COUNT()
SELECT id, ROW_COUNT(), ROW_COUNT() + i, CONCAT(ROW_COUNT()) FROM a WHERE id < 9 AND id <> 5 ORDER BY id;
SELECT id FROM a WHERE id < 4 ORDER BY id;
SELECT id, FOUND_ROWS(), FOUND_ROWS() + 1, CONCAT(FOUND_ROWS()) FROM a WHERE id < 9 ORDER BY id;
SELECT id, DATABASE() = SCHEMA(), CONCAT(DATABASE(), id), CONCAT(SCHEMA(), id), LENGTH(SCHEMA()), CHARSET(DATABASE()), COLLATION(SCHEMA()) FROM a ORDER BY id;
SELECT id, USER() = SESSION_USER(), SYSTEM_USER() = CURRENT_USER(), LENGTH(CURRENT_USER()) > 3, CONCAT(CURRENT_ROLE(), id), CHARSET(CURRENT_ROLE()), COERCIBILITY(SESSION_USER()), COERCIBILITY(SYSTEM_USER()), COERCIBILITY(CURRENT_ROLE()) FROM a ORDER BY id;
CREATE TABLE kept AS SELECT DATABASE() a, SCHEMA() b, USER() c, SESSION_USER() d, SYSTEM_USER() e, CURRENT_USER() f, CURRENT_ROLE() g, CONNECTION_ID() h, ROW_COUNT() i, FOUND_ROWS() j, UUID() k, UUID_SHORT() l, PS_CURRENT_THREAD_ID() m, LAST_INSERT_ID() n, LOAD_FILE('a') o FROM a LIMIT 0;
SHOW CREATE TABLE kept;
DATABASE(1)
SCHEMA(NULL)
USER(1)
CURRENT_ROLE('a')
ROW_COUNT(1)
SELECT id, ROW_COUNT() IS NULL, ROW_COUNT() FROM a WHERE id < 9 ORDER BY id;
FOUND_ROWS(1)
CREATE TABLE n (id INT AUTO_INCREMENT PRIMARY KEY);
INSERT INTO n VALUES (NULL), (NULL);
LAST_INSERT_ID()
LAST_INSERT_ID({some}) WHERE id IN (3, 7, 9, 12)
LAST_INSERT_ID({literal})
LAST_INSERT_ID()
each: GET_LOCK({literal}, 0)
GET_LOCK('every', 0), IS_USED_LOCK('every') = CONNECTION_ID(), IS_FREE_LOCK('every'), RELEASE_LOCK('every')
each: IS_FREE_LOCK({literal})
each: IS_USED_LOCK({literal}) IS NULL
each: RELEASE_LOCK({literal})
RELEASE_ALL_LOCKS()
SELECT id, RELEASE_ALL_LOCKS(), RELEASE_ALL_LOCKS() + u, CONCAT(RELEASE_ALL_LOCKS(), v) FROM a WHERE id < 9 AND id <> 5 ORDER BY id;
RELEASE_ALL_LOCKS(1)
each: SLEEP({literal}) WHERE FALSE
SLEEP(0), SLEEP(0.001)
SLEEP(NULL)
SLEEP(-1)
BENCHMARK(3, v) WHERE id < 4
BENCHMARK(2, {literal})
each: BENCHMARK({literal}, 1) WHERE FALSE
BENCHMARK(-1, 1), BENCHMARK(NULL, 1), BENCHMARK('2x', 1), BENCHMARK(0, 1)
LOAD_FILE({literal})
LOAD_FILE(CONCAT('/nowhere/', {some}))
each: IS_FREE_LOCK(CONCAT('every', {some})) WHERE id = 3
each: IS_USED_LOCK(CONCAT('every', {some})) IS NULL WHERE id = 3
each: RELEASE_LOCK(CONCAT('every', {some})) WHERE id = 3
RAND() BETWEEN 0 AND 1, RAND(NULL), RAND('3x'), RAND(3) = RAND(3)
""",
    "operator_arithmetic": """
{all} + 1 WHERE id NOT IN (5, 6)
i + {some} WHERE id NOT IN (5, 6)
u + {some} WHERE id NOT IN (4, 5, 6, 10)
{all} - 1 WHERE id NOT IN (2, 5, 6)
c - {some}
{all} * 2 WHERE id NOT IN (5, 6)
f * {some} WHERE id NOT IN (5, 6)
{all} / 3
7 / {some}
{all} DIV 2 WHERE id NOT IN (5, 6)
100 DIV {some}
{all} % 3
100 % {some}
{all} MOD 7
-{all} WHERE id NOT IN (5, 6, 11)
+{all}
each: {literal} + 1
each: {literal} - 1
each: {literal} * 2
{literal} / 2
1 / {literal}
each: {literal} DIV 2
{literal} % 2
{literal} MOD 1.5
-({literal})
+({literal})
each: 9223372036854775807 + {literal}
each: CAST(1 AS UNSIGNED) - {literal}
""",
    "operator_comparison": """
{all} = 1
v = 'ABC', l = 'b', b = 'abc', b = 'ABC', i = '1', u = '7', c = '1.5', f = '2.5', d = '2024-02-29', t = '24:00', m = '20240229123456.789012', y = '24', e = 'A'
{all} = '2024-02-29'
v = {some}
d = {some}
{all} <=> NULL
{all} <=> v
{all} <> 1
v != 'B', l != 'B', b != 'B', e != 'B', i != 'B'
{all} < 2
v < {some}
v <= '12', l <= '12', b <= '12', i <= '12', u <= '12', c <= '12', f <= '12', t <= '12', y <= '12', e <= '12'
{all} > 0
m > {some}
{all} >= 2.5
t >= {some}
{all} IS NULL
{all} IS NOT NULL
{all} IS TRUE
{all} IS NOT TRUE
{all} IS FALSE
{all} IS NOT FALSE
{all} IS UNKNOWN
{all} IS NOT UNKNOWN
{all} BETWEEN 1 AND 10
v NOT BETWEEN 'a' AND 'z', l NOT BETWEEN 'a' AND 'z', b NOT BETWEEN 'a' AND 'z', e NOT BETWEEN 'a' AND 'z'
v BETWEEN l AND b
d BETWEEN m AND '2024-12-31'
{all} IN (1, '12', NULL)
v IN (1, 'abc', NULL)
{all} NOT IN (0, '12', 2.5)
v IN ({some})
{all} LIKE '1%'
{all} NOT LIKE '%b%'
v LIKE {some}
v LIKE 'a|_b%' ESCAPE '|'
v LIKE _utf8mb4'ä%' COLLATE utf8mb4_bin
v SOUNDS LIKE 'abk'
{all} SOUNDS LIKE 'B'
(i, v) = (1, 'abc')
(i, c) < (2, 0)
(id, v) IN ((3, 'abc'), (4, NULL))
ROW(i, u) <=> ROW(1, 1)
i = ANY (SELECT x.u FROM a x)
v <> ALL (SELECT x.l FROM a x WHERE x.l IS NOT NULL)
v >= SOME (SELECT x.v FROM a x WHERE x.id > 9)
i IN (SELECT x.u FROM a x)
i NOT IN (SELECT x.u FROM a x WHERE x.id > 5)
EXISTS (SELECT 1 FROM a x WHERE x.id = a.id + 1 AND x.i > 0)
(SELECT x.v FROM a x WHERE x.id = a.id)
v COLLATE utf8mb4_bin = 'ABC'
BINARY v = 'ABC'
{literal} = 1
each: {literal} = 'abc'
{literal} <=> NULL
{literal} <> 0
each: {literal} < '2'
{literal} <= 1.5
{literal} > -1
each: {literal} >= DATE'2024-01-01'
{literal} IS TRUE
{literal} IS NOT FALSE
{literal} IS UNKNOWN
{literal} BETWEEN 0 AND 10
{literal} IN (0, 'abc', 1.5)
{literal} LIKE '%1%'
{literal} SOUNDS LIKE 'abc'
""",
    "operator_logic": """
NOT {all}
!{all}
{all} AND TRUE
{all} && 1
{all} OR FALSE
{all} || NULL
{all} XOR TRUE
i XOR {some}
i AND {some}
v OR {some}
NOT ({literal})
{literal} AND 1
{literal} OR 0
{literal} XOR 1
TRUE, FALSE, NOT TRUE, NOT NULL, TRUE XOR NULL
SET sql_mode = 'PIPES_AS_CONCAT';
{all} || '|'
SET sql_mode = 'HIGH_NOT_PRECEDENCE';
NOT i BETWEEN 0 AND 2
SET sql_mode = DEFAULT;
@n := i WHERE id < 5
@n, @undefined, @n IS NULL
@@sql_mode = @@session.sql_mode, @@global.port > 0
""",
    "operator_bits": """
{all} & 5
i & {some}
{all} | 8
i | {some}
{all} ^ 3
u ^ {some}
{all} << 2
1 << {some}
{all} >> 1
u >> {some}
~{all}
HEX(b & b)
HEX(b | X'FF') WHERE LENGTH(b) = 1
HEX(b ^ b), HEX(b << 4), HEX(b >> 4)
HEX(~b)
{literal} & 6
{literal} | 1
{literal} ^ 1
{literal} << 1
{literal} >> 1
1 << {literal}
~({literal})
HEX(X'F0F0' & X'0FF0'), HEX(X'F0F0' | _binary X'0FF0'), HEX(_binary X'F0F0' ^ X'0FF0'), HEX(~_binary X'F0'), HEX(_binary X'F0F0' << 4)
_binary X'F0F0' & X'FF'
""",
    "cast": """
CAST({all} AS SIGNED)
CAST({all} AS UNSIGNED)
CAST({all} AS CHAR)
CAST({all} AS CHAR(3))
CAST({all} AS CHAR CHARACTER SET latin1)
CAST({all} AS NCHAR)
HEX(CAST({all} AS BINARY))
HEX(CAST({all} AS BINARY(4)))
CAST({all} AS DATE)
CAST({all} AS TIME)
CAST({all} AS TIME(2))
CAST({all} AS DATETIME)
CAST({all} AS DATETIME(3))
CAST({all} AS DECIMAL)
CAST({all} AS DECIMAL(10, 2))
CAST({all} AS FLOAT) WHERE id NOT IN (5, 6)
CAST({all} AS DOUBLE)
CAST({all} AS REAL)
CAST({all} AS YEAR)
CONVERT({all}, SIGNED)
CONVERT({some}, CHAR(5))
HEX(CONVERT({all} USING utf8mb4))
HEX(CONVERT(v USING utf16))
CONVERT(l USING utf8mb4)
BINARY {all}
CAST({literal} AS SIGNED)
CAST({literal} AS UNSIGNED)
CAST({literal} AS CHAR)
CAST({literal} AS CHAR(2))
HEX(CAST({literal} AS BINARY(3)))
CAST({literal} AS DATE)
CAST({literal} AS TIME)
CAST({literal} AS TIME(3))
CAST({literal} AS DATETIME)
CAST({literal} AS DATETIME(6))
CAST({literal} AS DECIMAL(10, 2))
CREATE TABLE z (id INT, s TIMESTAMP(3) NULL, m DATETIME, d DATE, v VARCHAR(30));
SET time_zone = '+02:00';
INSERT INTO z VALUES (1, NULL, NULL, NULL, NULL), (2, '2024-02-29 12:00:00.789', '2024-02-29', '2024-02-29', '2024-02-29'), (3, '1970-01-01 02:00:01', NULL, NULL, ''), (4, '2038-01-19 05:14:07.999', NULL, NULL, 'x'), (5, '2024-03-31 02:30:00', NULL, NULL, '2024-01-01 10:00:00');
SELECT id, CAST(s AT TIME ZONE '+00:00' AS DATETIME), CAST(s AT TIME ZONE INTERVAL '+00:00' AS DATETIME(2)), CAST(s AT TIME ZONE "+00:00" AS DATETIME(6)) FROM z;
SELECT id, CAST(IFNULL(s, s) AT TIME ZONE '+00:00' AS DATETIME(3)), CAST(CASE WHEN id > 1 THEN s END AT TIME ZONE '+00:00' AS DATETIME), CAST(CASE id WHEN 2 THEN s END AT TIME ZONE '+00:00' AS DATETIME) FROM z;
SELECT CAST(MAX(s) AT TIME ZONE '+00:00' AS DATETIME), CAST((SELECT MIN(s) FROM z) AT TIME ZONE '+00:00' AS DATETIME) FROM z;
CAST(NULL AT TIME ZONE '+00:00' AS DATETIME), CAST(TIMESTAMP'2024-02-29 12:00:00.6' AT TIME ZONE '+00:00' AS DATETIME(1)), CAST(TIMESTAMP'2024-02-29 12:00:00+05:00' AT TIME ZONE '+00:00' AS DATETIME)
CAST(TIMESTAMP'1960-02-29 12:00:00' AT TIME ZONE '+00:00' AS DATETIME), CAST(TIMESTAMP'1970-01-01 02:00:00' AT TIME ZONE '+00:00' AS DATETIME), CAST(TIMESTAMP'2039-01-01 02:00:00' AT TIME ZONE '+00:00' AS DATETIME), CAST(TIMESTAMP'3001-01-19 02:00:01' AT TIME ZONE '+00:00' AS DATETIME)
SELECT CAST(m AT TIME ZONE '+00:00' AS DATETIME) FROM z;
SELECT CAST(d AT TIME ZONE '+00:00' AS DATETIME) FROM z;
SELECT CAST(v AT TIME ZONE '+00:00' AS DATETIME) FROM z;
SELECT CAST(id AT TIME ZONE '+00:00' AS DATETIME) FROM z;
SELECT CAST(COALESCE(s, m) AT TIME ZONE '+00:00' AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE '+01:00' AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE '-00:00' AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE 'UTC' AS DATETIME) FROM z;
SELECT CAST(m AT TIME ZONE 'UTC' AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE '' AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE 'UTC' AS DATETIME(7)) FROM z;
SELECT CAST(s AT TIME ZONE '+00:00' AS DATE) FROM z;
SELECT CAST(s AT TIME ZONE '+00:00' AS CHAR) FROM z;
SELECT CAST(s AT TIME ZONE v AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE _latin1'+00:00' AS DATETIME) FROM z;
SELECT CAST(s AT TIME ZONE '+00:00' AS DATETIME ARRAY) FROM z;
SELECT CAST(s AT LOCAL AS DATETIME) FROM z;
SELECT CONVERT(s AT TIME ZONE '+00:00', DATETIME) FROM z;
CAST(NOW() AT TIME ZONE '+00:00' AS DATETIME)
CAST('2024-02-29 12:00:00' AT TIME ZONE '+00:00' AS DATETIME)
CAST(DATE'2024-02-29' AT TIME ZONE '+00:00' AS DATETIME)
CREATE VIEW seen AS SELECT CAST(s AT TIME ZONE '+00:00' AS DATETIME(3)) a, CAST(s AT TIME ZONE INTERVAL '+00:00' AS DATETIME) b FROM z;
SHOW CREATE VIEW seen;
SELECT * FROM seen;
CREATE TABLE kept AS SELECT * FROM seen;
SHOW CREATE TABLE kept;
DROP VIEW seen;
SET time_zone = '+00:00';
each: CAST({literal} AS FLOAT)
CAST({literal} AS DOUBLE)
CAST({literal} AS YEAR)
CONVERT({literal}, UNSIGNED)
CONVERT({literal} USING latin1)
""",
    "aggregate": """
-- Over all rows, over none, by group; of columns of all types.
COUNT(*)
COUNT({all})
COUNT(DISTINCT {all})
each: SUM({all}) WHERE id NOT IN (5, 6)
each: SUM(DISTINCT {some}) WHERE id NOT IN (5, 6)
each: AVG({all}) WHERE id NOT IN (5, 6)
AVG(DISTINCT i) WHERE id NOT IN (5, 6)
MIN({all})
MAX({all})
GROUP_CONCAT({all} ORDER BY id SEPARATOR '|')
GROUP_CONCAT(DISTINCT y ORDER BY y DESC)
each: BIT_AND({all})
each: BIT_OR({all})
each: BIT_XOR({all})
SELECT HEX(BIT_AND(b)), HEX(BIT_OR(b)), HEX(BIT_XOR(b)) FROM a WHERE id IN (3, 4, 7);
CREATE TABLE bytes (id INT PRIMARY KEY, b VARBINARY(20), c BINARY(3), x BLOB, g INT);
INSERT INTO bytes VALUES (1, 'abc', 'abc', 'abc', 1), (2, 'ABC', 'xyz', 'xyz', 2), (3, 'a1c', NULL, 'qqq', 1), (4, NULL, NULL, NULL, 3);
SELECT HEX(BIT_AND(b)), HEX(BIT_OR(b)), HEX(BIT_XOR(b)), HEX(BIT_AND(c)), HEX(BIT_OR(c)), HEX(BIT_XOR(c)) FROM bytes;
SELECT BIT_AND(b), BIT_OR(c), BIT_XOR(b) FROM bytes;
SELECT HEX(BIT_AND(b)), HEX(BIT_OR(b)), HEX(BIT_XOR(b)), HEX(BIT_AND(c)), HEX(BIT_OR(c)), HEX(BIT_XOR(c)) FROM bytes WHERE id > 3;
SELECT g, HEX(BIT_AND(b)), HEX(BIT_OR(c)), HEX(BIT_XOR(b)) FROM bytes GROUP BY g ORDER BY g;
SELECT id, HEX(BIT_AND(b) OVER w), HEX(BIT_OR(b) OVER w), HEX(BIT_XOR(b) OVER w) FROM bytes WINDOW w AS (ORDER BY id) ORDER BY id;
SELECT id, HEX(BIT_AND(b) OVER w), HEX(BIT_OR(b) OVER w), HEX(BIT_XOR(b) OVER w) FROM bytes WINDOW w AS (ORDER BY id ROWS 1 PRECEDING) ORDER BY id;
SELECT id, HEX(BIT_AND(b) OVER w), HEX(BIT_OR(b) OVER w), HEX(BIT_XOR(b) OVER w) FROM bytes WINDOW w AS (ORDER BY id ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING) ORDER BY id;
SELECT BIT_AND(x) FROM bytes;
SELECT BIT_OR(x) FROM bytes WHERE FALSE;
SELECT LENGTH(BIT_XOR(REPEAT(_binary'a', 511))), HEX(BIT_AND(_binary X'FF')), HEX(BIT_OR(_binary'abc')), BIT_XOR(X'FF');
SELECT BIT_AND(REPEAT(_binary'a', 512));
CREATE TABLE kept AS SELECT BIT_AND(b) a, BIT_OR(c) o, BIT_XOR(b) x, BIT_AND(g) i FROM bytes WHERE FALSE;
SHOW CREATE TABLE kept;
INSERT INTO bytes VALUES (5, 'ab', NULL, NULL, 1);
SELECT BIT_AND(b) FROM bytes;
SELECT BIT_OR(b) FROM bytes WHERE id IN (1, 5);
SELECT g, BIT_XOR(b) FROM bytes WHERE g > 1 GROUP BY g ORDER BY g;
SELECT id, BIT_XOR(b) OVER (ORDER BY id) FROM bytes;
SELECT HEX(BIT_AND(c) | _binary'aaa'), HEX(BIT_AND(c) & X'0F0F0F'), HEX(~BIT_OR(c)) FROM bytes;
SELECT BIT_AND(b) & _binary'ab' FROM bytes WHERE id < 4;
STD({some}) WHERE id NOT IN (5, 6)
STDDEV(i), STDDEV_POP(i), STDDEV_SAMP(i) WHERE id NOT IN (5, 6)
each: STDDEV({some}) WHERE id NOT IN (5, 6)
each: STDDEV_POP({some}) WHERE id NOT IN (5, 6)
each: VARIANCE({some}) WHERE id NOT IN (5, 6)
STDDEV({literal})
STDDEV_POP({literal})
-- sorted
SELECT GROUPING(y), GROUPING(e), GROUPING(y, e), COUNT(*) FROM a GROUP BY y, e WITH ROLLUP;
VARIANCE(c), VAR_POP(c), VAR_SAMP(c) WHERE id NOT IN (5, 6)
COUNT(i), SUM(i), AVG(i), MIN(i), MAX(i), GROUP_CONCAT(i), BIT_AND(i), BIT_OR(i), BIT_XOR(i), STD(i), VAR_SAMP(i) WHERE id < 0
SELECT id % 3 g, COUNT(*), COUNT(v), COUNT(DISTINCT y, e), SUM(c), MIN(v), MAX(d), GROUP_CONCAT(t ORDER BY id) FROM a WHERE id NOT IN (5, 6) GROUP BY g ORDER BY g;
SELECT id % 2 g, GROUPING(id % 2), COUNT(*), ANY_VALUE(1) FROM a GROUP BY id % 2 WITH ROLLUP;
COUNT({literal})
each: SUM({literal})
each: AVG({literal})
MIN({literal})
MAX({literal})
GROUP_CONCAT({literal})
BIT_AND({literal})
BIT_OR({literal})
BIT_XOR({literal})
STDDEV_SAMP({literal})
VARIANCE({literal})
""",
}


# What is called with nothing: names that only the server itself may call.
INTERNAL = """CAN_ACCESS_COLUMN CAN_ACCESS_DATABASE CAN_ACCESS_EVENT CAN_ACCESS_RESOURCE_GROUP CAN_ACCESS_ROUTINE CAN_ACCESS_TABLE
CAN_ACCESS_TRIGGER CAN_ACCESS_USER CAN_ACCESS_VIEW CONVERT_CPU_ID_MASK CONVERT_INTERVAL_TO_USER_INTERVAL
GET_DD_COLUMN_PRIVILEGES GET_DD_CREATE_OPTIONS GET_DD_INDEX_PRIVATE_DATA GET_DD_INDEX_SUB_PART_LENGTH GET_DD_PROPERTY_KEY_VALUE
GET_DD_SCHEMA_OPTIONS GET_DD_TABLESPACE_PRIVATE_DATA GET_JDV_PROPERTY_KEY_VALUE INTERNAL_AUTO_INCREMENT INTERNAL_AVG_ROW_LENGTH
INTERNAL_CHECKSUM INTERNAL_CHECK_TIME INTERNAL_DATA_FREE INTERNAL_DATA_LENGTH INTERNAL_DD_CHAR_LENGTH
INTERNAL_GET_COMMENT_OR_ERROR INTERNAL_GET_DD_COLUMN_EXTRA INTERNAL_GET_ENABLED_ROLE_JSON INTERNAL_GET_HOSTNAME
INTERNAL_GET_MANDATORY_ROLES_JSON INTERNAL_GET_PARTITION_NODEGROUP INTERNAL_GET_USERNAME INTERNAL_GET_VIEW_WARNING_OR_ERROR
INTERNAL_INDEX_COLUMN_CARDINALITY INTERNAL_INDEX_LENGTH INTERNAL_IS_ENABLED_ROLE INTERNAL_IS_MANDATORY_ROLE
INTERNAL_KEYS_DISABLED INTERNAL_MAX_DATA_LENGTH INTERNAL_TABLESPACE_AUTOEXTEND_SIZE INTERNAL_TABLESPACE_DATA_FREE
INTERNAL_TABLESPACE_EXTENT_SIZE INTERNAL_TABLESPACE_EXTRA INTERNAL_TABLESPACE_FREE_EXTENTS INTERNAL_TABLESPACE_ID
INTERNAL_TABLESPACE_INITIAL_SIZE INTERNAL_TABLESPACE_LOGFILE_GROUP_NAME INTERNAL_TABLESPACE_LOGFILE_GROUP_NUMBER
INTERNAL_TABLESPACE_MAXIMUM_SIZE INTERNAL_TABLESPACE_ROW_FORMAT INTERNAL_TABLESPACE_STATUS INTERNAL_TABLESPACE_TOTAL_EXTENTS
INTERNAL_TABLESPACE_TYPE INTERNAL_TABLESPACE_VERSION INTERNAL_TABLE_ROWS INTERNAL_UPDATE_TIME INTERNAL_USE_TERMINOLOGY_PREVIOUS
IS_VISIBLE_DD_OBJECT REMOVE_DD_PROPERTY_KEY"""
# How blocks are chained, and what is encrypted under each.
CHAINED = "ecb cbc cfb1 cfb8 cfb128 ofb".split()
UNDER_MODE = """SET block_encryption_mode = 'aes-{bits}-{chained}';
HEX(AES_ENCRYPT({some}, 'key', '0123456789abcdef'))
HEX(AES_ENCRYPT('', v, '0123456789abcdef')), HEX(AES_ENCRYPT('a', '', '0123456789abcdef')), HEX(AES_ENCRYPT(REPEAT('abc', 11), 'key', '0123456789abcdef'))
CAST(AES_DECRYPT(AES_ENCRYPT({some}, v, '0123456789abcdef'), v, '0123456789abcdef') AS CHAR)
HEX(AES_DECRYPT(REPEAT('b', 16), 'key', '0123456789abcdef')), HEX(AES_DECRYPT('', 'key', '0123456789abcdef'))
HEX(AES_ENCRYPT('a', REPEAT('k', 40), '0123456789abcdef'))
HEX(AES_ENCRYPT('a', 'k', '0123456789abcdef', 'hkdf', 'salt', 'info')), HEX(AES_ENCRYPT('a', 'k', '0123456789abcdef', 'pbkdf2_hmac'))"""

# Each over this document; what is compared, added and so on is in the paths themselves.
DOCUMENT = """r<a>A<b>1<c>9</c></b><c>2</c><b k="v">3</b></a>s"""
PATHS = r'''/
/a
/a/b
/a/c
//b
//*
/*
//text()
a
a/b
b
a//c
 / a [ 1 ]
/A/B
.
..
./a
/.
/./a
/../a
/a/.
/a/..
/a/../..
/a/b/../c
/a/b/../c[1]
//.
//..
//./c
.//c
//a/..//c
/a/child::b
/a/child::*
/descendant::b
/descendant::*[2]
/a/descendant::*[3]
/descendant-or-self::*
/descendant-or-self::*[1]
/a/descendant-or-self::c
/a/self::a
/a/b/self::c
/a/b/self::*
/a/b/self::*[2]
self::a
/a/b/parent::a
/a/b/parent::*
/a/parent::*
/parent::*
parent::a
/a/b/parent::node()
/a/b/c/parent::*[1]
/a/b/c/ancestor::*
/a/b/c/ancestor::*[1]
/a/b/c/ancestor::*[2]
/a/b/c/ancestor::*[last()]
/a/b/c/ancestor-or-self::*
/a/b/c/ancestor-or-self::*[1]
ancestor::a
/a/ancestor::*
/a/b/attribute::k
/a/b/@k
/a/b/@*
//@k
/a/b/@k/..
/a/b/@k/.
@k
/a/b/following-sibling::c
/a/b/preceding-sibling::c
/a/b/following::c
/a/b/preceding::c
/a/b/namespace::c
/a/b/text()
/a/b/node()
/a/b/comment()
/a/b/processing-instruction()
/a/b/processing-instruction("x")
/a/text(1)
text()
/a/b/text
/a/child::text()
count(/)
count(//*)
count(//*//*)
count(//@*)
count(//.)
count(/a/b/..)
count(/a/*/../*)
count(/a/c|/a/b)
count(/a/x)
count(/a/c)+1
//*//c
//*[2]
//*[last()]
//c[1]
//c[2]
/a[b or c]
/a[b and c]
/a[b]
/a[c]
/a[not(b)]
/a[x or 1]
/a/b or 1
/a/b and 1
/a/c or 0
/a/c+1
/a/b+1
/a/c*"2"
-/a/c
/a/c="2"
/a/c=2
/a/c!=2
/a/b="1"
/a/b!="1"
/a="a"
/a=/b
/a/b=/a/c
1=/a/b=1
"1"</a/b
2>=/a/b
/a/b>"1"
/a/x=""
/a/x!=""
""=/a/x
/a/b[.="1"]
/a/b[.=""]
/a/b[.>1]
/a/b[text()]
/a/b[text()="3"]
/a/b[@k]
/a/b[@k="V"]
/a/b[@*]/@k
/a/b[not(@k="v")]
/a/b[@k="v" or c=9]
/a/b[c>1 and c<10]
/a[b/@k="v"]/b
/a/b[1]
/a/b[2][1]
/a/b[0]
/a/b[-1]
/a/b[1.4]
/a/b[1.5]
/a/b[2.5]
/a/b["1"]
/a/b["x"]
/a/b[""]
/a/b[1=1]
/a/b[true()]
/a/b[false()]
/a/b[1+1]
/a/b[last()]
/a/b[last()-1]
/a/b[last()][last()]
/a/b[last()=2]
/a/b[position()=2]
/a/b[position()=2][1]
/a/b[position()=1 or position()=2]
/a/b[position()>1]
/a/b[position()=last()]
/a/*[position()]
/a/*[last()-position()=1]
/a/*[2]
/a/*[string-length()=1]
/a/*[number()=2]
/a/*[number(.)=2]
/a/*[contains(.,"2")]
/a/*[count(c)=1]
/a/*[count(/a/c)=1]
/a/*[/a/c]
/a/*[c=9]
/a/b[1]|/a/c
/a/c | /a/b | /a
/a|/b|/a/c
/a/c|1
1|2
(/a)
((/a/c))
(/a)[1]
(/a)/c
(/a/b|/a/c)/c
(/a/b)//c
(1)
(1)/a
"x"/a
"x"//a
count(/a/b)/a
-(/a/c)
1
1.5
1.50
1.
.5
1.5.5
00012
-1
--1
- - 1
- 1
+1
!1
99999999999999999999
9223372036854775807
9223372036854775808
18446744073709551615
9223372036854775807+1
0x10
1e3
"x"
'x'
""
-"x"
1+1
1-1
1 -1
1--1
3-2-1
2*3+4
2+3*4
2*-1
1.5+1
1.5*1.5
1.5*2
"1"+1
"x"+1
10 div 4
10.0 div 4
7.5 div 2
-7 div 2
-7.9 div 2
"7.9" div "2"
"x" div 2
1 div 3
1 div 0
1div 2
7 mod 2
-7 mod 3
7 mod -2
7 mod 2.5
5.5 mod 2
5 mod 0
1=1
1!=1
1 ! = 2
1<2
1<=2
1< =2
1>2
1>=2
1=1=1
1>=1>=1
1=-1
1<-1
"a"="A"
"a"<"b"
"a"=0
"a"="b"="c"
1 and 0
1 and 1
1and1
0 or 0
1 or 1 and 0
"x" or 0
and
or
div
/div
mod
true()
false()
true()=1
false()+1
true() or false()
not(1)
not(0)
not("x")
not("")
not(/a/x)
boolean(1)
boolean(0)
boolean(1.5)
boolean("1")
boolean("x")
boolean("")
boolean(/a)
boolean(/a/b)
boolean(/a/x)
number("12abc")
number("x")
number(1.5)
number(/a/c)
number()
number(true())
sum(/a/b)
sum(/a/b|/a/c)
sum(/a)
sum(/a/x)
sum(/a/c)+1
round(1)
round(1.5)
round(2.5)
round(-2.5)
round("x")
round(/a/c)
floor(1.5)
floor(-1.5)
floor("1.5")
floor(/a/b)
ceiling(1.5)
ceiling(-1.5)
ceiling("x")
ceiling(9223372036854775807)
concat("a","b")
concat("a","b","c")
concat(/a/b,"-",/a/c)
concat(1,2)
concat(1.50,"x")
concat(/a/c=2,"x")
concat("äöü",1)
contains("ABC","b")
contains("abc","")
contains("","a")
contains(12,1)
contains(/a/b,"3")
string-length("abc")
string-length("äöü")
string-length(/a/b)
string-length(1234)
string-length(true())
string-length()
substring("abcdef",2)
substring("abcdef",2,3)
substring("abcdef",0)
substring("abcdef",-1)
substring("abcdef",1.6)
substring("abcdef",2,-1)
substring("abc","2")
substring("äöü",2,1)
substring(/a/c,1)
last()
position()
last(1)
position(1)
true(1)
not()
not(1,2)
count()
count(1)
count(/a,/a)
sum(1)
concat()
concat("x")
contains("abc")
substring("abc")
name(/a)
string(/a)
foo()
/a/foo()
translate("abc","a","b")
starts-with("abc","a")
normalize-space(" a ")
[
]
/a[
/a]
/a[]
/a[1
/a[1]]
/a[1](
//
/a/
/a//
1 +
1 2
(1
"x
'x"
"a" "b"
/a,/b
%
/a/%
a b
/a:b
a:b
a::b
/x:*
child::
child::child
/a-b
/a.b
/a_b
/1
/ä
a@b
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa[bbbbbbbbbbbbbbbbbbbbbbbbbbbbbb(ccccccccccccccccccccccccccccccccccccc'''
# Texts that are documents, and that are none: their elements, texts and attributes.
DOCUMENTS = r'''a
<a/>
<a></a>
<a>1</a><a>2</a>
x<a>1</a>y
< a>1</ a>
<a >1</a >
<a>1<b>2</b>3</a>
<a> x  y </a>
<a> </a>
<a x="1" y='2'/>
<a x = "1" y= b/>
<a x=""/>
<a x="  q  r "/>
<a x='q"r'/>
<a x="<b/>">1</a>
<a x="1"y="2"/>
<a b>1</a>
<a b c>1</a>
<a b c="1"/>
<a b=1/>
<a x=1y="2"/>
<a "x">1</a>
<a b="1">
<a b="1"
<a b="1
<a b=
<a b
<a
<
<>
<a>
</a>
</>
<a></>
<a></
<a></a
<a/
<a/x>
<a/b>
<a !>
<a ?>
<a =>
<//a>
</?a>
<1>1</1>
<a-b.c_d:e>1</a-b.c_d:e>
<ä>1</ä>
<ä ö=
<a>äöü<b x=
<a></b>
<a></b>1
<a></A>
<a></bc>
<abc></b>
<a><b></a></b>
<a><b></cc></a>
<a><bcd></cc></a>
<a><b><cde></f></b></a>
<a>1</a></a>
<a>&lt;&amp;&#65;&foo;</a>
<a>1>2</a>
<a>]]></a>
<a><![CDATA[<x>]]></a>
<a><![CDATA[]]></a>
<a>x<![CDATA[ y ]]>z</a>
<![CDATA[ 
<!-- c --><a><!-- d -->1</a>
<a><!---->1</a>
<a><!-->1</a>
<a><!- 1</a>
<!-- 
<!
<?xml version="1.0" encoding="UTF-8"?><a>1</a>
<?xml version?><a>1</a>
<?pi some text here?><a>1</a>
<?a?>1
<?a>1
<?a/>
<?xml
<!DOCTYPE a><a>1</a>
<!DOCTYPE a SYSTEM "x"><a>1</a>
<!DOCTYPE a PUBLIC "x" "y"><a>1</a>
<!DOCTYPE a "x"><a>1</a>
<!DOCTYPE a [<!ELEMENT a ANY>]><a>1</a>
<!a>1
<!a/>
<aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa></bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb>'''
# Documents, paths in them and what stands in the place of what is there.
UPDATES = r'''<a><b>1</b><c/></a> ~ /a/b ~ <x>2</x>
<a><b>1</b><b>2</b></a> ~ /a/b ~ z
<a><b/><b/></a> ~ /a/b[2] ~ <c/>
<a><b/></a> ~ //b ~ <c/>
<a b="1"/> ~ /a/@b ~ c="2"
<a x = "1" y/> ~ /a/@x ~ z
<a x = "1" y/> ~ /a/@y ~ z
<a x = b y/> ~ /a/@x ~ z
<a y z/> ~ /a/@y ~ x
<a/> ~ /b ~ x
<a>1</a> ~ /a/text() ~ x
<a/> ~ / ~ x
r<a/>s ~ . ~ x
r<a>1</a>s ~ /a ~ x
<?xml v="1"?><a/> ~ /a ~ z
<?xml v="1"?><a/> ~ /xml ~ z
<?p q?><b/> ~ /p ~ z
<?p q ? ><b/> ~ /p ~ z
<!DOCTYPE a><b/> ~ /DOCTYPE ~ z
<!DOCTYPE  a  ><b/> ~ /DOCTYPE ~ z
<!DOCTYPE a b><c/> ~ /DOCTYPE/@a ~ z
<!-- c --><a/> ~ /a ~ z
<a></b> ~ /a ~ z
< a ></ a > ~ /a ~ z
<a><![CDATA[x]]></a> ~ /a ~ z
<b / > ~ /b ~ z
<b x="1" /> ~ /b ~ z
<a>x<b>1</b >y</a> ~ /a/b ~ z
<a>x< b>1</b>y</a> ~ /a/b ~ z
<a> ~ /a ~ x
<a/> ~ 1 ~ x
<a/> ~ "x" ~ x
<a/> ~ count(/a) ~ x
<a><b/><b/></a> ~ /a/b|/a ~ x
<a/> ~ /a ~ 
 ~ /a ~ x
<a/> ~ /a[ ~ x
<a/> ~  ~ x'''


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


def written(lines):
    """The lines of a family, with those in place that a word stands for."""
    for line in lines.splitlines():
        if line == "{internal}":
            yield from (f"{name}('a', 1)" for name in INTERNAL.split())
        elif line == "{modes}":
            modes = [(bits, chained) for bits in (128, 192, 256) for chained in CHAINED]
            yield from (made for bits, chained in modes
                        for made in UNDER_MODE.replace("{bits}", str(bits)).replace("{chained}", chained).splitlines())
        elif line == "{paths}":
            yield from (f"EXTRACTVALUE({quoted(DOCUMENT)}, {quoted(path)})" for path in PATHS.splitlines())
        elif line == "{documents}":
            for text in DOCUMENTS.splitlines():
                found = (f"EXTRACTVALUE({quoted(text)}, '{path}')" for path in ("/*", "//text()", "//@*"))
                yield ", ".join(found)
        elif line == "{updates}":
            parts = (line.split(" ~ ") for line in UPDATES.splitlines())
            yield from (f"UPDATEXML({', '.join(map(quoted, part))})" for part in parts)
        elif line:
            yield line


def choices(expression):
    """What stands for an expression: itself, or itself with each of what it names in place."""
    for mark, values in (("{all}", COLUMNS), ("{some}", DIFFERENT), ("{literal}", LITERALS)):
        if mark in expression:
            return [expression.replace(mark, value) for value in values]
    return [expression]


def expand(line):
    """The statements of a line."""
    if re.match(r"(SELECT|SET|UPDATE|INSERT|CREATE|DROP|EXECUTE|GRANT|PREPARE|SHOW|--) ", line):
        return [line]
    each = line.startswith("each: ")
    # The condition is behind all parentheses.
    expression, where, rows = line.removeprefix("each: ").rpartition(" WHERE ")
    if not where or rows.count("(") != rows.count(")"):
        expression, where, rows = line.removeprefix("each: "), "", ""
    named = re.sub(r"\{literal\}|[XB]?'[^']*'|@\w+|FROM a x.*", "", expression)
    over_table = re.search(r"\{all\}|\{some\}|COUNT\(\*\)|" + A_COLUMN, named)
    first, last = "", where + rows
    if over_table:
        last = " FROM a" + last
        if not re.match(AGGREGATES, expression):
            first, last = "id, ", last + " ORDER BY id"
    lists = choices(expression)
    return [f"SELECT {first}{shown}{last};" for shown in (lists if each else [", ".join(lists)])]


def main():
    for family in sys.argv[1:] or FAMILIES:
        body = "\n".join(statement for line in written(FAMILIES[family]) for statement in expand(line))
        path = HERE / f"every_{family}.test"
        path.write_text(f"-- Written by generate.py: {family}, each over a table of arguments and over literals.\n{TABLE}{body}\n")


if __name__ == "__main__":
    main()
