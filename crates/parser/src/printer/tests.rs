//! What MySQL 9.7.4 keeps in information_schema.COLUMNS.COLUMN_DEFAULT for these expressions, asked of a live
//! server, with the connection's character set read as utf8mb4.

use super::*;
use crate::{ParseOptions, parse_expression};

const GOLDEN: &[(&str, &str)] = &[
    (r#"a+1"#, r#"(`a` + 1)"#),
    (r#"a+b*2"#, r#"(`a` + (`b` * 2))"#),
    (r#"-a"#, r#"-(`a`)"#),
    (r#"not a"#, r#"(0 = `a`)"#),
    (r#"!a"#, r#"(0 = `a`)"#),
    (r#"a and b or a"#, r#"(((0 <> `a`) and (0 <> `b`)) or (0 <> `a`))"#),
    (r#"a xor b"#, r#"((0 <> `a`) xor (0 <> `b`))"#),
    (r#"a is null"#, r#"(`a` is null)"#),
    (r#"a is not true"#, r#"((0 <> `a`) is not true)"#),
    (r#"a between 1 and 2"#, r#"(`a` between 1 and 2)"#),
    (r#"a not between 1 and 2"#, r#"(`a` not between 1 and 2)"#),
    (r#"a in (1,2)"#, r#"(`a` in (1,2))"#),
    (r#"a not in (1,2)"#, r#"(`a` not in (1,2))"#),
    (r#"s like 'x%'"#, r#"(`s` like _utf8mb4'x%')"#),
    (r#"s not like 'x' escape '|'"#, r#"(not((`s` like _utf8mb4'x' escape _utf8mb4'|')))"#),
    (r#"s regexp 'a'"#, r#"regexp_like(`s`,_utf8mb4'a')"#),
    (r#"s not regexp 'a'"#, r#"(not(regexp_like(`s`,_utf8mb4'a')))"#),
    (r#"case a when 1 then 2 else 3 end"#, r#"(case `a` when 1 then 2 else 3 end)"#),
    (r#"case when a then b end"#, r#"(case when `a` then `b` end)"#),
    (r#"cast(a as char(10))"#, r#"cast(`a` as char(10) charset utf8mb4)"#),
    (r#"cast(a as char)"#, r#"cast(`a` as char charset utf8mb4)"#),
    (r#"cast(a as char character set latin1)"#, r#"cast(`a` as char charset latin1)"#),
    (r#"cast(a as signed)"#, r#"cast(`a` as signed)"#),
    (r#"cast(a as unsigned)"#, r#"cast(`a` as unsigned)"#),
    (r#"cast(a as decimal(10,2))"#, r#"cast(`a` as decimal(10,2))"#),
    (r#"cast(a as binary(3))"#, r#"cast(`a` as char(3) charset binary)"#),
    (r#"cast(a as datetime(3))"#, r#"cast(`a` as datetime(3))"#),
    (r#"cast(a as time)"#, r#"cast(`a` as time)"#),
    (r#"cast(a as date)"#, r#"cast(`a` as date)"#),
    (r#"cast(a as year)"#, r#"cast(`a` as year)"#),
    (r#"cast(a as double)"#, r#"cast(`a` as double)"#),
    (r#"cast(a as json)"#, r#"cast(`a` as json)"#),
    (r#"convert(s using utf8mb4)"#, r#"convert(`s` using utf8mb4)"#),
    (r#"s collate utf8mb4_bin"#, r#"(`s` collate utf8mb4_bin)"#),
    (r#"binary s"#, r#"cast(`s` as char charset binary)"#),
    (r#"concat(s,'x')"#, r#"concat(`s`,_utf8mb4'x')"#),
    (r#"substring(s,1,2)"#, r#"substr(`s`,1,2)"#),
    (r#"substring(s from 2)"#, r#"substr(`s`,2)"#),
    (r#"mid(s,1)"#, r#"substr(`s`,1)"#),
    (r#"trim(s)"#, r#"trim(`s`)"#),
    (r#"trim(leading 'x' from s)"#, r#"trim(leading _utf8mb4'x' from `s`)"#),
    (r#"date_add(d, interval 1 day)"#, r#"(`d` + interval 1 day)"#),
    (r#"d - interval 1 month"#, r#"(`d` - interval 1 month)"#),
    (r#"adddate(d,1)"#, r#"(`d` + interval 1 day)"#),
    (r#"extract(day from d)"#, r#"extract(day from `d`)"#),
    (r#"timestampdiff(day,d,d)"#, r#"timestampdiff(DAY,`d`,`d`)"#),
    (r#"timestampadd(day,1,d)"#, r#"(`d` + interval 1 day)"#),
    (r#"position('a' in s)"#, r#"locate(_utf8mb4'a',`s`)"#),
    (r#"left(s,1)"#, r#"left(`s`,1)"#),
    (r#"if(a,b,1)"#, r#"if(`a`,`b`,1)"#),
    (r#"ifnull(a,b)"#, r#"ifnull(`a`,`b`)"#),
    (r#"nullif(a,b)"#, r#"nullif(`a`,`b`)"#),
    (r#"coalesce(a,b)"#, r#"coalesce(`a`,`b`)"#),
    (r#"a<=>b"#, r#"(`a` <=> `b`)"#),
    (r#"a<>b"#, r#"(`a` <> `b`)"#),
    (r#"a!=b"#, r#"(`a` <> `b`)"#),
    (r#"a div b"#, r#"(`a` DIV `b`)"#),
    (r#"a mod b"#, r#"(`a` % `b`)"#),
    (r#"a % b"#, r#"(`a` % `b`)"#),
    (r#"mod(a,b)"#, r#"(`a` % `b`)"#),
    (r#"a | b"#, r#"(`a` | `b`)"#),
    (r#"a & b ^ 1"#, r#"(`a` & (`b` ^ 1))"#),
    (r#"~a"#, r#"~(`a`)"#),
    (r#"a << 2"#, r#"(`a` << 2)"#),
    (r#"char(65)"#, r#"char(65)"#),
    (r#"weight_string(s)"#, r#"weight_string(`s`)"#),
    (r#"interval(a,1,2)"#, r#"interval(`a`,1,2)"#),
    (r#"greatest(a,b)"#, r#"greatest(`a`,`b`)"#),
    (r#"1.5e3+a"#, r#"(1.5e3 + `a`)"#),
    (r#"1.50+a"#, r#"(1.50 + `a`)"#),
    (r#"x'41'"#, r#"0x41"#),
    (r#"0x41"#, r#"0x41"#),
    (r#"b'101'"#, r#"0x05"#),
    (r#"_latin1'x'"#, r#"_latin1'x'"#),
    (r#"'it''s'"#, r#"_utf8mb4'it\'s'"#),
    (r#"'a\nb'"#, r#"_utf8mb4'a\nb'"#),
    (r#"null"#, r#"NULL"#),
    (r#"true"#, r#"true"#),
    (r#"date'2020-01-01'"#, r#"DATE'2020-01-01'"#),
    (r#"time'10:00:00'"#, r#"TIME'10:00:00'"#),
    (r#"timestamp'2020-01-01 00:00:00'"#, r#"TIMESTAMP'2020-01-01 00:00:00'"#),
    (r#"j->'$.a'"#, r#"json_extract(`j`,_utf8mb4'$.a')"#),
    (r#"j->>'$.a'"#, r#"json_unquote(json_extract(`j`,_utf8mb4'$.a'))"#),
    (r#"json_extract(j,'$.a')"#, r#"json_extract(`j`,_utf8mb4'$.a')"#),
    (r#"1 member of (j)"#, r#"1 member of (`j`)"#),
    (r#"s sounds like 'x'"#, r#"(soundex(`s`) = soundex(_utf8mb4'x'))"#),
    (r#"pow(a,2)"#, r#"pow(`a`,2)"#),
    (r#"power(a,2)"#, r#"pow(`a`,2)"#),
    (r#"length(s)"#, r#"length(`s`)"#),
    (r#"octet_length(s)"#, r#"length(`s`)"#),
    (r#"upper(s)"#, r#"upper(`s`)"#),
    (r#"ucase(s)"#, r#"upper(`s`)"#),
    (r#"year(d)"#, r#"year(`d`)"#),
    (r#"dayofmonth(d)"#, r#"dayofmonth(`d`)"#),
    (r#"day(d)"#, r#"dayofmonth(`d`)"#),
    (r#"a>=1 && b<2"#, r#"((`a` >= 1) and (`b` < 2))"#),
    (r#"a || b"#, r#"((0 <> `a`) or (0 <> `b`))"#),
    (r#"strcmp(s,'a')"#, r#"strcmp(`s`,_utf8mb4'a')"#),
    (r#"format(a,2)"#, r#"format(`a`,2)"#),
    (r#"round(a)"#, r#"round(`a`,0)"#),
    (r#"truncate(a,1)"#, r#"truncate(`a`,1)"#),
    (r#"log(a)"#, r#"log(`a`)"#),
    (r#"concat_ws(',',s,s)"#, r#"concat_ws(_utf8mb4',',`s`,`s`)"#),
    (r#"replace(s,'a','b')"#, r#"replace(`s`,_utf8mb4'a',_utf8mb4'b')"#),
    (r#"char_length(s)"#, r#"char_length(`s`)"#),
    (r#"date(d)"#, r#"cast(`d` as date)"#),
    (r#"unix_timestamp(d)"#, r#"unix_timestamp(`d`)"#),
    (r#"insert(s,1,1,'x')"#, r#"insert(`s`,1,1,_utf8mb4'x')"#),
    (r#"repeat(s,2)"#, r#"repeat(`s`,2)"#),
    (r#"date_format(d,'%Y')"#, r#"date_format(`d`,_utf8mb4'%Y')"#),
    (r#"crc32(s)"#, r#"crc32(`s`)"#),
    (r#"hex(a)"#, r#"hex(`a`)"#),
    (r#"st_x(point(1,1))"#, r#"st_x(point(1,1))"#),
    (r#"week(d)"#, r#"week(`d`,0)"#),
    (r#"ceiling(a)"#, r#"ceiling(`a`)"#),
    (r#"bit_count(a)"#, r#"bit_count(`a`)"#),
    (r#"isnull(a)"#, r#"(`a` is null)"#),
];

fn print(text: &str) -> Option<String> {
    let expression = parse_expression(text.as_bytes(), ParseOptions::default()).unwrap();
    print_expression(&expression, "utf8mb4")
}

#[test]
fn expressions_print_as_mysql_keeps_them() {
    for (source, expected) in GOLDEN {
        assert_eq!(print(source).as_deref(), Some(*expected), "{source}");
    }
}

#[test]
fn printed_text_parses_to_the_same_print() {
    for (source, expected) in GOLDEN {
        assert_eq!(print(expected).as_deref(), Some(*expected), "{source}");
    }
}

#[test]
fn what_no_stored_expression_holds_is_not_printed() {
    assert_eq!(print("(SELECT 1)"), None);
    assert_eq!(print("1 + COUNT(*)"), None);
    assert_eq!(print("@a + 1"), None);
}
