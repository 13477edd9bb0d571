//! A page as text for a terminal.

use crate::page::Page;

/// No line is longer, unless one word is.
const COLUMNS: usize = 100;
/// Where a description begins.
const INDENT: usize = 8;

/// The whole page.
pub fn text(page: &Page) -> String {
    let mut out = format!("{} - {}\n\n", page.name, page.summary);
    for (at, usage) in page.usage.iter().enumerate() {
        let before = if at == 0 { "Usage: " } else { "       " };
        out += &format!("{before}{usage}\n");
    }
    for paragraph in page.about {
        out.push('\n');
        wrap(paragraph, 0, &mut out);
    }
    for group in &page.groups {
        out += &format!("\n{}:\n", group.title);
        for option in &group.options {
            out += &format!("  {}\n", option.title());
            wrap(&option.description(), INDENT, &mut out);
        }
    }
    for section in &page.sections {
        out += &format!("\n{}:\n", section.title);
        for entry in &section.entries {
            out += &format!("  {}\n", entry.term);
            wrap(&entry.text, INDENT, &mut out);
        }
    }
    out
}

/// Appends a text, broken between words, and where a word is longer than a line behind its commas; each line behind so many spaces.
fn wrap(text: &str, indent: usize, out: &mut String) {
    let mut column = 0;
    for word in text.split_whitespace() {
        let is_long = indent + word.chars().count() > COLUMNS;
        let end = if is_long { ',' } else { ' ' };
        for (at, part) in word.split_inclusive(end).enumerate() {
            let width = part.chars().count();
            let gap = usize::from(at == 0);
            if column > 0 && column + gap + width > COLUMNS {
                out.push('\n');
                column = 0;
            }
            let spaces = if column == 0 { indent } else { gap };
            out.extend(std::iter::repeat_n(' ', spaces));
            out.push_str(part);
            column += spaces + width;
        }
    }
    if column > 0 {
        out.push('\n');
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::example;

    #[test]
    fn every_option_stands_in_lines_that_fit() {
        let text = text(&example());
        assert!(text.lines().all(|line| line.len() <= COLUMNS), "{text}");
        for option in example().options() {
            assert!(text.contains(&format!("--{}", option.name)), "{text}");
        }
        let first = text.find("--bare").unwrap_or(usize::MAX);
        assert!(first < text.find("-P, --port=N").unwrap_or(0), "{text}");
        let port = text.split_once("--port=N").map_or("", |(_, rest)| rest).replace("\n        ", " ");
        assert!(port.contains("From 0 to 65535. Default: 3306."), "{text}");
        assert!(text.contains("One of fast, slow.") && text.contains("Default: empty."), "{text}");
    }

    #[test]
    fn a_word_that_fits_nowhere_has_a_line_of_its_own() {
        let mut out = String::new();
        wrap(&format!("a {} b", "x".repeat(200)), 2, &mut out);
        assert_eq!(out.lines().map(str::len).collect::<Vec<_>>(), [3, 202, 3]);
        out.clear();
        wrap(&format!("a {} b", "word,".repeat(30)), 2, &mut out);
        assert_eq!(out.lines().map(str::len).collect::<Vec<_>>(), [99, 59], "{out}");
    }
}
