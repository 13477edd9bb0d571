//! XA: transactions that another program coordinates.

use crate::parser::*;
use Keyword as K;

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
    let global = parser.string_or_bytes()?;
    let branch = if parser.accept_comma() { parser.string_or_bytes()? } else { Vec::new() };
    let format = if parser.accept_comma() { parser.number()? } else { 1 };
    Ok(Xid { global, branch, format })
}
