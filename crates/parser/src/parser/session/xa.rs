//! XA: transactions that another program coordinates.

use crate::parser::*;
use Keyword as K;

/// Bytes of the global and of the branch part of a name.
const PART_BYTES_MAX: usize = 64;

pub(crate) fn xa(parser: &mut Parser) -> SqlResult<Xa> {
    let words = [K::Start, K::Begin, K::End, K::Prepare, K::Commit, K::Rollback, K::Recover];
    Ok(match parser.expect_any(&words)? {
        K::Start | K::Begin => {
            let xid = xid(parser)?;
            let word = parser.accept_any(&[K::Join, K::Resume]);
            Xa::Start { xid, join: word == Some(K::Join), resume: word == Some(K::Resume) }
        }
        K::End => {
            let xid = xid(parser)?;
            let suspend = parser.accept(K::Suspend);
            let for_migrate = suspend && parser.accept(K::For);
            if for_migrate {
                parser.expect(K::Migrate)?;
            }
            Xa::End { xid, suspend, for_migrate }
        }
        K::Prepare => Xa::Prepare(xid(parser)?),
        K::Commit => {
            let xid = xid(parser)?;
            let one_phase = parser.accept(K::One);
            if one_phase {
                parser.expect(K::Phase)?;
            }
            Xa::Commit { xid, one_phase }
        }
        K::Rollback => Xa::Rollback(xid(parser)?),
        _ => {
            let convert_xid = parser.accept(K::Convert);
            if convert_xid {
                parser.expect(K::Xid)?;
            }
            Xa::Recover { convert_xid }
        }
    })
}

fn xid(parser: &mut Parser) -> SqlResult<Xid> {
    let global = part(parser)?;
    let has_branch = parser.accept_comma();
    let branch = if has_branch { part(parser)? } else { Vec::new() };
    let mut format = 1;
    if has_branch && parser.accept_comma() {
        let token = parser.token();
        format = parser.number()?;
        if format > i64::MAX as u64 {
            return Err(parser.syntax_error_at(token));
        }
    }
    Ok(Xid { format, global, branch })
}

/// Of at most 64 bytes: names are bytes, which the server compares and gives back as they are.
fn part(parser: &mut Parser) -> SqlResult<Vec<u8>> {
    let part = parser.written_bytes()?;
    if part.len() > PART_BYTES_MAX { parser.fail() } else { Ok(part) }
}
