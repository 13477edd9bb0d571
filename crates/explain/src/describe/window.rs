//! Window functions in MySQL's words: `sum(t.v) OVER (PARTITION BY t.g ORDER BY t.v )`.

use super::{Describer, ROW_COST};
use crate::step::{Estimate, Step, WINDOW_AGGREGATE};
use plan::window::{WindowCall, WindowStep};

impl<'a> Describer<'a> {
    pub(super) fn window(&mut self, step: &'a WindowStep) -> Step {
        let below = self.node(&step.input);
        let buffers = !step.calls.iter().all(|call| step.passes(call));
        let calls: Vec<String> = step.calls.iter().map(|call| self.window_call(step, call)).collect();
        let how = if buffers { " with buffering" } else { "" };
        let estimate =
            Estimate::new(below.estimate.cost + ROW_COST * below.estimate.rows, below.estimate.rows);
        let asked = self.subqueries_of(step.expressions(), "projection");
        Step::costed(format!("{WINDOW_AGGREGATE}{how}: {}", calls.join(", ")), estimate)
            .kind("window")
            .detail("buffering", buffers)
            .detail("functions", calls)
            .reads([below])
            .reads(asked)
    }

    fn window_call(&self, step: &WindowStep, call: &WindowCall) -> String {
        let counts_rows = call.arguments.is_empty() && call.function.uses_frame();
        let arguments = if counts_rows { "0".to_owned() } else { self.list(&call.arguments) };
        let frame = &step.frames[call.frame];
        let mut shown = format!("{}({arguments}) OVER ", call.function.name());
        if frame.is_named {
            shown.push_str(&frame.window);
            return shown;
        }
        shown.push('(');
        if !step.partition.is_empty() {
            shown.push_str(&format!("PARTITION BY {} ", self.list(&step.partition)));
        }
        if !step.order.is_empty() {
            let key = |key: &plan::physical::SortKey| {
                format!("{}{}", self.shown(&key.expression), if key.descending { " desc" } else { "" })
            };
            let keys: Vec<String> = step.order.iter().map(key).collect();
            shown.push_str(&format!("ORDER BY {} ", keys.join(",")));
        }
        shown.push_str(frame.written.as_deref().unwrap_or_default());
        shown.push_str(") ");
        shown
    }
}
