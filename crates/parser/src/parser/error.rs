//! What the parser refuses: syntax errors with the text where they are, and nesting that is too deep.

use super::*;

/// Stack of one level of nesting, measured in a build with opt-level 1: error 1436 names it.
const LEVEL_STACK_BYTES: u32 = 3584;

impl Parser<'_> {
    /// Runs a step that may recurse, and refuses to nest deeper than the stack allows.
    pub(super) fn nested<T>(&mut self, step: impl FnOnce(&mut Self) -> SqlResult<T>) -> SqlResult<T> {
        if self.nesting >= NESTING_MAX {
            return Err(too_deep());
        }
        self.nesting += 1;
        let result = step(self);
        self.nesting -= 1;
        result
    }

    /// Notes that an expression of this many levels was built.
    pub(super) fn set_depth(&mut self, depth: u32) -> SqlResult<()> {
        self.depth = depth;
        if depth > TREE_DEPTH_MAX { Err(too_deep()) } else { Ok(()) }
    }

    /// The syntax error at the current token.
    pub(super) fn fail<T>(&self) -> SqlResult<T> {
        Err(self.syntax_error_at(self.token()))
    }

    pub(super) fn syntax_error_at(&self, token: Token) -> SqlError {
        syntax_error(self.source, token.start as usize, self.options)
    }
}

/// Error 1064 for the token that starts at that byte.
pub(crate) fn syntax_error(source: &[u8], start: usize, options: ParseOptions) -> SqlError {
    parse_error(errors::code::ER_SYNTAX_ERROR.format, source, start, options)
}

/// Error 1064 that says what is wrong at that byte.
pub(super) fn parse_error(what: &str, source: &[u8], start: usize, options: ParseOptions) -> SqlError {
    let near = options.shown(&source[start..]);
    let line = 1 + source[..start].iter().filter(|&&byte| byte == b'\n').count();
    sql_error!(ER_PARSE_ERROR, what, near, line)
}

pub(super) fn too_deep() -> SqlError {
    let bytes = NESTING_MAX * LEVEL_STACK_BYTES;
    sql_error!(ER_STACK_OVERRUN_NEED_MORE, bytes, bytes, LEVEL_STACK_BYTES)
}
