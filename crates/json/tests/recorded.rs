//! Plays what MySQL 9.7 answered: texts that are broken or not, paths, and calls of functions. The files in `recorded/` have one
//! question a line; its fields are separated by tabs and escape control characters and backslashes.

use errors::SqlResult;
use json::{HowMany, Path, Setting};
use values::json::{Built, Node, Steps, TextError, Unwatched, parse, print, read};

fn unescaped(field: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let mut bytes = field.bytes();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        match bytes.next() {
            Some(b'x') => {
                let digits: String = bytes.by_ref().take(2).map(char::from).collect();
                out.push(u8::from_str_radix(&digits, 16).expect("two digits"));
            }
            Some(other) => out.push(other),
            None => out.push(byte),
        }
    }
    out
}

fn printed(document: &[u8]) -> String {
    let mut out = Vec::new();
    print(Node::of(document), &mut out);
    String::from_utf8(out).expect("utf8")
}

/// Compares all answers, and shows the first that differ.
fn compare(answers: impl Iterator<Item = (String, String, String)>, questions_min: usize) {
    let (mut count, mut wrong) = (0, Vec::new());
    for (question, expected, got) in answers {
        count += 1;
        if expected != got {
            wrong.push(format!("{question}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(count >= questions_min, "only {count} questions");
    let shown = wrong.iter().take(30).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {count} differ\n{shown}", wrong.len());
}

#[test]
fn texts() {
    let lines = include_str!("recorded/broken_texts.tsv").lines();
    let answers = lines.map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let got = match read(&unescaped(fields[0]), &Unwatched) {
            Ok(document) => {
                assert!(values::json::is_sound(&document));
                ("ok".to_owned(), String::new(), printed(&document))
            }
            Err(TextError::Failed(error)) => (error.number().to_string(), String::new(), String::new()),
            Err(TextError::Syntax { message, position }) => {
                (message.to_owned(), position.to_string(), String::new())
            }
        };
        let expected = String::from_utf8(unescaped(fields[3])).expect("utf8");
        (
            fields[0].to_owned(),
            format!("{} {} {expected}", fields[1], fields[2]),
            format!("{} {} {}", got.0, got.1, got.2),
        )
    });
    compare(answers, 2_600);
}

#[test]
fn paths() {
    let document = parse(br#"[[{"a":{"b":1}}]]"#, 1, "test", &Unwatched).expect("a document");
    let answers = include_str!("recorded/paths.tsv").lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let bytes = unescaped(fields[0]);
        let got = match Path::parse(&bytes) {
            Ok(path) => {
                let again = Path::parse(path.to_string().as_bytes()).expect("a printed path");
                assert_eq!(path, again);
                let single = Path::parse_single(&bytes)
                    .map_or_else(|error| error.number().to_string(), |_| "single".to_owned());
                let found = u8::from(
                    json::first(Node::of(&document), &path, &Unwatched).expect("nobody ends it").is_some(),
                );
                format!("ok {found} {single}")
            }
            Err(error) => {
                let expected = format!(
                    "Invalid JSON path expression. The error is around character position {}.",
                    fields[1]
                );
                if error.message() == expected {
                    format!("{}  ", fields[1])
                } else {
                    error.message().to_owned()
                }
            }
        };
        (fields[0].to_owned(), fields[1..].join(" "), got)
    });
    compare(answers, 1_500);
}

#[test]
fn calls() {
    let answers = include_str!("recorded/calls.tsv").lines().map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let (expected, question) = fields.split_last().expect("a result");
        let arguments: Vec<Vec<u8>> = question[1..].iter().map(|field| unescaped(field)).collect();
        let got = match call(question[0], &arguments) {
            Ok(None) => "NULL".to_owned(),
            Ok(Some(result)) => format!("={result}"),
            Err(error) => format!("ERROR {} {}", error.number(), error.message()),
        };
        (question.join("  "), String::from_utf8(unescaped(expected)).expect("utf8"), got)
    });
    compare(answers, 1_300);
}

fn call(function: &str, arguments: &[Vec<u8>]) -> SqlResult<Option<String>> {
    match function {
        "json_extract" | "json_contains_path" | "json_search" => read_at_paths(function, arguments),
        "json_set" | "json_insert" | "json_replace" | "json_array_append" | "json_array_insert"
        | "json_remove" => change(function, arguments).map(Some),
        "json_unquote" => {
            let content =
                json::unquote(&arguments[0], &Unwatched).map_err(|error| error.in_argument(1, function))?;
            Ok(Some(String::from_utf8(content.into_owned()).expect("utf8")))
        }
        "json_schema_validation_report" => {
            let (schema, document) = (document(&arguments[0]), document(&arguments[1]));
            let failure = json::schema_check(
                Node::of(&schema),
                Node::of(&document),
                function,
                &matches_pattern,
                &Unwatched,
            )?;
            shown(&json::schema_report(failure.as_ref())).map(Some)
        }
        _ => read_documents(function, arguments),
    }
}

fn document(text: &[u8]) -> Vec<u8> {
    parse(text, 1, "cast_as_json", &Unwatched).expect("arguments are sound")
}

fn shown(built: &Built<'_>) -> SqlResult<String> {
    built.encode().map(|document| printed(&document))
}

fn read_at_paths(function: &str, arguments: &[Vec<u8>]) -> SqlResult<Option<String>> {
    let whole = document(&arguments[0]);
    let node = Node::of(&whole);
    let read = |from: usize| -> SqlResult<Vec<Path>> {
        arguments.iter().skip(from).map(|text| Path::parse(text)).collect()
    };
    let result = match function {
        "json_extract" => {
            let paths = read(1)?;
            json::extract(node, &paths.iter().collect::<Vec<_>>(), &Unwatched).expect("nobody ends it")
        }
        "json_contains_path" => {
            let how_many = HowMany::parse(&arguments[1], function)?;
            let paths = read(2)?;
            return Ok(Some(
                u8::from(
                    json::contains_path(node, how_many, &paths.iter().collect::<Vec<_>>(), &Unwatched)
                        .expect("nobody ends it"),
                )
                .to_string(),
            ));
        }
        _ => {
            let how_many = HowMany::parse(&arguments[1], function)?;
            let escape = arguments.get(3).map_or(b'\\', |escape| escape[0]);
            let paths = read(4)?;
            let matches = |text: &[u8]| is_like(text, &arguments[2], escape);
            json::search(node, how_many, &matches, &paths.iter().collect::<Vec<_>>(), &Unwatched)
                .expect("nobody ends it")
        }
    };
    result.map(|built| shown(&built)).transpose()
}

fn change(function: &str, arguments: &[Vec<u8>]) -> SqlResult<String> {
    let whole = document(&arguments[0]);
    let mut tree = Built::Kept(Node::of(&whole));
    let step = if function == "json_remove" { 1 } else { 2 };
    // All paths but those of JSON_ARRAY_INSERT are read before anything is changed.
    let paths: Vec<SqlResult<Path>> =
        arguments[1..].iter().step_by(step).map(|text| Path::parse_single(text)).collect();
    let broken = paths.iter().find_map(|path| path.as_ref().err());
    if let Some(error) = broken.filter(|_| function != "json_array_insert") {
        return Err(error.clone());
    }
    let values: Vec<Vec<u8>> = match function {
        "json_remove" => Vec::new(),
        _ => arguments[2..].iter().step_by(2).map(|text| document(text)).collect(),
    };
    let steps = &mut Steps::new(&Unwatched);
    for (at, path) in paths.into_iter().enumerate() {
        let path = &path?;
        let value = || Built::Kept(Node::of(&values[at]));
        match function {
            "json_set" => json::set(&mut tree, path, value(), Setting::Both, steps)?,
            "json_insert" => json::set(&mut tree, path, value(), Setting::New, steps)?,
            "json_replace" => json::set(&mut tree, path, value(), Setting::Old, steps)?,
            "json_array_append" => json::array_append(&mut tree, path, value(), steps)?,
            "json_array_insert" => json::array_insert(&mut tree, path, value(), steps)?,
            _ => json::remove(&mut tree, path, steps)?,
        };
    }
    shown(&tree)
}

fn read_documents(function: &str, arguments: &[Vec<u8>]) -> SqlResult<Option<String>> {
    let count = match function {
        "json_keys" | "json_length" => 1,
        "json_contains" => 2,
        _ => arguments.len(),
    };
    let documents: Vec<Vec<u8>> = arguments.iter().take(count).map(|text| document(text)).collect();
    let nodes: Vec<Node<'_>> = documents.iter().map(|document| Node::of(document)).collect();
    let path_text = arguments.get(count).map_or(&b"$"[..], |text| text.as_slice());
    let first = nodes[0];
    let truth = |truth: bool| Ok(Some(u8::from(truth).to_string()));
    match function {
        "json_keys" => json::keys(first, &Path::parse_single(path_text)?, &Unwatched)?
            .map(|keys| shown(&keys))
            .transpose(),
        "json_length" => Ok(json::length_at(first, &Path::parse(path_text)?, &Unwatched)
            .expect("nobody ends it")
            .map(|length| length.to_string())),
        "json_depth" => Ok(Some(first.depth(&mut Steps::new(&Unwatched))?.to_string())),
        "json_type" => Ok(Some(first.type_name().to_owned())),
        "json_contains" => {
            match json::first(first, &Path::parse_single(path_text)?, &Unwatched).expect("nobody ends it") {
                Some(found) => truth(json::contains(found, nodes[1], &Unwatched) == Ok(true)),
                None => Ok(None),
            }
        }
        "json_overlaps" => truth(json::overlaps(first, nodes[1], &Unwatched) == Ok(true)),
        "member of" => truth(json::is_member(first, nodes[1], &Unwatched)?),
        "json_merge_preserve" | "json_merge_patch" => {
            let steps = &mut Steps::new(&Unwatched);
            let merged = nodes[1..].iter().try_fold(Built::Kept(first), |left, right| match function {
                "json_merge_patch" => json::merge_patch(left, *right, steps),
                _ => json::merge_preserve(left, Built::Kept(*right), steps),
            });
            shown(&merged?).map(Some)
        }
        other => panic!("no such function: {other}"),
    }
}

/// The regular expressions that the recorded schemas have: plain text, at the start only with `^`; a bracket is none.
fn matches_pattern(pattern: &[u8], text: &[u8]) -> Option<bool> {
    match pattern {
        b"[" => None,
        [b'^', start @ ..] => Some(text.starts_with(start)),
        part => Some(text.windows(part.len()).any(|window| window == part)),
    }
}

/// LIKE with % and _, byte by byte.
fn is_like(text: &[u8], pattern: &[u8], escape: u8) -> bool {
    match pattern.split_first() {
        None => text.is_empty(),
        Some((&byte, rest)) if byte == escape && !rest.is_empty() => {
            text.first() == rest.first() && is_like(&text[1..], &rest[1..], escape)
        }
        Some((b'%', rest)) => (0..=text.len()).any(|from| is_like(&text[from..], rest, escape)),
        Some((b'_', rest)) => {
            let length = text.iter().skip(1).take_while(|byte| **byte & 0xc0 == 0x80).count() + 1;
            text.get(length..).is_some_and(|text| is_like(text, rest, escape))
        }
        Some((byte, rest)) => text.first() == Some(byte) && is_like(&text[1..], rest, escape),
    }
}
