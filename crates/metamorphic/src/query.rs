//! A query in parts, so that it can be asked in other ways and be cut. Main type: [`Query`].

use std::fmt::Write as _;

/// An aggregate over rows.
#[derive(Clone, Debug)]
pub struct Aggregate {
    /// COUNT, SUM, MIN, ..
    pub function: &'static str,
    /// DISTINCT.
    pub distinct: bool,
    /// Its argument; `*` counts rows.
    pub argument: String,
}

/// A SELECT.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// WITH.
    pub with: String,
    /// What is computed of rows, or of groups the values that make them.
    pub items: Vec<String>,
    /// DISTINCT.
    pub distinct: bool,
    /// FROM.
    pub from: String,
    /// WHERE: all of them.
    pub conditions: Vec<String>,
    /// Whether it groups by `items`.
    pub groups: bool,
    /// What is computed of groups.
    pub aggregates: Vec<Aggregate>,
    /// ORDER BY: numbers of items, and whether they descend. Together they tell every row from the others.
    pub order: Vec<(usize, bool)>,
    /// LIMIT and OFFSET.
    pub limit: Option<(usize, usize)>,
    /// Whether a query in FROM puts rows together, so that one of several equal texts stands for all.
    pub reads_groups: bool,
}

impl Aggregate {
    /// As SQL over an argument.
    pub fn over(&self, argument: &str) -> String {
        format!("{}({}{argument})", self.function, if self.distinct { "DISTINCT " } else { "" })
    }

    /// As SQL over its own argument where a condition holds.
    pub fn over_where(&self, condition: &str) -> String {
        let argument = if self.argument == "*" { "1" } else { &self.argument };
        self.over(&format!("IF({condition}, {argument}, NULL)"))
    }

    /// The aggregate that makes one value of those of parts; None if there is none.
    pub fn of_parts(&self) -> Option<&'static str> {
        match self.function {
            _ if self.distinct => None,
            "COUNT" | "SUM" => Some("SUM"),
            "MIN" | "MAX" => Some(self.function),
            _ => None,
        }
    }
}

/// Conditions as one.
pub fn all_of(conditions: &[String]) -> String {
    match conditions {
        [] => "TRUE".to_owned(),
        [one] => one.clone(),
        several => format!("({})", several.join(") AND (")),
    }
}

impl Query {
    /// Whether rows come out that stand for several.
    pub fn puts_together(&self) -> bool {
        self.distinct || self.groups || !self.aggregates.is_empty()
    }

    /// All that is shown, under names `x0`, `x1`, ..
    fn shown(&self) -> String {
        let own = self.aggregates.iter().map(|one| one.over(&one.argument));
        named(self.items.iter().cloned().chain(own))
    }

    /// The statement.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}SELECT {}{} FROM {}",
            self.with,
            if self.distinct { "DISTINCT " } else { "" },
            self.shown(),
            self.from
        );
        if !self.conditions.is_empty() {
            let _ = write!(text, " WHERE {}", all_of(&self.conditions));
        }
        if self.groups && !self.items.is_empty() {
            let _ = write!(text, " GROUP BY {}", self.items.join(", "));
        }
        self.add_order(&mut text, &|item| self.items[item].clone());
        if let Some((count, offset)) = self.limit {
            let _ = write!(text, " LIMIT {count} OFFSET {offset}");
        }
        text
    }

    fn add_order(&self, text: &mut String, name: &dyn Fn(usize) -> String) {
        if !self.order.is_empty() {
            let key = |(item, descends): &(usize, bool)| {
                format!("{}{}", name(*item), if *descends { " DESC" } else { "" })
            };
            let keys: Vec<String> = self.order.iter().map(key).collect();
            let _ = write!(text, " ORDER BY {}", keys.join(", "));
        }
    }

    /// The same with one condition more.
    pub fn with_condition(&self, condition: String) -> Query {
        let mut query = self.clone();
        query.conditions.push(condition);
        query
    }

    /// The statement that puts partitions of its rows together again, if one statement is needed for it.
    pub fn of_partitions(&self, partitions: &[String; 3]) -> Option<String> {
        if self.limit.is_some() {
            return Some(self.first_of_partitions(partitions));
        }
        self.puts_together().then(|| {
            match self.aggregates.iter().map(Aggregate::of_parts).collect::<Option<Vec<_>>>() {
                Some(functions) => self.groups_of_partitions(partitions, &functions),
                None => self.values_of_partitions(partitions),
            }
        })
    }

    fn first_of_partitions(&self, partitions: &[String; 3]) -> String {
        let Some((count, offset)) = self.limit else { return self.text() };
        let part = |condition: &String| {
            let part = self.with_condition(condition.clone());
            format!("({})", Query { with: String::new(), limit: Some((count + offset, 0)), ..part }.text())
        };
        let parts: Vec<String> = partitions.iter().map(part).collect();
        let mut text = format!("{}SELECT * FROM ({}) parts", self.with, parts.join(" UNION ALL "));
        self.add_order(&mut text, &|item| format!("x{item}"));
        let _ = write!(text, " LIMIT {count} OFFSET {offset}");
        text
    }

    fn groups_of_partitions(&self, partitions: &[String; 3], functions: &[&str]) -> String {
        let part = |condition: &String| {
            let part = self.with_condition(condition.clone());
            Query { with: String::new(), order: Vec::new(), ..part }.text()
        };
        let parts: Vec<String> = partitions.iter().map(part).collect();
        let keys: Vec<String> = (0..self.items.len()).map(|item| format!("x{item}")).collect();
        let merged =
            functions.iter().enumerate().map(|(at, function)| format!("{function}(x{})", keys.len() + at));
        let shown: Vec<String> = keys.iter().cloned().chain(merged).collect();
        let mut text =
            format!("{}SELECT {} FROM ({}) parts", self.with, shown.join(", "), parts.join(" UNION ALL "));
        if !keys.is_empty() {
            let _ = write!(text, " GROUP BY {}", keys.join(", "));
        }
        text
    }

    /// The aggregates over the rows of all partitions.
    fn values_of_partitions(&self, partitions: &[String; 3]) -> String {
        let arguments = self
            .aggregates
            .iter()
            .map(|one| if one.argument == "*" { "1".to_owned() } else { one.argument.clone() });
        let values = named(self.items.iter().cloned().chain(arguments));
        let part = |condition: &String| {
            let conditions = all_of(&self.with_condition(condition.clone()).conditions);
            format!("SELECT {values} FROM {} WHERE {conditions}", self.from)
        };
        let parts: Vec<String> = partitions.iter().map(part).collect();
        let keys: Vec<String> = (0..self.items.len()).map(|item| format!("x{item}")).collect();
        let own =
            self.aggregates.iter().enumerate().map(|(at, one)| one.over(&format!("x{}", keys.len() + at)));
        let shown: Vec<String> = keys.iter().cloned().chain(own).collect();
        let mut text =
            format!("{}SELECT {} FROM ({}) parts", self.with, shown.join(", "), parts.join(" UNION ALL "));
        if !keys.is_empty() {
            let _ = write!(text, " GROUP BY {}", keys.join(", "));
        }
        text
    }

    /// The statement that computes of each row, or each group, whether the conditions hold, instead of asking for them. Its last
    /// column says so; false: nothing says so, its rows are the answer.
    pub fn computed(&self) -> (String, bool) {
        let condition = all_of(&self.conditions);
        if !self.puts_together() {
            let shown = named(self.items.iter().cloned().chain([format!("({condition}) IS TRUE")]));
            let mut text = format!("{}SELECT {shown} FROM {}", self.with, self.from);
            self.add_order(&mut text, &|item| self.items[item].clone());
            return (text, true);
        }
        let own = self.aggregates.iter().map(|one| one.over_where(&condition));
        let shown = named(self.items.iter().cloned().chain(own));
        let mut text = format!("{}SELECT {shown} FROM {}", self.with, self.from);
        if !self.items.is_empty() {
            let keys = self.items.join(", ");
            let _ = write!(text, " GROUP BY {keys} HAVING SUM(({condition}) IS TRUE) > 0");
        }
        self.add_order(&mut text, &|item| self.items[item].clone());
        (text, false)
    }
}

fn named(expressions: impl Iterator<Item = String>) -> String {
    let named: Vec<String> = expressions.enumerate().map(|(at, one)| format!("{one} AS x{at}")).collect();
    named.join(", ")
}
