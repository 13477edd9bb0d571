//! The numbers of rows and of peers: RANK and its like. Main type: [`Peers`].

/// Where the row at hand is among the peers of its partition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Peers {
    /// The number of the first of its peers, from 0.
    pub start: u64,
    /// How many groups of peers there are up to it.
    pub group: u64,
}

impl Peers {
    /// Goes on to the row of that number.
    pub fn go_on(&mut self, row: u64, begins: bool) {
        if begins {
            self.start = row;
            self.group += 1;
        }
    }

    pub fn percent_rank(self, rows: u64) -> f64 {
        if rows <= 1 { 0.0 } else { self.start as f64 / (rows - 1) as f64 }
    }
}

/// The bucket, from 1, of a row among so many: the first buckets have one row more where they cannot all have as many.
pub(crate) fn bucket(row: u64, rows: u64, buckets: u64) -> u64 {
    let (rows_each, longer) = (rows / buckets, rows % buckets);
    let in_longer = u128::from(longer) * (u128::from(rows_each) + 1);
    if u128::from(row) < in_longer {
        row / (rows_each + 1) + 1
    } else {
        let behind = row - in_longer as u64;
        longer + behind / rows_each + 1
    }
}

#[cfg(test)]
mod tests {
    use super::bucket;

    #[test]
    fn buckets_differ_by_one_row_and_the_first_are_longer() {
        let buckets = |rows, count| (0..rows).map(|row| bucket(row, rows, count)).collect::<Vec<_>>();
        assert_eq!(buckets(5, 2), [1, 1, 1, 2, 2]);
        assert_eq!(buckets(4, 2), [1, 1, 2, 2]);
        assert_eq!(buckets(3, 5), [1, 2, 3]);
        assert_eq!(buckets(7, 3), [1, 1, 1, 2, 2, 3, 3]);
        assert_eq!(bucket(u64::MAX - 1, u64::MAX, 1), 1);
    }
}
