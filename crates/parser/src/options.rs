//! What the session's sql_mode changes in the lexer and the parser. Main type: [`ParseOptions`].

/// The parts of sql_mode that change how text is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// ANSI_QUOTES: `"` quotes names, not strings.
    pub ansi_quotes: bool,
    /// PIPES_AS_CONCAT: `||` concatenates.
    pub pipes_as_concat: bool,
    /// NO_BACKSLASH_ESCAPES: `\` is an ordinary character.
    pub no_backslash_escapes: bool,
    /// HIGH_NOT_PRECEDENCE: NOT binds as tightly as `!`.
    pub high_not_precedence: bool,
    /// IGNORE_SPACE: blanks may stand between a function's name and its parenthesis.
    pub ignore_space: bool,
}

/// The version that `/*!version .. */` comments are compared with: 9.7.4 as MySQL writes it.
pub const VERSION_NUMBER: u32 = 90_704;

/// Levels of nesting that the parser follows before it gives error 1436. With 3.5 KiB of stack a level (a derived
/// table, which is four levels, takes 14 KiB) that is 1 MiB, half of the smallest stack that a server thread has.
pub const NESTING_MAX: u32 = 300;

/// Levels of an expression tree, chains of operators included: later passes recurse over them.
pub const TREE_DEPTH_MAX: u32 = 1000;
