//! Options of a table that change nothing and are told again: SHOW CREATE TABLE and information_schema.TABLES have an order each.
//! Main function: [`ordered_options`].

/// Those of the options that are named, in the order of the names.
pub(crate) fn ordered_options<'o>(
    options: &'o [(String, String)],
    names: &'o [&str],
) -> impl Iterator<Item = (&'o str, &'o str)> {
    let found = |wanted: &&str| options.iter().find(|(name, _)| name == wanted);
    names.iter().filter_map(found).map(|(name, value)| (name.as_str(), value.as_str()))
}
