//! What COM_STMT_SEND_LONG_DATA has sent for a statement's parameters. Main type: [`LongData`]. Thread rules: the session's.

use errors::{SqlResult, sql_error};
use exec::{SPOOL_PIECE_BYTES, Spool};
use std::sync::Arc;
use txn::SpillFile;

/// The most that max_allowed_packet can be. Where it is that, a value may be as long as its column takes: nothing else could send one.
const PACKET_BYTES_MAX: usize = 1 << 30;

const TOO_LONG: &str = "Parameter of prepared statement which is set through mysql_send_long_data() is longer than \
    'max_allowed_packet' bytes";

/// The values, by parameter.
#[derive(Debug, Default)]
pub(crate) struct LongData(Vec<Option<Box<Spool>>>);

impl LongData {
    /// Adds a piece of a parameter's value. What stays in memory is charged. Errors: 1105 for a value longer than max_allowed_packet,
    /// 1210, 3170, 1114 for a full disk.
    pub fn append(
        &mut self,
        sent: &mut [bool],
        parameter: usize,
        piece: &[u8],
        file: &Arc<SpillFile>,
        packet_bytes_max: usize,
        charge: impl FnOnce(u64) -> SqlResult<()>,
    ) -> SqlResult<()> {
        let Some(is_sent) = sent.get_mut(parameter) else {
            return Err(sql_error!(ER_WRONG_ARGUMENTS, "mysql_stmt_precheck"));
        };
        *is_sent = true;
        if self.0.len() <= parameter {
            self.0.resize_with(parameter + 1, || None);
        }
        let spool = self.0[parameter].get_or_insert_with(|| Box::new(Spool::new(file)));
        let bytes_max = match packet_bytes_max {
            PACKET_BYTES_MAX.. => u64::from(u32::MAX),
            bytes_max => bytes_max as u64,
        };
        if spool.len() + piece.len() as u64 > bytes_max {
            return Err(errors::code::ER_UNKNOWN_ERROR.message(TOO_LONG));
        }
        let room = (SPOOL_PIECE_BYTES as u64).saturating_sub(spool.len());
        charge(room.min(piece.len() as u64))?;
        spool.append(piece)
    }

    /// Forgets all of it.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Hands the values over. Those that are too long for memory are left apart.
    pub fn take(&mut self) -> Vec<Option<Result<Vec<u8>, Spool>>> {
        std::mem::take(&mut self.0).into_iter().map(|spool| spool.map(|spool| spool.into_memory())).collect()
    }
}
