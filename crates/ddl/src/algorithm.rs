//! ALGORITHM and LOCK of ALTER TABLE: what a change takes in MySQL, and what it answers to who asks for less. Main types:
//! [`Asked`], [`Means`]. [`ANSWERS`] is what MySQL 9.7 answered, asked for each kind of change with each algorithm and lock
//! (`tests/sql/ddl/alter_algorithm.test`; in part for functional key parts and VIRTUAL columns, `functional_keys_alter.test` and `copies_reported.test`). The change itself is carried out as `alter_plan` says, whatever was asked for.

use super::alter_plan::{changes_counter, converts_columns, loses_key};
use super::stored_expression::names_such;
use dictionary::{
    ColumnDefault, ColumnDefinition, IndexDefinition, IndexKind, RowFormat, StorageEngine, TableDefinition,
    same_name,
};
use errors::{ErrorCode, SqlResult, code, sql_error};
use parser::ast::{AlterAction, IndexType, TableElement, TableOption};
use stdx::ids::IndexId;
use values::{ColumnType, TypeKind};

/// What a change takes at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Means {
    /// No change but of the table's name.
    Nothing,
    /// A change of the dictionary.
    Instant,
    /// A change beside which rows may be read and written.
    InPlace,
    /// A new AUTO_INCREMENT column: rows may be read beside it.
    AddsCounter,
    /// Values of a column in another form: a copy, as all that follow.
    ChangesType,
    /// NULLs that become zeros.
    TurnsNull,
    /// A table without the key that its rows are ordered by.
    DropsKey,
    /// Such a key that comes to hold NULL.
    KeyTakesNull,
    /// Values that are computed of all rows: those of new columns that rows hold, of other expressions, of another DEFAULT() that expressions
    /// name, and of VIRTUAL columns WITH VALIDATION.
    ComputesValues,
    /// A CHECK constraint that all rows must meet.
    ChecksRows,
    /// A foreign key for which all rows must have parents.
    ChecksParents,
    /// Any change of a temporary table, which nobody else waits for: a copy.
    OfTemporary,
    /// New functional key parts, which MySQL computes while it builds their indexes.
    AddsFunctionalKey,
    /// VIRTUAL columns, those of functional key parts too, that come or go beside other changes.
    MixesVirtualColumns,
    /// What MySQL has no other way for.
    Copies,
}

impl Means {
    /// Whether MySQL copies the rows, and tells how many.
    pub fn copies(self) -> bool {
        use Means as M;
        !matches!(self, M::Nothing | M::Instant | M::InPlace | M::AddsCounter | M::AddsFunctionalKey)
    }
}

/// What MySQL says to a wish.
#[derive(Clone, Copy)]
enum Answer {
    /// It is met.
    Yes,
    /// Error 1845.
    No,
    /// Error 1846 with a reason.
    Because(ErrorCode),
}

use Answer::{Because, No, Yes};

/// What MySQL says to ALGORITHM=INSTANT, ALGORITHM=INPLACE, LOCK=NONE and LOCK=SHARED.
const ANSWERS: &[(Means, [Answer; 4])] = &[
    (Means::Nothing, [Yes, Yes, No, No]),
    (Means::Instant, [Yes, Yes, Yes, Yes]),
    (Means::InPlace, [No, Yes, Yes, Yes]),
    (Means::AddsCounter, [Because(COUNTER), Yes, Because(COUNTER), Yes]),
    (Means::ChangesType, [Because(TYPE_INSTANT), Because(TYPE), Because(TYPE), Yes]),
    (Means::TurnsNull, [Because(NULLS), Because(NULLS), Because(NULLS), Yes]),
    (Means::DropsKey, [Because(NO_KEY), Because(NO_KEY), Because(NO_KEY), Yes]),
    (Means::KeyTakesNull, [Because(NULL_IN_KEY), Because(NULL_IN_KEY), Because(NULL_IN_KEY), Yes]),
    (Means::ComputesValues, [No, No, No, Yes]),
    (Means::ChecksRows, [No, No, Because(COPY), Yes]),
    (Means::ChecksParents, [Because(PARENTS), Because(PARENTS), Because(COPY), Yes]),
    (Means::OfTemporary, [No, No, Yes, Yes]),
    (Means::AddsFunctionalKey, [Because(FUNCTIONAL_KEY), Yes, Because(FUNCTIONAL_KEY), Yes]),
    (Means::MixesVirtualColumns, [Because(MIXED), Because(MIXED), Because(MIXED), Yes]),
    (Means::Copies, [No, No, Because(COPY), Yes]),
];

const COUNTER: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_AUTOINC;
const TYPE_INSTANT: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE_INSTANT;
const TYPE: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COLUMN_TYPE;
const NULLS: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOT_NULL;
const NO_KEY: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_NOPK;
const NULL_IN_KEY: ErrorCode = code::ER_PRIMARY_CANT_HAVE_NULL;
const PARENTS: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_FK_CHECK;
const FUNCTIONAL_KEY: ErrorCode = code::ER_UNSUPPORTED_ALTER_ONLINE_ON_VIRTUAL_COLUMN;
const MIXED: ErrorCode = code::ER_UNSUPPORTED_ALTER_INPLACE_ON_VIRTUAL_COLUMN;
const COPY: ErrorCode = code::ER_ALTER_OPERATION_NOT_SUPPORTED_REASON_COPY;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Algorithm {
    #[default]
    Default,
    Instant,
    InPlace,
    Copy,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Lock {
    #[default]
    Default,
    None,
    Shared,
    Exclusive,
}

/// What a statement asks for.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    algorithm: Algorithm,
    lock: Lock,
    /// WITH VALIDATION.
    pub(super) validates: bool,
}

impl Asked {
    /// Errors 1800, 1801, 1221.
    pub(crate) fn new(algorithm: Option<&str>, lock: Option<&str>) -> SqlResult<Asked> {
        let algorithm = match algorithm.map(str::to_ascii_uppercase).as_deref() {
            None | Some("DEFAULT") => Algorithm::Default,
            Some("INSTANT") => Algorithm::Instant,
            Some("INPLACE") => Algorithm::InPlace,
            Some("COPY") => Algorithm::Copy,
            Some(_) => return Err(sql_error!(ER_UNKNOWN_ALTER_ALGORITHM, algorithm.unwrap_or_default())),
        };
        let lock = match lock.map(str::to_ascii_uppercase).as_deref() {
            None | Some("DEFAULT") => Lock::Default,
            Some("NONE") => Lock::None,
            Some("SHARED") => Lock::Shared,
            Some("EXCLUSIVE") => Lock::Exclusive,
            Some(_) => return Err(sql_error!(ER_UNKNOWN_ALTER_LOCK, lock.unwrap_or_default())),
        };
        if algorithm == Algorithm::Instant && lock != Lock::Default {
            return Err(sql_error!(ER_WRONG_USAGE, "ALGORITHM=INSTANT", "LOCK=NONE/SHARED/EXCLUSIVE"));
        }
        Ok(Asked { algorithm, lock, validates: false })
    }

    /// With WITH VALIDATION (true) or WITHOUT VALIDATION (false). Error 1221 where no column comes or changes.
    pub(crate) fn of_columns(self, validation: Option<bool>, actions: &[AlterAction]) -> SqlResult<Asked> {
        use AlterAction as A;
        let is_of_column = |action: &A| {
            matches!(
                action,
                A::AddColumn { .. } | A::AddElements(_) | A::ChangeColumn { .. } | A::RenameColumn { .. }
            )
        };
        match validation.is_some() && !actions.iter().any(is_of_column) {
            true => Err(sql_error!(ER_WRONG_USAGE, "ALTER", "WITH VALIDATION")),
            false => Ok(Asked { validates: validation == Some(true), ..self }),
        }
    }

    /// Whether rows are to be copied.
    pub(crate) fn copies(&self) -> bool {
        self.algorithm == Algorithm::Copy
    }

    /// Errors 1845, 1846.
    pub(crate) fn check(&self, means: Means) -> SqlResult<()> {
        let [instant, in_place, ..] = answers(means);
        match self.algorithm {
            Algorithm::Instant if matches!(means, Means::Copies | Means::ChecksRows | Means::OfTemporary) => {
                answered(instant, "ALGORITHM=INSTANT", "ALGORITHM=COPY")?;
            }
            Algorithm::Instant => answered(instant, "ALGORITHM=INSTANT", "ALGORITHM=COPY/INPLACE")?,
            Algorithm::InPlace => answered(in_place, "ALGORITHM=INPLACE", "ALGORITHM=COPY")?,
            Algorithm::Default | Algorithm::Copy => {}
        }
        let locked_as = match means {
            Means::OfTemporary => means,
            _ if self.copies() => Means::Copies,
            _ => means,
        };
        let [_, _, unlocked, shared] = answers(locked_as);
        match (self.lock, shared) {
            (Lock::None, Yes) => answered(unlocked, "LOCK=NONE", "LOCK=SHARED"),
            (Lock::None | Lock::Shared, _) => answered(shared, "LOCK=NONE/SHARED", "LOCK=EXCLUSIVE"),
            (Lock::Default | Lock::Exclusive, _) => Ok(()),
        }
    }
}

fn answers(means: Means) -> [Answer; 4] {
    let found = ANSWERS.iter().find(|(known, _)| *known == means);
    found.map_or([Yes; 4], |(_, answers)| *answers)
}

fn answered(answer: Answer, wish: &str, instead: &str) -> SqlResult<()> {
    match answer {
        Yes => Ok(()),
        No => Err(sql_error!(ER_ALTER_OPERATION_NOT_SUPPORTED, wish, instead)),
        Because(reason) => {
            Err(sql_error!(ER_ALTER_OPERATION_NOT_SUPPORTED_REASON, wish, reason.format, instead))
        }
    }
}

/// A change from one definition to another.
pub(super) struct Change<'a> {
    /// What the statement says.
    pub actions: &'a [AlterAction],
    /// The table before.
    pub old: &'a TableDefinition,
    /// The table after.
    pub new: &'a TableDefinition,
    /// For each new column its place in the old table.
    pub sources: &'a [Option<usize>],
    /// Whether NULLs become zeros.
    pub turns_null: bool,
    /// Whether all rows must have parents by a new foreign key.
    pub checks_parents: bool,
    /// Whether it is said that VIRTUAL columns are to be computed.
    pub validates: bool,
}

impl Change<'_> {
    /// What it takes in MySQL.
    pub fn means(&self) -> Means {
        use AlterAction as A;
        let is_idle = |action: &A| matches!(action, A::RenameTable(_) | A::EnableKeys | A::DisableKeys);
        let copies = |action: &A| matches!(action, A::EnableKeys | A::DisableKeys | A::OrderBy(_));
        let (old, new) = (self.old, self.new);
        if self.actions.iter().all(is_idle) {
            Means::Nothing
        } else if self.actions.iter().any(copies) || self.is_of_copied_engine() && self.changes_storage() {
            Means::Copies
        } else if self.checks_parents {
            Means::ChecksParents
        } else if self.adds_enforced_check() {
            Means::ChecksRows
        } else if self.validates {
            Means::ComputesValues
        } else if converts_columns(old, new, self.sources) || changes_counter(old, new, self.sources) {
            Means::ChangesType
        } else if self.computes_kept_values() || self.changes_virtual_columns() {
            Means::ComputesValues
        } else if self.mixes_virtual_columns() {
            Means::MixesVirtualColumns
        } else if let Some(means) = self.means_of_key_parts() {
            means
        } else if self.turns_null {
            Means::TurnsNull
        } else if loses_key(old, new) {
            if self.has_all_indexes() { Means::KeyTakesNull } else { Means::DropsKey }
        } else if self.fresh().any(|column| column.auto_increment) {
            Means::AddsCounter
        } else if self.is_instant() {
            Means::Instant
        } else {
            Means::InPlace
        }
    }

    /// Whether the rows are, or will be, of an engine that MySQL changes by a copy alone.
    fn is_of_copied_engine(&self) -> bool {
        self.old.options.engine != StorageEngine::InnoDb || self.new.options.engine != StorageEngine::InnoDb
    }

    /// Whether more changes than names, defaults and comments.
    fn changes_storage(&self) -> bool {
        let forces = |action: &AlterAction| match action {
            AlterAction::Force => true,
            AlterAction::Options(options) => {
                options.iter().any(|option| matches!(option, TableOption::Engine(_)))
            }
            _ => false,
        };
        let stays = (0..self.old.columns.len()).map(Some).eq(self.sources.iter().copied());
        self.actions.iter().any(forces)
            || !stays
            || !self.has_all_indexes()
            || self.old.indexes.len() != self.new.indexes.len()
            || converts_columns(self.old, self.new, self.sources)
            || self.changes_virtual_columns()
    }

    /// Columns that stay, as they were and as they are.
    fn kept(&self) -> impl Iterator<Item = (&ColumnDefinition, &ColumnDefinition)> {
        let columns = self.new.columns.iter().zip(self.sources);
        columns.filter_map(|(after, source)| source.map(|place| (&self.old.columns[place], after)))
    }

    /// Whether values are computed that rows hold, or all that generated columns have.
    fn computes_kept_values(&self) -> bool {
        let has_other_text = |(before, after): (&ColumnDefinition, &ColumnDefinition)| {
            !after.is_virtual() && before.generated != after.generated
        };
        let mut generated = self.new.columns.iter().filter_map(|column| column.generated.as_ref());
        self.fresh().any(has_computed_value)
            || self.kept().any(has_other_text)
            || generated.any(|generated| self.names_changed_default(&generated.text))
    }

    /// Whether a VIRTUAL column that stays has other values.
    fn changes_virtual_columns(&self) -> bool {
        let has_others = |(before, after): (&ColumnDefinition, &ColumnDefinition)| {
            before.generated != after.generated || before.column_type != after.column_type
        };
        self.kept().filter(|(_, after)| is_plainly_virtual(after)).any(has_others)
    }

    /// Whether an expression names DEFAULT() of a column that an action declares anew, with the same default or another.
    fn names_changed_default(&self, text: &str) -> bool {
        use AlterAction as A;
        let is_declared = |name: &str| {
            self.actions.iter().any(|action| match action {
                A::ChangeColumn { old_name: column, .. }
                | A::SetDefault { column, .. }
                | A::DropDefault(column) => same_name(column, name),
                _ => false,
            })
        };
        names_such(text, |column| column.is_default && is_declared(column.name))
    }

    /// Whether VIRTUAL columns come or go beside changes that MySQL does not make together with that, or come before others.
    fn mixes_virtual_columns(&self) -> bool {
        let kept: Vec<usize> = self.sources.iter().flatten().copied().collect();
        let gone = || self.old.columns.iter().enumerate().filter(|(at, _)| !kept.contains(at));
        let comes_before = |at: usize| {
            let named = self.new.named_columns().len();
            self.sources[at + 1..named].iter().any(Option::is_some)
        };
        let fresh = || (0..self.sources.len()).filter(|at| self.sources[*at].is_none());
        let adds = fresh().any(|at| is_plainly_virtual(&self.new.columns[at]));
        let adds_unique = || {
            let is_new = |index: &IndexDefinition| index.id == IndexId(0) && index.kind == IndexKind::Unique;
            self.new.indexes.iter().any(is_new)
        };
        let adds_others = || self.fresh().any(|column| column.generated.is_none());
        let stays = |at: &usize| is_plainly_virtual(&self.old.columns[*at]);
        let virtual_kept: Vec<usize> = kept.iter().copied().filter(stays).collect();
        !virtual_kept.is_sorted()
            || adds && (adds_unique() || gone().any(|(_, column)| column.generated.is_none()))
            || fresh().any(|at| is_plainly_virtual(&self.new.columns[at]) && comes_before(at))
            || gone().any(|(_, column)| is_plainly_virtual(column)) && adds_others()
    }

    /// What functional key parts take that come or go.
    fn means_of_key_parts(&self) -> Option<Means> {
        use AlterAction as A;
        let is_plain = |element: &TableElement| matches!(element, TableElement::Index(index) if index.kind == IndexType::Plain);
        let is_functional = |name: &String| {
            let is_it =
                |index: &&IndexDefinition| index.kind == IndexKind::Plain && same_name(&index.name, name);
            let mut parts = self.old.indexes.iter().filter(is_it).flat_map(|index| &index.parts);
            parts.any(|part| self.old.columns[part.column].is_hidden())
        };
        let adds = self.fresh().any(ColumnDefinition::is_hidden);
        let kept: Vec<usize> = self.sources.iter().flatten().copied().collect();
        let mut old = self.old.columns.iter().enumerate();
        let drops = old.any(|(at, column)| column.is_hidden() && !kept.contains(&at));
        let only = |fits: &dyn Fn(&A) -> bool| self.actions.iter().all(fits);
        // MySQL keeps them in the order of their names, and does not move one.
        let is_moved = |at: usize| self.sources[at + 1..].iter().any(Option::is_some);
        let is_other = |at: usize| match self.sources[at] {
            Some(source) => self.old.columns[source].name != self.new.columns[at].name,
            None => true,
        };
        let hidden = (0..self.new.columns.len()).filter(|at| self.new.columns[*at].is_hidden());
        let moves = hidden.filter(|at| is_other(*at)).any(is_moved);
        match (adds, drops) {
            _ if moves => Some(Means::MixesVirtualColumns),
            (false, false) => None,
            (true, false)
                if only(&|action| match action {
                    A::AddIndex(index) => index.kind == IndexType::Plain,
                    A::AddElements(elements) => elements.iter().all(is_plain),
                    _ => false,
                }) =>
            {
                Some(Means::AddsFunctionalKey)
            }
            (false, true) if only(&|action| matches!(action, A::DropIndex(name) if is_functional(name))) => {
                Some(Means::InPlace)
            }
            _ => Some(Means::MixesVirtualColumns),
        }
    }

    /// Whether rows must meet a condition that they did not have to meet before.
    fn adds_enforced_check(&self) -> bool {
        let mut enforced = self.new.checks.iter().filter(|check| check.enforced);
        enforced.any(|check| !self.old.checks.contains(check) || self.names_changed_default(&check.text))
    }

    /// Columns that the old table has not got.
    fn fresh(&self) -> impl Iterator<Item = &ColumnDefinition> {
        let columns = self.new.columns.iter().zip(self.sources);
        columns.filter(|(_, source)| source.is_none()).map(|(column, _)| column)
    }

    /// Whether the old table's indexes are there under their names, on the same columns.
    fn has_all_indexes(&self) -> bool {
        self.old.indexes.iter().all(|index| self.new.indexes.iter().any(|other| self.is_same(index, other)))
    }

    fn is_same(&self, index: &IndexDefinition, other: &IndexDefinition) -> bool {
        let parts = index.parts.iter().zip(&other.parts).all(|(before, after)| {
            self.sources[after.column] == Some(before.column)
                && before.prefix_length == after.prefix_length
                && before.descending == after.descending
        });
        parts
            && index.parts.len() == other.parts.len()
            && index.name == other.name
            && index.kind == other.kind
    }

    fn is_instant(&self) -> bool {
        use AlterAction as A;
        let fits = |action: &A| match action {
            A::AddElements(elements) => elements
                .iter()
                .all(|element| matches!(element, TableElement::Column(_) | TableElement::Index(_))),
            A::AddColumn { .. }
            | A::DropColumn(_)
            | A::ChangeColumn { .. }
            | A::RenameColumn { .. }
            | A::SetDefault { .. }
            | A::DropDefault(_)
            | A::SetColumnVisible { .. }
            | A::AddIndex(_)
            | A::DropIndex(_)
            | A::DropPrimaryKey
            | A::RenameTable(_) => true,
            _ => false,
        };
        let kept: Vec<usize> = self.sources.iter().flatten().copied().collect();
        let moves = kept.windows(2).any(|pair| pair[0] > pair[1]);
        let changes_rows = kept.len() < self.old.columns.len() || self.fresh().next().is_some();
        let is_packed = self.old.options.row_format == RowFormat::Compressed;
        self.actions.iter().all(fits)
            && !moves
            && !(changes_rows && is_packed)
            && self.has_all_indexes()
            && self.old.indexes.len() == self.new.indexes.len()
            && self.fresh().all(starts_with_a_value)
            && self.new.columns.iter().zip(self.sources).all(|(after, source)| match source {
                Some(place) => {
                    let before = &self.old.columns[*place];
                    before.nullable == after.nullable && is_same_form(&before.column_type, &after.column_type)
                }
                None => true,
            })
    }
}

/// Whether it is VIRTUAL and statements can name it.
fn is_plainly_virtual(column: &ColumnDefinition) -> bool {
    column.is_virtual() && !column.is_hidden()
}

/// Whether rows must be given what is computed: not of a VIRTUAL column, which MySQL computes when it is read.
fn has_computed_value(column: &ColumnDefinition) -> bool {
    match &column.generated {
        Some(generated) => generated.stored,
        None => matches!(column.default, ColumnDefault::Expression(_)),
    }
}

/// Not a date that cannot be NULL and has no default.
fn starts_with_a_value(column: &ColumnDefinition) -> bool {
    let is_date = matches!(column.column_type.kind, TypeKind::Date | TypeKind::DateTime);
    !is_date || column.nullable || column.default != ColumnDefault::None
}

/// Whether the type is the same but for members that follow.
fn is_same_form(before: &ColumnType, after: &ColumnType) -> bool {
    let has_members = before.kind.has_members();
    before.kind == after.kind
        && before.length == after.length
        && (has_members || before.collation == after.collation)
}
