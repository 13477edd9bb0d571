//! Random conditions over columns that are in scope. Main types: [`Reference`], [`Scope`].

use crate::random::Random;
use crate::tables::{Table, literal};

/// Something that has a value in each row.
#[derive(Clone, Debug)]
pub struct Reference {
    /// As SQL.
    pub text: String,
    /// See [`Column::family`](crate::tables::Column::family).
    pub family: char,
    /// See [`Column::collation`](crate::tables::Column::collation).
    pub collation: &'static str,
    /// Whether it may be NULL.
    pub nullable: bool,
}

/// What conditions may be about.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Columns.
    pub columns: Vec<Reference>,
}

const OPERATORS: [&str; 8] = ["=", "=", "<", ">", "<=", ">=", "<>", "<=>"];

impl Scope {
    /// The columns of a table under an alias.
    pub fn of(alias: &str, table: &Table) -> Scope {
        let reference = |column: &crate::tables::Column| Reference {
            text: format!("{alias}.{}", column.name),
            family: column.family(),
            collation: column.collation(),
            nullable: column.nullable,
        };
        Scope { columns: table.columns.iter().map(reference).collect() }
    }

    /// Those of both.
    pub fn and(mut self, other: Scope) -> Scope {
        self.columns.extend(other.columns);
        self
    }

    /// One column.
    pub fn any(&self, random: &mut Random) -> &Reference {
        random.choose(&self.columns)
    }

    /// One that compares with those of a family; None if there is none.
    pub fn like(&self, random: &mut Random, family: char) -> Option<&Reference> {
        let fitting: Vec<&Reference> =
            self.columns.iter().filter(|one| are_alike(one.family, family)).collect();
        (!fitting.is_empty()).then(|| *random.choose(&fitting))
    }

    /// A comparison of two columns, of this scope and another one.
    pub fn equality(&self, random: &mut Random, other: &Scope) -> String {
        for _ in 0..8 {
            let one = self.any(random);
            if let Some(other) = other.like(random, one.family) {
                let operator = if random.percent(5) { "<=>" } else { "=" };
                return format!("{} {operator} {}", one.text, other.text);
            }
        }
        format!("{} = {}", self.columns[0].text, other.columns[0].text)
    }

    /// A comparison of a column with constants.
    pub fn with_constants(&self, random: &mut Random) -> String {
        let column = self.any(random);
        constant_condition(random, column)
    }

    /// A condition.
    pub fn condition(&self, random: &mut Random, depth: usize) -> String {
        if depth > 0 && random.percent(40) {
            let (left, right) = (self.condition(random, depth - 1), self.condition(random, depth - 1));
            return match random.below(5) {
                0 => format!("NOT ({left})"),
                1 | 2 => format!("({left} AND {right})"),
                _ => format!("({left} OR {right})"),
            };
        }
        let column = self.any(random);
        if random.percent(25)
            && let Some(other) = self.like(random, column.family)
        {
            return format!("{} {} {}", column.text, random.choose(&OPERATORS), other.text);
        }
        constant_condition(random, column)
    }
}

/// Whether values of two families compare without being reported.
pub fn are_alike(one: char, other: char) -> bool {
    let is_number = |family: char| matches!(family, 'i' | 'd' | 'f');
    let is_date = |family: char| matches!(family, 'D' | 'S');
    one == other && one != 'e' || is_number(one) && is_number(other) || is_date(one) && is_date(other)
}

/// A comparison of a column with constants of its family.
pub fn constant_condition(random: &mut Random, column: &Reference) -> String {
    let Reference { text, family, .. } = column;
    // What an ENUM or a YEAR is beside a constant is reported, or is another question by an index.
    if *family == 'e' {
        return format!("{text} IS {}NULL", random.choose(&["", "NOT "]));
    }
    match random.below(10) {
        0..5 => format!("{text} {} {}", random.choose(&OPERATORS), literal(random, *family)),
        5 => format!("{text} BETWEEN {} AND {}", literal(random, *family), literal(random, *family)),
        6 | 7 => {
            let list: Vec<String> = (0..random.between(1, 4)).map(|_| literal(random, *family)).collect();
            let null = if random.percent(10) { ", NULL" } else { "" };
            format!("{text} {} ({}{null})", random.choose(&["IN", "IN", "NOT IN"]), list.join(", "))
        }
        8 if *family == 's' => {
            format!("{text} LIKE {}", random.choose(&["'a%'", "'%b'", "'ab_'", "'A%'", "'b'"]))
        }
        _ => format!("{text} IS {}NULL", random.choose(&["", "NOT "])),
    }
}
