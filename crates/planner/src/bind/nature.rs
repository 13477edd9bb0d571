//! What a statement does that decides how its plan may be used. Main type: [`Nature`].

/// What was found of it so far.
#[derive(Default)]
pub(crate) struct Nature {
    /// Whether the plan depends on things that may change without a change of the dictionary epoch.
    pub volatile: bool,
    /// It reads more than tables, parameters, the clock and what is set, or locks what it reads.
    pub reads_elsewhere: bool,
    /// How many of its functions read the clock.
    pub clock_calls: usize,
    /// It calls stored functions.
    pub calls_routines: bool,
    /// Whether the statement assigns user variables.
    pub assigns: bool,
    /// Numbers of the subqueries in FROM that do.
    pub assigning: Vec<u32>,
    /// How many elements its conditions look for in multi-valued indexes.
    pub elements_asked: usize,
    /// Whether the query that is being bound must run again for each row that asks for it: it uses user variables, or
    /// functions that differ from call to call.
    pub repeats: bool,
}
