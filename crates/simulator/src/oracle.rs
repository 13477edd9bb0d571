//! [`Oracle`]: what a workload has committed and what it was promised. After a crash the database must be in the
//! state after one of its commits, none older than the last acknowledged one.

/// States after each commit, oldest first.
#[derive(Clone, Debug)]
pub struct Oracle<S> {
    states: Vec<S>,
    acknowledged: usize,
}

impl<S: Clone + PartialEq> Oracle<S> {
    /// An oracle whose database starts out in a state that needs no promise.
    pub fn new(initial: S) -> Self {
        Self { states: vec![initial], acknowledged: 0 }
    }

    /// The state after the last commit.
    pub fn current(&self) -> &S {
        &self.states[self.states.len() - 1]
    }

    /// A change is about to be committed: from now on the database may be found in `state`.
    pub fn commit(&mut self, state: S) {
        self.states.push(state);
    }

    /// The last commit failed without a crash and is rolled back: the database can not be found in its state.
    pub fn retract(&mut self) {
        self.states.pop();
    }

    /// Everything committed so far was acknowledged: the database must not be found in an older state.
    pub fn acknowledge(&mut self) {
        self.acknowledged = self.states.len() - 1;
    }

    /// Commits so far.
    pub fn commits(&self) -> usize {
        self.states.len() - 1
    }

    /// Which commit the state that was found belongs to.
    pub fn judge(&self, found: &S) -> Result<usize, String> {
        let allowed = &self.states[self.acknowledged..];
        if let Some(at) = allowed.iter().rposition(|state| state == found) {
            return Ok(self.acknowledged + at);
        }
        match self.states.iter().rposition(|state| state == found) {
            Some(at) => Err(format!("commit {} of {} acknowledged is lost", at + 1, self.acknowledged)),
            None => Err(format!("state belongs to no commit ({} acknowledged)", self.acknowledged)),
        }
    }

    /// The acknowledged state, to describe what differs.
    pub fn acknowledged(&self) -> &S {
        &self.states[self.acknowledged]
    }
}

#[cfg(test)]
mod tests {
    use super::Oracle;

    #[test]
    fn states_before_the_acknowledged_one_are_losses() {
        let mut oracle = Oracle::new(0);
        oracle.commit(1);
        oracle.acknowledge();
        oracle.commit(2);
        assert!(oracle.judge(&0).is_err());
        assert_eq!(oracle.judge(&1), Ok(1));
        assert_eq!(oracle.judge(&2), Ok(2));
        assert!(oracle.judge(&3).is_err());
    }
}
