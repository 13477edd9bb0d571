//! What USE, FORCE and IGNORE INDEX, and hints of comments, leave of a table's indexes. Main type: [`IndexLimits`].

/// The indexes of a table that are not to be used, by their names.
#[derive(Clone, Debug, Default)]
pub struct IndexLimits {
    /// Those that do not find rows.
    pub not_for_join: Vec<String>,
    /// Those that do not give the order of ORDER BY.
    pub not_for_order: Vec<String>,
    /// Those that do not give the order of GROUP BY.
    pub not_for_groups: Vec<String>,
    /// Whether the whole table is read only where no index is used.
    pub forces: bool,
}

impl IndexLimits {
    /// Whether an index may find rows.
    pub fn allows_for_join(&self, name: &str) -> bool {
        !self.not_for_join.iter().any(|refused| refused == name)
    }

    /// Whether an index may give the order of ORDER BY, or of GROUP BY.
    pub(crate) fn allows_for_order(&self, name: &str, for_groups: bool) -> bool {
        let refused = if for_groups { &self.not_for_groups } else { &self.not_for_order };
        !refused.iter().any(|refused| refused == name)
    }
}
