//! What the machine runs: the instructions of a pattern. Main type: [`Program`].

use crate::class::Class;
use crate::tree::{Assertion, Dot, Greed, Look, Node};
use std::sync::Arc;

/// A place in the program.
pub(crate) type Label = u32;
/// A place among what a match remembers.
pub(crate) type Slot = u32;

/// Slots of a group: its start, its end, and the start while its end is not reached.
pub(crate) const GROUP_SLOTS: u32 = 3;
/// Single characters up to so many times are written out.
const WRITTEN_OUT_MAX: u32 = 10;
/// What a saved state counts besides its slots.
const STATE_HEADER: u32 = 2;

/// How often a counted loop runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    /// Its slot; the next one holds the last place where there is no upper bound.
    pub slot: Slot,
    pub least: u32,
    pub most: Option<u32>,
    pub lazy: bool,
}

/// One instruction. All but jumps go on with the next one; what does not match goes back to the last saved state.
#[derive(Clone, Debug)]
pub(crate) enum Instruction {
    Character(char),
    FoldedCharacter(char),
    Text(Box<str>),
    FoldedText(Box<[char]>),
    Class(Arc<Class>),
    Dot(Dot),
    LineBreak,
    Cluster,
    Assert(Assertion),
    GroupStart(Slot),
    GroupEnd(Slot),
    BackReference {
        slot: Slot,
        folded: bool,
    },
    /// Saves a state that goes on there.
    Save(Label),
    Jump(Label),
    /// Saves a state that goes on behind, and jumps.
    JumpSaving(Label),
    /// Remembers the place.
    StorePlace(Slot),
    /// [`Instruction::JumpSaving`] if the place is no longer the remembered one.
    JumpIfMoved(Slot, Label),
    /// As many characters of the class as there are; [`Instruction::StepBack`] is next.
    ClassLoop(Arc<Class>, Slot),
    /// The same of `.`.
    DotLoop(Dot, Slot),
    /// One character less, to where the loop began.
    StepBack {
        slot: Slot,
        over_line_ends: bool,
    },
    /// Begins a counted loop, which ends there.
    CountStart(Count, Label),
    /// Ends a round of a counted loop, whose body is there.
    CountNext(Count, Label),
    /// Remembers how many states are saved.
    Mark(Slot),
    /// Forgets the states saved since.
    Cut(Slot),
    /// [`Instruction::Mark`], and the place in the next slot.
    LookStart {
        slot: Slot,
        is_behind: bool,
    },
    /// [`Instruction::Cut`], back at the place.
    LookEnd(Slot),
    /// Goes back by one more character, up to the most.
    BehindNext {
        slot: Slot,
        least: u32,
        most: u32,
    },
    /// Whether the match ended where the look behind began.
    BehindEnd(Slot),
    /// Goes back to the last saved state.
    Fail,
    Match,
}

/// A compiled pattern.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub instructions: Vec<Instruction>,
    /// What a match remembers.
    pub slots: u32,
    /// What a saved state counts against the limit of the stack.
    pub state_size: u32,
}

/// The program of a tree with so many groups.
pub(crate) fn compile(node: &Node, groups: u32) -> Program {
    let slots = groups * GROUP_SLOTS;
    let mut compiler = Compiler { instructions: Vec::new(), slots, state_size: STATE_HEADER + slots };
    compiler.node(node);
    compiler.push(Instruction::Match);
    Program { instructions: compiler.instructions, slots: compiler.slots, state_size: compiler.state_size }
}

/// The first slot of a group.
pub(crate) fn group_slot(group: u32) -> Slot {
    (group - 1) * GROUP_SLOTS
}

struct Compiler {
    instructions: Vec<Instruction>,
    slots: u32,
    state_size: u32,
}

/// A loop over single characters that are counted back instead of saved one by one.
fn is_run(node: &Node) -> bool {
    matches!(node, Node::Class { named: false, .. } | Node::Dot(_))
}

/// What becomes one instruction.
fn is_single(node: &Node) -> bool {
    match node {
        Node::Literal { characters, .. } => characters.len() == 1,
        _ => matches!(node, Node::Class { .. } | Node::Dot(_) | Node::LineBreak),
    }
}

impl Compiler {
    fn here(&self) -> Label {
        self.instructions.len() as Label
    }

    fn push(&mut self, instruction: Instruction) -> Label {
        self.instructions.push(instruction);
        self.here() - 1
    }

    /// Slots that belong to a saved state.
    fn state_slots(&mut self, count: u32) -> Slot {
        self.state_size += count;
        self.slots(count)
    }

    fn slots(&mut self, count: u32) -> Slot {
        self.slots += count;
        self.slots - count
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Literal { characters, folded } => self.literal(characters, *folded),
            Node::Class { class, .. } => _ = self.push(Instruction::Class(class.clone())),
            Node::Dot(dot) => _ = self.push(Instruction::Dot(*dot)),
            Node::LineBreak => _ = self.push(Instruction::LineBreak),
            Node::Cluster => _ = self.push(Instruction::Cluster),
            Node::Assertion(assertion) => _ = self.push(Instruction::Assert(*assertion)),
            Node::Group(group, node) => {
                self.push(Instruction::GroupStart(group_slot(*group)));
                self.node(node);
                self.push(Instruction::GroupEnd(group_slot(*group)));
            }
            Node::BackReference { group, folded } => {
                self.push(Instruction::BackReference { slot: group_slot(*group), folded: *folded });
            }
            Node::Concatenation(nodes) => nodes.iter().for_each(|node| self.node(node)),
            Node::Alternation(nodes) => self.alternation(nodes),
            Node::Repeat { most: Some(0), .. } => {}
            Node::Repeat { node, least, most, greed, interval } => match (greed, interval) {
                (Greed::Possessive, false) => {
                    self.atomic(|compiler| compiler.possessive(node, *least, *most))
                }
                (Greed::Possessive, true) => {
                    self.atomic(|compiler| compiler.counted(node, *least, *most, false));
                }
                (_, false) => self.repeat(node, *least, *most, *greed == Greed::Lazy),
                (_, true) => self.interval(node, *least, *most, *greed == Greed::Lazy),
            },
            Node::Atomic(node) => self.atomic(|compiler| compiler.node(node)),
            Node::Look(look) => self.look(look),
        }
    }

    fn literal(&mut self, characters: &[char], folded: bool) {
        self.push(match (characters, folded) {
            ([only], false) => Instruction::Character(*only),
            ([only], true) => Instruction::FoldedCharacter(*only),
            (_, false) => Instruction::Text(characters.iter().collect::<String>().into()),
            (_, true) => Instruction::FoldedText(characters.into()),
        });
    }

    fn alternation(&mut self, nodes: &[Node]) {
        let Some((last, nodes)) = nodes.split_last() else { return };
        let mut ends = Vec::new();
        for node in nodes {
            let save = self.push(Instruction::Save(0));
            self.node(node);
            ends.push(self.push(Instruction::Jump(0)));
            self.instructions[save as usize] = Instruction::Save(self.here());
        }
        self.node(last);
        for end in ends {
            self.instructions[end as usize] = Instruction::Jump(self.here());
        }
    }

    fn atomic(&mut self, body: impl FnOnce(&mut Compiler)) {
        let slot = self.slots(1);
        self.push(Instruction::Mark(slot));
        body(self);
        self.push(Instruction::Cut(slot));
    }

    /// `*`, `+` and `?`.
    fn repeat(&mut self, node: &Node, least: u32, most: Option<u32>, lazy: bool) {
        match (least, most) {
            (0, None) if lazy => self.lazy_star(node),
            (_, None) if lazy => {
                let body = self.here();
                self.node(node);
                self.push(Instruction::Save(body));
            }
            (_, None) if is_run(node) => {
                if least == 1 {
                    self.node(node);
                }
                self.run(node);
            }
            (_, None) => self.greedy(node, least == 0),
            _ if lazy => {
                let save = self.push(Instruction::Save(0));
                let jump = self.push(Instruction::Jump(0));
                self.instructions[save as usize] = Instruction::Save(self.here());
                self.node(node);
                self.instructions[jump as usize] = Instruction::Jump(self.here());
            }
            _ => self.written_out(node, 0, 1),
        }
    }

    /// `{least,most}`.
    fn interval(&mut self, node: &Node, least: u32, most: Option<u32>, lazy: bool) {
        let is_short = |most| most == 1 || (most <= WRITTEN_OUT_MAX && is_single(node));
        match most {
            Some(most) if !lazy && is_short(most) => self.written_out(node, least, most),
            _ => self.counted(node, least, most, lazy),
        }
    }

    /// `x*` and `x+`. What can be empty goes round again only where it took something.
    fn greedy(&mut self, node: &Node, may_skip: bool) {
        let save = may_skip.then(|| self.push(Instruction::Save(0)));
        let body = self.here();
        if node.least_characters() == 0 {
            let slot = self.state_slots(1);
            self.push(Instruction::StorePlace(slot));
            self.node(node);
            self.push(Instruction::JumpIfMoved(slot, body));
        } else {
            self.node(node);
            self.push(Instruction::JumpSaving(body));
        }
        if let Some(save) = save {
            self.instructions[save as usize] = Instruction::Save(self.here());
        }
    }

    /// `*+`, `++` and `?+`: as often as it goes. As in ICU, what is empty is repeated for ever.
    fn possessive(&mut self, node: &Node, least: u32, most: Option<u32>) {
        if most.is_some() {
            return self.written_out(node, 0, 1);
        }
        let body = self.here();
        if least == 1 {
            self.node(node);
        }
        let save = self.push(Instruction::Save(0));
        if least == 0 {
            self.node(node);
        }
        self.push(Instruction::Jump(body));
        self.instructions[save as usize] = Instruction::Save(self.here());
    }

    fn lazy_star(&mut self, node: &Node) {
        let jump = self.push(Instruction::Jump(0));
        let body = self.here();
        self.node(node);
        self.instructions[jump as usize] = Instruction::Jump(self.here());
        self.push(Instruction::Save(body));
    }

    fn run(&mut self, node: &Node) {
        let slot = self.state_slots(1);
        match node {
            Node::Class { class, .. } => {
                self.push(Instruction::ClassLoop(class.clone(), slot));
                self.push(Instruction::StepBack { slot, over_line_ends: false });
            }
            Node::Dot(dot) => {
                self.push(Instruction::DotLoop(*dot, slot));
                self.push(Instruction::StepBack { slot, over_line_ends: *dot == Dot::All });
            }
            _ => unreachable!("a run is one of classes or of dots"),
        }
    }

    /// The node so many times, each one behind the least of which may be left out.
    fn written_out(&mut self, node: &Node, least: u32, most: u32) {
        let mut saves = Vec::new();
        for time in 0..most {
            if time >= least {
                saves.push(self.push(Instruction::Save(0)));
            }
            self.node(node);
        }
        for save in saves {
            self.instructions[save as usize] = Instruction::Save(self.here());
        }
    }

    fn counted(&mut self, node: &Node, least: u32, most: Option<u32>, lazy: bool) {
        let slot = self.state_slots(if most.is_none() { 2 } else { 1 });
        let count = Count { slot, least, most, lazy };
        let start = self.push(Instruction::CountStart(count, 0));
        self.node(node);
        self.push(Instruction::CountNext(count, start + 1));
        self.instructions[start as usize] = Instruction::CountStart(count, self.here());
    }

    fn look(&mut self, look: &Look) {
        // The mark, the place; behind also where the body begins and how far that is.
        let is_behind = look.behind.is_some();
        let slot = self.slots(if is_behind { 4 } else { 2 });
        self.push(Instruction::LookStart { slot, is_behind });
        let save = self.here();
        if look.negative {
            self.push(Instruction::Save(0));
        } else if !is_behind {
            // Nothing goes on there, but the state counts.
            self.push(Instruction::Save(save + 2));
            self.push(Instruction::Jump(save + 3));
            self.push(Instruction::Fail);
        }
        if let Some((least, most)) = look.behind {
            self.push(Instruction::BehindNext { slot, least, most });
        }
        self.node(&look.node);
        if is_behind {
            self.push(Instruction::BehindEnd(slot));
        }
        self.push(Instruction::LookEnd(slot));
        if look.negative {
            self.push(Instruction::Fail);
            self.instructions[save as usize] = Instruction::Save(self.here());
        }
    }
}
