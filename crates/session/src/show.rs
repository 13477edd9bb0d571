//! SHOW, DESCRIBE and COM_FIELD_LIST: what the session lends to `sysviews`, and the answer.

use crate::session::Session;
use errors::{SqlResult, sql_error};
use instance::{Command, StatementSettings};
use parser::ast::{Limit, ObjectName, Show, ShowFilter};
use sysviews::{Listing, Showing, overlay_query};
use values::Value;
use wire::result::{ClientChannel, ResultColumn, ResultSink};

impl Session {
    /// SHOW.
    pub(crate) fn show(&mut self, show: &Show, channel: &mut dyn ClientChannel) -> SqlResult<()> {
        let limit = match show {
            Show::Warnings { limit: Some(limit) } | Show::Errors { limit: Some(limit) } => {
                self.shown_rows(limit)?
            }
            _ => (0, u64::MAX),
        };
        let (listing, filter) = self.showing(limit).listing(show)?;
        self.send_listing(listing, &filter, channel)
    }

    /// DESCRIBE table [column or pattern].
    pub(crate) fn describe_table(
        &mut self,
        table: &ObjectName,
        column: Option<&[u8]>,
        channel: &mut dyn ClientChannel,
    ) -> SqlResult<()> {
        let filter = column.map_or(ShowFilter::None, |pattern| ShowFilter::Like(pattern.to_vec()));
        let listing = self.showing((0, u64::MAX)).describe(table)?;
        self.send_listing(listing, &filter, channel)
    }

    /// COM_FIELD_LIST: the columns of a table whose names match `pattern` (all if empty), with their defaults as text.
    pub fn field_list(
        &mut self,
        table: &[u8],
        pattern: &[u8],
    ) -> SqlResult<Vec<(ResultColumn, Option<Vec<u8>>)>> {
        self.begin_command(Command::FieldList);
        self.start_statement(false);
        let allowed = self.check_expired_password(false);
        let outcome = allowed.and_then(|()| self.showing((0, u64::MAX)).fields(table, pattern));
        if let Err(error) = &outcome {
            self.diagnostics.push(errors::Level::Error, error.clone());
        }
        self.end_command();
        outcome
    }

    fn showing(&mut self, limit: (u64, u64)) -> Showing<'_> {
        let settings = self.settings.get_or_init(|| StatementSettings::of(&self.settings_source()));
        Showing {
            instance: &self.instance,
            shared: &self.shared,
            user: &mut self.user,
            variables: &self.state.variables,
            settings,
            schema: self.schema.as_deref(),
            diagnostics: &self.diagnostics,
            counts: (self.state.numbers.warning_count, self.state.numbers.error_count),
            locks: &mut self.locks,
            limit,
        }
    }

    fn shown_rows(&mut self, limit: &Limit) -> SqlResult<(u64, u64)> {
        let offset = limit.offset.as_ref().map(|offset| self.row_number(offset)).transpose()?;
        Ok((offset.unwrap_or(0), self.row_number(&limit.count)?))
    }

    fn row_number(&mut self, expression: &parser::ast::Expression) -> SqlResult<u64> {
        match self.evaluate(expression)?.value {
            Value::Int(number) => Ok(number.max(0) as u64),
            Value::UInt(number) => Ok(number),
            _ => Err(sql_error!(ER_WRONG_ARGUMENTS, "LIMIT")),
        }
    }

    fn send_listing(
        &mut self,
        mut listing: Listing,
        filter: &ShowFilter,
        sink: &mut dyn ResultSink,
    ) -> SqlResult<()> {
        match filter {
            ShowFilter::None => {}
            ShowFilter::Like(pattern) => {
                listing.keep_like(&self.connection_collation().charset().to_string_lossy(pattern));
            }
            ShowFilter::Where(condition) => {
                listing.rows = self.collect(&overlay_query(condition), Some(listing.overlay()))?.1;
            }
        }
        self.send_rows(&listing.columns, &listing.rows, sink)
    }
}
