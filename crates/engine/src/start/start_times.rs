//! [`StartTimes`]: what a start took, part by part, for the error log.

use buffer::RecoveryReport;
use std::time::Duration;

/// A start that applies less log, and takes less time, is not worth a line.
const LOG_BYTES_MIN: u64 = 16 << 20;
const TIME_MIN: Duration = Duration::from_secs(1);

/// What a start took.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartTimes {
    pub(crate) pool: RecoveryReport,
    /// Finding out what is unfinished.
    pub(crate) undo: Duration,
    /// Rolling back what is unfinished of the dictionary, and reading it.
    pub(crate) dictionary: Duration,
    /// Bringing files and tables together.
    pub(crate) tables: Duration,
}

impl StartTimes {
    /// The line for the error log, if the start is worth one.
    pub(crate) fn notes(&self) -> Option<String> {
        let RecoveryReport { log_bytes, check_time, files_time, apply_time, lanes, passes, pages_changed } =
            self.pool;
        let others = self.undo + self.dictionary + self.tables;
        if log_bytes < LOG_BYTES_MIN && check_time + files_time + apply_time + others < TIME_MIN {
            return None;
        }
        let seconds = |time: Duration| format!("{:.2} s", time.as_secs_f64());
        Some(format!(
            "Recovery: {:.1} MiB of log checked in {}, data files opened in {}, log applied in {} ({passes} passes, {lanes} lanes, \
             {pages_changed} changes of pages); unfinished transactions found in {}, dictionary read in {}, tables opened in {}.",
            log_bytes as f64 / f64::from(1 << 20),
            seconds(check_time),
            seconds(files_time),
            seconds(apply_time),
            seconds(self.undo),
            seconds(self.dictionary),
            seconds(self.tables),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_start_that_is_short_has_no_line() {
        let pool = RecoveryReport {
            log_bytes: 20 << 20,
            lanes: 8,
            passes: 2,
            pages_changed: 30,
            ..RecoveryReport::default()
        };
        let mut times = StartTimes {
            pool,
            undo: Duration::from_millis(10),
            dictionary: Duration::from_millis(1500),
            tables: Duration::ZERO,
        };
        let line = "Recovery: 20.0 MiB of log checked in 0.00 s, data files opened in 0.00 s, log applied in 0.00 s (2 passes, 8 lanes, \
                    30 changes of pages); unfinished transactions found in 0.01 s, dictionary read in 1.50 s, tables opened in 0.00 s.";
        assert_eq!(times.notes().as_deref(), Some(line));
        times.pool.log_bytes = 0;
        assert!(times.notes().is_some());
        times.dictionary = Duration::ZERO;
        assert_eq!(times.notes(), None);
    }
}
