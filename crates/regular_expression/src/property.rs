//! The names in `\p{..}` and `[:..:]`. Main function: [`find`].

use crate::class::{self, blank, ranges_of, table, union_of};
use errors::{SqlResult, sql_error};
use regex_syntax::hir::ClassUnicode;

/// The characters that have a property. Error 3685 for a name that is none, 1235 for properties that are not kept here.
pub(crate) fn find(name: &str) -> SqlResult<ClassUnicode> {
    let is_text = |character: char| character.is_ascii_alphanumeric() || " _-.=".contains(character);
    let found = if name.chars().all(is_text) { search(name)? } else { None };
    found.ok_or_else(|| sql_error!(ER_REGEXP_ILLEGAL_ARGUMENT))
}

/// Names are compared without case, blanks, `_` and `-`.
fn loose(name: &str) -> String {
    name.chars()
        .filter(|character| !" _-".contains(*character))
        .map(|letter| letter.to_ascii_lowercase())
        .collect()
}

fn search(name: &str) -> SqlResult<Option<ClassUnicode>> {
    if let Some((property, value)) = name.split_once('=') {
        return valued(&loose(property), value);
    }
    let short = loose(name);
    if let Some(found) = special(&short) {
        return Ok(Some(found));
    }
    // The tables would take "isalphabetic", too.
    if !short.starts_with("is")
        && !short.is_empty()
        && let Some(found) = table(name)
    {
        return Ok(Some(found));
    }
    if short == "rgiemoji" || short.starts_with("rgiemoji") || name.starts_with("In") && name.len() > 2 {
        return Err(sql_error!(
            ER_NOT_SUPPORTED_YET,
            "properties of blocks and sequences in regular expressions"
        ));
    }
    if let Some(rest) = name.strip_prefix("Is").filter(|rest| !rest.is_empty()) {
        return Ok(match loose(rest).as_str() {
            "" => None,
            "titlecase" => table("Lt"),
            short if short.starts_with("is") => None,
            short => special(short).or_else(|| table(short)),
        });
    }
    Ok(name.strip_prefix("java").and_then(java))
}

/// `property=value`.
fn valued(property: &str, value: &str) -> SqlResult<Option<ClassUnicode>> {
    let short = loose(value);
    if short.is_empty() {
        return Ok(None);
    }
    let tables = match property {
        "gc" | "generalcategory" => "gc",
        "sc" | "script" => "sc",
        "scx" | "scriptextensions" => "scx",
        "age" => "age",
        "gcb" | "graphemeclusterbreak" => "gcb",
        "wb" | "wordbreak" => "wb",
        "sb" | "sentencebreak" => "sb",
        "block"
        | "blk"
        | "ccc"
        | "canonicalcombiningclass"
        | "nv"
        | "numericvalue"
        | "nt"
        | "numerictype"
        | "na"
        | "name"
        | "bc"
        | "bidiclass"
        | "dt"
        | "ea"
        | "hst"
        | "insc"
        | "inpc"
        | "jg"
        | "jt"
        | "lb"
        | "linebreak"
        | "lccc"
        | "tccc"
        | "nfcqc"
        | "nfdqc"
        | "nfkcqc"
        | "nfkdqc"
        | "vo" => {
            let what = format!("property {property} in regular expressions");
            return Err(sql_error!(ER_NOT_SUPPORTED_YET, what));
        }
        _ => {
            let Some(mut class) = special(property).or_else(|| table(property)) else { return Ok(None) };
            match short.as_str() {
                "y" | "yes" | "t" | "true" => {}
                "n" | "no" | "f" | "false" => class.negate(),
                _ => return Ok(None),
            }
            return Ok(Some(class));
        }
    };
    Ok(table(&format!("{tables}={}", value.trim())))
}

/// Names that the tables do not have: those of POSIX and some of Java and Perl.
fn special(short: &str) -> Option<ClassUnicode> {
    Some(match short {
        "all" | "any" => ranges_of(&[('\0', char::MAX)]),
        "ascii" => ranges_of(&[('\0', '\u{7f}')]),
        "assigned" => {
            let mut class = table("Cn")?;
            class.negate();
            class
        }
        "alnum" => union_of(&["Alphabetic", "Nd"]),
        "blank" => blank(),
        "graph" => graph(),
        "print" => {
            let mut class = graph();
            class.union(&blank());
            class.difference(&table("Cc")?);
            class
        }
        "word" => class::word(),
        "xdigit" => union_of(&["Nd", "Hex_Digit"]),
        _ => return None,
    })
}

fn graph() -> ClassUnicode {
    let mut class = union_of(&["White_Space", "Cc", "Cn"]);
    class.negate();
    class
}

/// The classes of java.lang.Character, behind `java`.
fn java(name: &str) -> Option<ClassUnicode> {
    Some(match name {
        "Defined" => return special("assigned"),
        "Digit" => union_of(&["Nd"]),
        "ISOControl" => union_of(&["Cc"]),
        "Letter" => union_of(&["L"]),
        "LetterOrDigit" => union_of(&["L", "Nd"]),
        "LowerCase" => union_of(&["Ll"]),
        "UpperCase" => union_of(&["Lu"]),
        "TitleCase" => union_of(&["Lt"]),
        "SpaceChar" => union_of(&["Z"]),
        "ValidCodePoint" => return special("all"),
        "SupplementaryCodePoint" => ranges_of(&[('\u{10000}', char::MAX)]),
        "Whitespace" => {
            let mut class = union_of(&["Z"]);
            class.difference(&ranges_of(&[
                ('\u{a0}', '\u{a0}'),
                ('\u{2007}', '\u{2007}'),
                ('\u{202f}', '\u{202f}'),
            ]));
            class.union(&ranges_of(&[('\t', '\r'), ('\u{1c}', '\u{1f}')]));
            class
        }
        _ => return None,
    })
}
