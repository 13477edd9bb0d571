//! Patterns, and their programs for a small machine. Jumps are relative, so the program of a pattern made of others is their
//! programs one after another. Main type: [`Pattern`].

use std::sync::Arc;

/// Name of a rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum RuleName {
    Text(Vec<u8>),
    /// The bits of a number.
    Number(u64),
    Boolean(bool),
}

impl RuleName {
    /// As messages show it.
    pub(super) fn shown(&self) -> String {
        match self {
            RuleName::Text(text) => String::from_utf8_lossy(text).into_owned(),
            RuleName::Number(bits) => f64::from_bits(*bits).to_string(),
            RuleName::Boolean(value) => value.to_string(),
        }
    }
}

/// What a capture makes of the part that it spans. The numbers lead to Lua values that the pattern keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Capture {
    /// `C`: the part itself.
    Simple,
    /// `Cp`: where it begins.
    Position,
    /// `Cc`: the values of that list.
    Constant(i64),
    /// `Carg`: an argument of the match.
    Argument(usize),
    /// `Cb`: what an earlier capture gave, counted backwards.
    Back(usize),
    /// `Ct`: a table of what is captured inside.
    Table,
    /// `Cs`: the part with what is captured inside in place of what it spans.
    Substitution,
    /// `Ca`: the inner captures folded from the left.
    Accumulator,
    /// `/ "text"`.
    Text(i64),
    /// `/ table`.
    Query(i64),
    /// `/ function`.
    Function(i64),
    /// What a function of match time returned: the values of that number.
    Returned(usize),
    /// The part that a function of match time is asked about.
    Asked,
}

/// An instruction. Distances are from the instruction itself.
#[derive(Clone, Debug)]
pub(super) enum Op {
    Text(Arc<[u8]>),
    /// Any so many bytes.
    Any(usize),
    /// A byte of a set.
    Set(Box<ByteSet>),
    /// All bytes of a set that follow.
    Span(Box<ByteSet>),
    /// Goes on, and from there when that fails.
    Choice(isize),
    /// Drops the last choice and jumps.
    Commit(isize),
    /// Renews the last choice and jumps; without progress since then, drops it and goes on.
    PartialCommit(isize),
    /// Goes back to where the last choice was made and jumps.
    BackCommit(isize),
    Fail,
    /// Drops the last choice and fails.
    FailTwice,
    Jump(isize),
    Call(isize),
    /// The call of a rule of a grammar around.
    OpenCall(RuleName),
    Return,
    Open(Capture),
    Close,
    /// Asks the function of that number about the part since its `Open(Asked)`; with the part itself if nothing was captured.
    Ask(i64, bool),
}

/// A pattern: what its program is made of, and what is known of it. Cheap to clone.
#[derive(Clone)]
pub(super) struct Pattern {
    node: Arc<Node>,
    /// It may match the empty text. Calls of rules count as matching something.
    pub(super) is_nullable: bool,
    /// Rules that may be called before anything was matched.
    leading: Vec<RuleName>,
    /// The bytes of which it matches one, if it is a pattern of that kind: such patterns become one instruction together.
    bytes: Option<ByteSet>,
}

/// A set of bytes: a bit for each.
pub(super) type ByteSet = [u64; 4];

/// A pattern made of others, which it shares with them: a choice of a thousand words is made by a thousand additions, each of
/// which leaves a pattern behind. Chains are as long as a script wants, so nothing recurses over them.
struct Node {
    kind: Kind,
    parts: Vec<Arc<Node>>,
    /// Instructions of the program.
    length: usize,
}

/// How the parts are put together.
enum Kind {
    /// A program without parts.
    Program(Vec<Op>),
    Sequence,
    Choice,
    Negated,
    Ahead,
    AtLeast(usize),
    AtMost(usize),
    Captured(Capture),
    Asked(i64, bool),
}

impl Drop for Node {
    fn drop(&mut self) {
        let mut waiting = std::mem::take(&mut self.parts);
        while let Some(part) = waiting.pop() {
            if let Some(mut node) = Arc::into_inner(part) {
                waiting.append(&mut node.parts);
            }
        }
    }
}

impl Node {
    fn new(kind: Kind, parts: Vec<Arc<Node>>) -> Arc<Node> {
        let inner = parts.iter().fold(0usize, |sum, part| sum.saturating_add(part.length));
        let length = match &kind {
            Kind::Program(ops) => ops.len(),
            Kind::Sequence => inner,
            Kind::Choice | Kind::Negated | Kind::Captured(_) | Kind::Asked(..) => inner.saturating_add(2),
            Kind::Ahead => inner.saturating_add(3),
            Kind::AtLeast(count) => inner.saturating_mul(count.saturating_add(1)).saturating_add(2),
            Kind::AtMost(count) => inner.saturating_add(2).saturating_mul(*count),
        };
        Arc::new(Node { kind, parts, length })
    }

    /// The tasks that write this node's program, in their order.
    fn tasks(self: &Arc<Node>) -> Vec<Task> {
        let part = |index: usize| Task::Part(Arc::clone(&self.parts[index]));
        let length = |index: usize| distance(self.parts[index].length);
        match &self.kind {
            Kind::Program(ops) => ops.iter().cloned().map(Task::Op).collect(),
            Kind::Sequence => vec![part(0), part(1)],
            Kind::Choice => vec![
                Task::Op(Op::Choice(length(0) + 2)),
                part(0),
                Task::Op(Op::Commit(length(1) + 1)),
                part(1),
            ],
            Kind::Negated => vec![Task::Op(Op::Choice(length(0) + 2)), part(0), Task::Op(Op::FailTwice)],
            Kind::Ahead => vec![
                Task::Op(Op::Choice(length(0) + 2)),
                part(0),
                Task::Op(Op::BackCommit(2)),
                Task::Op(Op::Fail),
            ],
            Kind::AtLeast(count) => {
                let mut tasks: Vec<Task> = (0..*count).map(|_| part(0)).collect();
                tasks.push(Task::Op(Op::Choice(length(0) + 2)));
                tasks.push(part(0));
                tasks.push(Task::Op(Op::PartialCommit(-length(0))));
                tasks
            }
            Kind::AtMost(count) => (0..*count)
                .flat_map(|done| {
                    let to_end = distance(count - done) * (length(0) + 2);
                    [Task::Op(Op::Choice(to_end)), part(0), Task::Op(Op::Commit(1))]
                })
                .collect(),
            Kind::Captured(capture) => vec![Task::Op(Op::Open(*capture)), part(0), Task::Op(Op::Close)],
            Kind::Asked(function, with_part) => {
                vec![Task::Op(Op::Open(Capture::Asked)), part(0), Task::Op(Op::Ask(*function, *with_part))]
            }
        }
    }
}

/// A step of writing a program.
enum Task {
    Op(Op),
    Part(Arc<Node>),
}

impl Pattern {
    fn program(ops: Vec<Op>, is_nullable: bool) -> Pattern {
        let node = Node::new(Kind::Program(ops), Vec::new());
        Pattern { node, is_nullable, leading: Vec::new(), bytes: None }
    }

    /// A pattern around this one.
    fn within(self, kind: Kind, is_nullable: bool) -> Pattern {
        Pattern { node: Node::new(kind, vec![self.node]), is_nullable, leading: self.leading, bytes: None }
    }

    /// Instructions of the program.
    pub(super) fn length(&self) -> usize {
        self.node.length
    }

    /// The program.
    pub(super) fn compiled(&self) -> Vec<Op> {
        let mut ops = Vec::with_capacity(self.node.length);
        let mut waiting = vec![Task::Part(Arc::clone(&self.node))];
        while let Some(task) = waiting.pop() {
            match task {
                Task::Op(op) => ops.push(op),
                Task::Part(node) => waiting.extend(node.tasks().into_iter().rev()),
            }
        }
        ops
    }

    pub(super) fn text(text: &[u8]) -> Pattern {
        if text.is_empty() {
            return Pattern::program(Vec::new(), true);
        }
        let bytes = if let [byte] = text { Some(set_of(&[*byte])) } else { None };
        Pattern { bytes, ..Pattern::program(vec![Op::Text(text.into())], false) }
    }

    pub(super) fn set(bytes: ByteSet) -> Pattern {
        Pattern { bytes: Some(bytes), ..Pattern::program(vec![Op::Set(Box::new(bytes))], false) }
    }

    pub(super) fn boolean(value: bool) -> Pattern {
        if value { Pattern::text(b"") } else { Pattern::program(vec![Op::Fail], false) }
    }

    /// So many bytes; for a negative number, fewer than so many are left.
    pub(super) fn count(count: i64) -> Pattern {
        let bytes = usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX);
        let any = Pattern::program(vec![Op::Any(bytes)], false);
        match count {
            0 => Pattern::text(b""),
            1 => Pattern { bytes: Some([u64::MAX; 4]), ..any },
            2.. => any,
            _ => any.negated(),
        }
    }

    /// A rule of the grammar that the pattern is going to be in.
    pub(super) fn rule(name: RuleName) -> Pattern {
        let leading = vec![name.clone()];
        Pattern { leading, ..Pattern::program(vec![Op::OpenCall(name)], false) }
    }

    /// One after the other.
    pub(super) fn then(self, next: Pattern) -> Pattern {
        let mut leading = self.leading;
        if self.is_nullable {
            leading.extend(next.leading);
        }
        let is_nullable = self.is_nullable && next.is_nullable;
        let node = Node::new(Kind::Sequence, vec![self.node, next.node]);
        Pattern { node, is_nullable, leading, bytes: None }
    }

    /// The first, or if it fails the second.
    pub(super) fn or(self, other: Pattern) -> Pattern {
        if let (Some(first), Some(second)) = (self.bytes, other.bytes) {
            return Pattern::set(std::array::from_fn(|word| first[word] | second[word]));
        }
        let mut leading = self.leading;
        leading.extend(other.leading);
        let is_nullable = self.is_nullable || other.is_nullable;
        let node = Node::new(Kind::Choice, vec![self.node, other.node]);
        Pattern { node, is_nullable, leading, bytes: None }
    }

    /// The pattern where the other does not match.
    pub(super) fn without(self, other: Pattern) -> Pattern {
        if let (Some(bytes), Some(others)) = (self.bytes, other.bytes) {
            return Pattern::set(std::array::from_fn(|word| bytes[word] & !others[word]));
        }
        other.negated().then(self)
    }

    /// Fails where the pattern matches.
    pub(super) fn negated(self) -> Pattern {
        self.within(Kind::Negated, true)
    }

    /// Matches where the pattern does, and nothing of it.
    pub(super) fn ahead(self) -> Pattern {
        self.within(Kind::Ahead, true)
    }

    /// At least so many times.
    pub(super) fn at_least(self, count: usize) -> Pattern {
        if let (Some(bytes), 0) = (self.bytes, count) {
            return Pattern::program(vec![Op::Span(Box::new(bytes))], true);
        }
        let is_nullable = self.is_nullable || count == 0;
        self.within(Kind::AtLeast(count), is_nullable)
    }

    /// At most so many times.
    pub(super) fn at_most(self, count: usize) -> Pattern {
        self.within(Kind::AtMost(count), true)
    }

    /// The pattern with a capture around.
    pub(super) fn captured(self, capture: Capture) -> Pattern {
        let is_nullable = self.is_nullable;
        self.within(Kind::Captured(capture), is_nullable)
    }

    /// The pattern with a question to a function behind.
    pub(super) fn asked(self, function: i64, with_part: bool) -> Pattern {
        let is_nullable = self.is_nullable;
        self.within(Kind::Asked(function, with_part), is_nullable)
    }
}

/// The set of those bytes.
pub(super) fn set_of(bytes: &[u8]) -> ByteSet {
    let mut set = [0; 4];
    for byte in bytes {
        set[usize::from(byte >> 6)] |= 1 << (byte & 63);
    }
    set
}

fn distance(ops: usize) -> isize {
    isize::try_from(ops).unwrap_or(isize::MAX)
}

/// The pattern of a grammar whose rule of index 0 is the first; what is wrong with it otherwise.
pub(super) fn grammar(rules: Vec<(RuleName, Pattern)>) -> Result<Pattern, String> {
    check_recursion(&rules)?;
    let mut starts = Vec::with_capacity(rules.len());
    // The call of the first rule and the jump behind the last stand before the rules.
    let mut at = 2;
    for (_, rule) in &rules {
        starts.push(at);
        at += rule.length() + 1;
    }
    let mut ops = vec![Op::Call(2), Op::Jump(distance(at - 1))];
    let is_nullable = rules[0].1.is_nullable;
    let names: Vec<RuleName> = rules.iter().map(|(name, _)| name.clone()).collect();
    for (_, rule) in rules {
        for op in rule.compiled() {
            let op = match op {
                Op::OpenCall(name) => {
                    let Some(index) = names.iter().position(|known| *known == name) else {
                        return Err(format!("rule '{}' is not defined in given grammar", name.shown()));
                    };
                    Op::Call(distance(starts[index]) - distance(ops.len()))
                }
                op => op,
            };
            ops.push(op);
        }
        ops.push(Op::Return);
    }
    Ok(Pattern::program(ops, is_nullable))
}

/// No rule may call itself before it has matched something.
fn check_recursion(rules: &[(RuleName, Pattern)]) -> Result<(), String> {
    for (name, rule) in rules {
        let mut waiting: Vec<&RuleName> = rule.leading.iter().collect();
        let mut seen: Vec<&RuleName> = Vec::new();
        while let Some(called) = waiting.pop() {
            if called == name {
                return Err(format!("rule '{}' is left recursive", name.shown()));
            }
            if seen.contains(&called) {
                continue;
            }
            seen.push(called);
            if let Some((_, rule)) = rules.iter().find(|(known, _)| known == called) {
                waiting.extend(&rule.leading);
            }
        }
    }
    Ok(())
}
