//! What the session's sql_mode and character sets change in the lexer and the parser. Main type: [`ParseOptions`].

use charset::{Charset, CollationId};

/// The parts of sql_mode that change how text is read, and what its bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ParseOptions {
    /// Any collation of the text's character set. Names are turned to UTF-8.
    pub client: CollationId,
    /// Any collation of the character set that literals without introducer are turned to.
    pub connection: CollationId,
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
    /// parser_max_mem_size: what the tokens, the tree and the plan of a statement may take, by [`TOKEN_BYTES`](crate::TOKEN_BYTES).
    pub memory_bytes_max: u64,
}

impl Default for ParseOptions {
    fn default() -> ParseOptions {
        ParseOptions {
            client: CollationId::UTF8MB4_0900_AI_CI,
            connection: CollationId::UTF8MB4_0900_AI_CI,
            ansi_quotes: false,
            pipes_as_concat: false,
            no_backslash_escapes: false,
            high_not_precedence: false,
            ignore_space: false,
            memory_bytes_max: u64::MAX,
        }
    }
}

impl ParseOptions {
    /// The text's character set where a byte of a character may look like ASCII (quotes, backslash).
    pub(crate) fn masking_charset(&self) -> Option<&'static Charset> {
        if self.client == CollationId::UTF8MB4_0900_AI_CI {
            return None;
        }
        Some(self.client.charset()).filter(|charset| charset.masks_ascii())
    }

    /// Whether the text's bytes beyond ASCII are not UTF-8.
    fn converts(&self) -> bool {
        self.client != CollationId::UTF8MB4_0900_AI_CI
            && !matches!(self.client.charset().name, "utf8mb4" | "utf8mb3" | "binary")
    }

    /// Bytes of the text as UTF-8.
    pub(crate) fn to_utf8(self, bytes: Vec<u8>) -> Vec<u8> {
        if !self.converts() || bytes.is_ascii() {
            return bytes;
        }
        self.client.charset().convert(&bytes, CollationId::UTF8MB4_BIN.charset()).text
    }

    /// Bytes of a name as UTF-8. From utf8mb4 names are converted to utf8mb3, in which MySQL keeps them: what that does
    /// not hold becomes '?'.
    pub(crate) fn name(self, bytes: Vec<u8>) -> Vec<u8> {
        match self.client.charset().name {
            _ if bytes.is_ascii() => bytes,
            "utf8mb4" => {
                self.client.charset().convert(&bytes, CollationId::UTF8MB3_GENERAL_CI.charset()).text
            }
            _ => self.to_utf8(bytes),
        }
    }

    /// Bytes of a literal without introducer in the connection's character set.
    pub(crate) fn to_connection(self, bytes: Vec<u8>) -> Vec<u8> {
        if self.client == self.connection {
            return bytes;
        }
        let (client, connection) = (self.client.charset(), self.connection.charset());
        if client.name == connection.name || client.is_binary() || connection.is_binary() {
            return bytes;
        }
        client.convert(&bytes, connection).text
    }

    /// Text of the source for messages and column names.
    pub(crate) fn shown(self, bytes: &[u8]) -> String {
        String::from_utf8_lossy(&self.name(bytes.to_vec())).into_owned()
    }
}

/// Bytes of the character at the start of a text that is not empty.
pub(crate) fn character_length(charset: &Charset, text: &[u8]) -> usize {
    charset.characters(text).next().map_or(1, |step| step.length)
}

/// The version that `/*!version .. */` comments are compared with: 9.7.4 as MySQL writes it.
pub const VERSION_NUMBER: u32 = 90_704;

/// Levels of nesting that the parser follows before it gives error 1436. With 3.5 KiB of stack a level (a derived
/// table, which is four levels, takes 14 KiB) that is 1 MiB, half of the smallest stack that a server thread has.
pub const NESTING_MAX: u32 = 300;

/// Levels of an expression tree, chains of operators included: later passes recurse over them.
pub const TREE_DEPTH_MAX: u32 = 1000;
