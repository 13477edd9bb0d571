//! Rows of a document by a tree of paths, as JSON_TABLE makes them. Main function: [`for_each_row`].
//!
//! For each value that a path leads to there are the rows of the paths within it, one path after the other: siblings are a union. A
//! value without any has a row of its own.

use crate::{Path, find};
use errors::SqlResult;
use values::json::{Node, Watch};

/// A path with the paths within its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nest {
    /// Where its values are, from a value of the nest around it.
    pub path: Path,
    /// What the maker of the rows knows it by.
    pub id: usize,
    /// The paths within its values.
    pub nests: Vec<Nest>,
}

/// Who makes rows of what is found.
pub trait RowMaker {
    /// What a search for values asks.
    type Watch: Watch;

    /// For one search; it is held as long as what was found.
    fn watch(&self) -> Self::Watch;

    /// A nest is at a value, which is the so many-th of its path, from 1.
    fn enter(&mut self, nest: &Nest, value: Node<'_>, ordinal: u64) -> SqlResult<()>;

    /// A nest has no value until it is entered again.
    fn leave(&mut self, nest: &Nest);

    /// A row of the values at which the nests are.
    fn row(&mut self) -> SqlResult<()>;
}

/// Makes the rows of a value; whether there are any. The stack is as deep as the nests.
pub fn for_each_row<M: RowMaker>(around: Node<'_>, nest: &Nest, maker: &mut M) -> SqlResult<bool> {
    let watch = maker.watch();
    let values = find(around, &nest.path, &watch)?;
    let has_rows = !values.is_empty();
    for (position, value) in values.into_iter().enumerate() {
        maker.enter(nest, value, position as u64 + 1)?;
        let mut has_inner = false;
        for inner in &nest.nests {
            has_inner |= for_each_row(value, inner, maker)?;
        }
        if !has_inner {
            maker.row()?;
        }
    }
    maker.leave(nest);
    Ok(has_rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use values::json::Unwatched;

    #[derive(Default)]
    struct Shown {
        at: Vec<Option<u64>>,
        rows: Vec<String>,
    }

    impl RowMaker for Shown {
        type Watch = Unwatched;

        fn watch(&self) -> Unwatched {
            Unwatched
        }

        fn enter(&mut self, nest: &Nest, _value: Node<'_>, ordinal: u64) -> SqlResult<()> {
            self.at.resize(self.at.len().max(nest.id + 1), None);
            self.at[nest.id] = Some(ordinal);
            Ok(())
        }

        fn leave(&mut self, nest: &Nest) {
            self.at.resize(self.at.len().max(nest.id + 1), None);
            self.at[nest.id] = None;
        }

        fn row(&mut self) -> SqlResult<()> {
            let at = self.at.iter().map(|at| at.map_or("-".to_owned(), |at| at.to_string()));
            self.rows.push(at.collect());
            Ok(())
        }
    }

    fn nest(id: usize, path: &str, nests: Vec<Nest>) -> Nest {
        Nest { path: Path::parse(path.as_bytes()).expect("a path"), id, nests }
    }

    #[test]
    fn siblings_are_a_union_and_what_is_empty_has_a_row() {
        let document =
            values::json::parse(br#"[{"x":[1,2],"y":[3]},{"x":[],"y":[4]},{}]"#, 1, "test", &Unwatched);
        let document = document.expect("a document");
        let inner = vec![nest(1, "$.x[*]", Vec::new()), nest(2, "$.y[*]", Vec::new())];
        let mut shown = Shown { at: vec![None; 3], ..Shown::default() };
        let found = for_each_row(Node::of(&document), &nest(0, "$[*]", inner), &mut shown);
        assert!(found.expect("rows"));
        assert_eq!(shown.rows, ["11-", "12-", "1-1", "2-1", "3--"]);
    }
}
