//! The items of a digest: tokens, names, and what literals become. Main type: [`Items`].

/// A name of more bytes is not shown.
const SHOWN_NAME_BYTES_MAX: usize = 64;

/// A part of a digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    /// A token that is always the same.
    Fixed { number: u16, shown: &'static str, is_word: bool },
    /// A name.
    Name(Vec<u8>),
    /// The number of a column.
    Position(u32),
}

impl Item {
    const VALUE: Item = Item::sign(1100, "?");
    const VALUES: Item = Item::sign(1101, "?, ...");
    const ROW_OF_ONE: Item = Item::sign(1102, "(?)");
    const ROWS_OF_ONE: Item = Item::sign(1103, "(?) /* , ... */");
    const ROW: Item = Item::sign(1104, "(...)");
    const ROWS: Item = Item::sign(1105, "(...) /* , ... */");
    const IN_LIST: Item = Item::sign(1110, "IN (...)");
    /// `_utf8mb4`.
    pub const INTRODUCER: Item = Item::sign(852, "(_charset)");
    const NAME_NUMBER: u16 = 1106;
    const POSITION_NUMBER: u16 = 1111;

    /// A sign.
    pub const fn sign(number: u16, shown: &'static str) -> Item {
        Item::Fixed { number, shown, is_word: false }
    }

    /// A word.
    pub const fn word(number: u16, shown: &'static str) -> Item {
        Item::Fixed { number, shown, is_word: true }
    }

    fn bytes(&self) -> usize {
        match self {
            Item::Fixed { .. } => 2,
            Item::Name(name) => 4 + name.len(),
            Item::Position(_) => 6,
        }
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self, Item::Fixed { shown, is_word: false, .. } if *shown == sign)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self, Item::Fixed { shown, is_word: true, .. } if *shown == word)
    }

    fn is_value(&self) -> bool {
        *self == Item::VALUE || *self == Item::VALUES
    }
}

/// `||` with PIPES_AS_CONCAT.
pub(super) const CONCATENATION: u16 = 644;

/// Signs behind which NULL is a value. Behind most of them a `+` or `-` belongs to the number.
pub(super) fn may_stand_before_value(sign: &str) -> bool {
    const OTHERS: &[&str] = &[")", ".", "@", "?", "?, ...", "(?)", "(...)", "IN (...)", "(_charset)"];
    !OTHERS.contains(&sign) && !sign.ends_with("*/")
}

/// Words, as digests show them, behind which a `+` or `-` belongs to the number.
const BEFORE_SIGNED: &[&str] = &[
    "SELECT", "WHEN", "THEN", "ELSE", "CASE", "AND", "OR", "XOR", "INTERVAL", "LIKE", "BETWEEN", "DEFAULT",
    "RLIKE", "EVERY", "DIV", "MOD", "RETURN", "IF", "NOT", "AT", "STARTS", "ENDS", "ELSEIF", "WHILE",
    "UNTIL",
];

/// Words that end a list behind BY.
const BEHIND_LISTS: &[&str] = &[
    "LIMIT",
    "HAVING",
    "WITH",
    "WITH ROLLUP",
    "WINDOW",
    "ROWS",
    "RANGE",
    "GROUPS",
    "FOR",
    "INTO",
    "LOCK",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "SEPARATOR",
    "ON",
    "SET",
    "VALUES",
    "WHERE",
    "SELECT",
];

/// A digest as it grows.
pub(super) struct Items {
    items: Vec<Item>,
    /// Bytes that they take, and may take.
    bytes: usize,
    bytes_max: usize,
    is_full: bool,
    /// By parentheses that are open: whether a list behind BY is being read there.
    lists: Vec<bool>,
}

impl Items {
    pub fn new(bytes_max: usize) -> Items {
        Items { items: Vec::new(), bytes: 0, bytes_max, is_full: false, lists: vec![false] }
    }

    /// Whether something did not fit: nothing is added any more.
    pub fn is_full(&self) -> bool {
        self.is_full
    }

    /// The last but so many.
    pub fn last_but(&self, count: usize) -> Option<&Item> {
        self.items.len().checked_sub(count + 1).map(|at| &self.items[at])
    }

    fn last_is(&self, count: usize, is: impl Fn(&Item) -> bool) -> bool {
        self.last_but(count).is_some_and(is)
    }

    fn pop(&mut self) {
        if let Some(item) = self.items.pop() {
            self.bytes -= item.bytes();
        }
    }

    /// Adds an item as it is.
    pub fn push(&mut self, item: Item) {
        if self.is_full || self.bytes + item.bytes() > self.bytes_max {
            self.is_full = true;
            return;
        }
        self.follow_lists(&item);
        self.bytes += item.bytes();
        self.items.push(item);
    }

    fn follow_lists(&mut self, item: &Item) {
        let Item::Fixed { shown, is_word, .. } = item else { return };
        let in_list = self.lists.last_mut();
        match (*shown, is_word, in_list) {
            ("(", false, _) => self.lists.push(false),
            ("BY", true, Some(in_list)) => *in_list = true,
            (word, true, Some(in_list)) if BEHIND_LISTS.contains(&word) => *in_list = false,
            _ => {}
        }
    }

    /// Adds a literal: with its sign, if it is a number, and together with those before it. `position`: the column that it can be the
    /// number of.
    pub fn add_literal(&mut self, is_number: bool, position: Option<u32>) {
        while is_number
            && self.last_is(0, |item| item.is_sign("-") || item.is_sign("+"))
            && self.begins_value(1)
        {
            self.pop();
        }
        let follows_comma = self.last_is(0, |item| item.is_sign(","));
        if follows_comma && self.last_is(1, Item::is_value) {
            self.pop();
            self.pop();
            return self.push(Item::VALUES);
        }
        let in_list = self.lists.last().is_some_and(|in_list| *in_list);
        let is_item = follows_comma || self.last_is(0, |item| item.is_word("BY"));
        match position.filter(|_| in_list && is_item) {
            Some(position) => self.push(Item::Position(position)),
            None => self.push(Item::VALUE),
        }
    }

    fn begins_value(&self, count: usize) -> bool {
        self.last_but(count).is_none_or(|item| match item {
            Item::Fixed { shown, is_word: true, .. } => BEFORE_SIGNED.contains(shown),
            Item::Fixed { number, shown, .. } => {
                may_stand_before_value(shown)
                    && !matches!(*shown, "~" | "!" | ":=")
                    && *number != CONCATENATION
            }
            _ => false,
        })
    }

    /// Adds a closing parenthesis: rows of literals are taken together.
    pub fn close(&mut self) {
        if self.lists.len() > 1 {
            self.lists.pop();
        }
        if !(self.last_is(0, Item::is_value) && self.last_is(1, |item| item.is_sign("("))) {
            return self.push(Item::sign(41, ")"));
        }
        let is_one = self.last_is(0, |item| *item == Item::VALUE);
        self.pop();
        self.pop();
        let (row, rows) =
            if is_one { (Item::ROW_OF_ONE, Item::ROWS_OF_ONE) } else { (Item::ROW, Item::ROWS) };
        if self.last_is(0, |item| item.is_word("IN")) {
            self.pop();
            return self.push(Item::IN_LIST);
        }
        if self.last_is(0, |item| item.is_sign(",")) && self.last_is(1, |item| *item == row || *item == rows)
        {
            self.pop();
            self.pop();
            return self.push(rows);
        }
        self.push(row);
    }

    /// Appends the text.
    pub fn show(&self, text: &mut Vec<u8>) {
        for item in &self.items {
            match item {
                Item::Fixed { shown: "@", .. } => text.push(b'@'),
                Item::Fixed { shown, .. } => {
                    text.extend_from_slice(shown.as_bytes());
                    text.push(b' ');
                }
                Item::Name(name) if name.is_empty() => {}
                Item::Name(name) if name.len() > SHOWN_NAME_BYTES_MAX => text.extend_from_slice(b"..."),
                Item::Name(name) => {
                    text.push(b'`');
                    text.extend_from_slice(name);
                    text.extend_from_slice(b"` ");
                }
                Item::Position(number) => text.extend_from_slice(format!("{number} ").as_bytes()),
            }
        }
        if text.ends_with(b" ") {
            text.pop();
        }
    }

    /// Hands out what is hashed.
    pub fn write(&self, take: &mut dyn FnMut(&[u8])) {
        for item in &self.items {
            match item {
                Item::Fixed { number, .. } => take(&number.to_le_bytes()),
                Item::Name(name) => {
                    take(&Item::NAME_NUMBER.to_le_bytes());
                    // The most bytes that a digest has room for are fewer.
                    take(&(name.len() as u16).to_le_bytes());
                    take(name);
                }
                Item::Position(number) => {
                    take(&Item::POSITION_NUMBER.to_le_bytes());
                    take(&number.to_le_bytes());
                }
            }
        }
    }
}
