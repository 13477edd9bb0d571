//! Names of a view's columns, where the query gives none that a column may have. Main function: [`make_unique`].

use super::query::Item;

/// Characters that a column's name may have.
const NAME_CHARACTERS_MAX: usize = 64;

/// Gives other names to expressions whose text no column may be called, or another column is called.
pub(super) fn make_unique(items: &mut [Item]) {
    for (at, item) in items.iter_mut().enumerate() {
        let is_wrong = item.name.ends_with(' ')
            || item.name.is_empty()
            || item.name.chars().count() > NAME_CHARACTERS_MAX;
        if is_wrong && !item.is_given {
            item.name = format!("Name_exp_{}", at + 1);
        }
    }
    for at in 1..items.len() {
        let name = items[at].name.clone();
        let Some(known) = items[..at].iter().position(|item| item.name.eq_ignore_ascii_case(&name)) else {
            continue;
        };
        let may_change = |item: &Item| !item.is_given && !item.is_column;
        let changed = if may_change(&items[at]) {
            at
        } else if may_change(&items[known]) {
            known
        } else {
            continue;
        };
        let mut made = format!("Name_exp_{name}");
        let mut number = 1;
        while items.iter().any(|item| item.name.eq_ignore_ascii_case(&made)) {
            made = format!("Name_exp_{number}_{name}");
            number += 1;
        }
        items[changed].name = made;
    }
}
