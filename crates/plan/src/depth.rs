//! How deep queries may lie in each other. The parser bounds the depth of one text; a common table is a text of its own
//! that is entered at the place where it is named, so that passes which follow names ask here at each step.
//! Main functions: [`check_depth`], [`check_set_operation_depth`].

use errors::{SqlResult, sql_error};

/// Deepest nesting of query blocks.
const BLOCK_DEPTH_MAX: usize = 64;

/// Stack of a server's thread.
const STACK_BYTES: usize = 2 << 20;

/// What of it is left where a further query is entered: enough for what lies between two queries, which the parser
/// bounds to that much.
const STACK_BYTES_LEFT: usize = 1 << 20;

/// Errors: 1473 for more than that many query blocks, 1436 when the stack is used up by what lies between them.
pub fn check_depth(blocks: usize) -> SqlResult<()> {
    if blocks > BLOCK_DEPTH_MAX {
        return Err(sql_error!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, BLOCK_DEPTH_MAX));
    }
    check_stack()
}

/// Most set operations of other types that one may have to its left: text has room for more than the stack has.
const SET_OPERATION_DEPTH_MAX: usize = 16;

/// Error 1473 for more set operations than that, each of which is an operand of the next.
pub fn check_set_operation_depth(operations: usize) -> SqlResult<()> {
    if operations > SET_OPERATION_DEPTH_MAX {
        return Err(sql_error!(ER_TOO_HIGH_LEVEL_OF_NESTING_FOR_SELECT, SET_OPERATION_DEPTH_MAX));
    }
    Ok(())
}

/// Error 1436 when the stack is used up: asked wherever a query is entered, or a program within a statement.
pub fn check_stack() -> SqlResult<()> {
    let used = stdx::stack::bytes_used();
    if used > STACK_BYTES - STACK_BYTES_LEFT {
        return Err(sql_error!(ER_STACK_OVERRUN_NEED_MORE, used, STACK_BYTES, STACK_BYTES_LEFT));
    }
    Ok(())
}
