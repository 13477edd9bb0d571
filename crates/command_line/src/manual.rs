//! A page as a man page, in the macros of man(7).

use crate::page::Page;

/// The whole page. `program` and `version` stand in its foot.
pub fn roff(page: &Page, program: &str, version: &str) -> String {
    let name = page.name.replace(' ', "-");
    let mut out = format!(
        ".TH {} {} \"\" \"{program} {version}\" \"{program}\"\n.nh\n.ad l\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.nf\n",
        name.to_uppercase(),
        page.manual,
        escaped(&name),
        escaped(page.summary)
    );
    for usage in page.usage {
        out += &format!("{}\n", escaped(usage));
    }
    out += ".fi\n.SH DESCRIPTION\n";
    for paragraph in page.about {
        out += &format!(".PP\n{}\n", escaped(paragraph));
    }
    if !page.groups.is_empty() {
        out += ".SH OPTIONS\n";
    }
    for group in &page.groups {
        out += &format!(".SS {}\n", escaped(group.title));
        for option in &group.options {
            entry(&option.title(), &option.description(), &mut out);
        }
    }
    for section in &page.sections {
        out += &format!(".SH {}\n", escaped(&section.title.to_uppercase()));
        for listed in &section.entries {
            entry(&listed.term, &listed.text, &mut out);
        }
    }
    out
}

fn entry(term: &str, text: &str, out: &mut String) {
    // Long lists of names break behind their commas.
    let text = escaped(text).replace(',', ",\\:");
    *out += &format!(".TP\n.B {}\n{text}\n", escaped(term));
}

/// Text that no request and no escape is read in; a minus is one that can be copied.
fn escaped(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::tests::example;

    #[test]
    fn every_option_and_nothing_that_is_read_as_a_request() {
        let text = roff(&example(), "Tool", "1.2");
        assert!(text.starts_with(".TH TOOL-WORK 8 \"\" \"Tool 1.2\" \"Tool\"\n"), "{text}");
        for option in example().options() {
            assert!(text.contains(&format!("\\-\\-{}", option.name)), "{text}");
        }
        assert!(text.contains(".SH EXIT CODES\n.TP\n.B 0\nAll is well.\n"), "{text}");
        assert_eq!(escaped(".a-b\\c"), "\\&.a\\-b\\ec");
    }
}
