//! What functions read that are none of their arguments alone. Main function: [`reads_of`].

use crate::find;

/// What a call reads beside its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Nothing.
    Nothing,
    /// Variables of the session and its default schema.
    Settings,
    /// When the statement began, and settings.
    Clock,
    /// Anything: the session, other connections, files, chance, the moment of the call; or it changes something.
    Anything,
}

/// What a call of a function with so many arguments reads. A name that is none of a built-in function's reads anything.
pub fn reads_of(name: &str, arguments: usize) -> Reads {
    match name {
        "now" | "current_timestamp" | "localtime" | "localtimestamp" | "utc_timestamp" | "curdate"
        | "current_date" | "utc_date" | "curtime" | "current_time" | "utc_time" => Reads::Clock,
        "unix_timestamp" if arguments == 0 => Reads::Clock,
        "database" | "schema" | "dayname" | "monthname" | "week" | "date_format" | "time_format"
        | "str_to_date" | "from_unixtime" | "unix_timestamp" => Reads::Settings,
        _ => match find(name) {
            Some(definition) if definition.pure => Reads::Nothing,
            _ => Reads::Anything,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names;

    #[test]
    fn what_is_pure_reads_nothing_and_what_is_named_is_there() {
        for definition in names().filter_map(find) {
            let reads = reads_of(definition.name, definition.arguments_max);
            assert_eq!(definition.pure, reads == Reads::Nothing, "{}", definition.name);
        }
        assert_eq!(reads_of("now", 0), Reads::Clock);
        assert_eq!(reads_of("sysdate", 0), Reads::Anything);
        assert_eq!(reads_of("rand", 1), Reads::Anything);
        assert_eq!(reads_of("unix_timestamp", 1), Reads::Settings);
        assert_eq!(reads_of("no_such_function", 0), Reads::Anything);
    }
}
