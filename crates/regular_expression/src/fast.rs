//! The fast path: patterns that an automaton matches in the same way, in time that grows with the text only. Main type: [`Fast`].
//!
//! It is taken where both are known to agree. Of the pattern: no look around, no reference, nothing atomic, no repeat of what can be
//! empty. Of the text: what [`Needs`] says. And of both together: so few ways to match that the machine stays within its limits, too.

use crate::class::{Class, LINE_ENDS, is_line_end, ranges_of};
use crate::machine::{Limits, TICK_STATES};
use crate::tree::{Assertion, Dot, Greed, Node};
use regex_automata::meta;
use regex_syntax::hir::{Capture, Class as HirClass, ClassUnicode, Hir, Look, Repetition};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Ticks and bytes that the lengths of texts are computed for: the defaults of MySQL's limits.
const LIMITS: Limits = Limits { ticks: 32, stack_bytes: 8_000_000 };
/// What is on the stack of states beside those that work counts.
const STATES_BEFORE: u64 = 4;
/// Bytes of a text that is worth an automaton at once.
const LONG_BYTES: usize = 512;
/// Shorter texts until one is made.
const SHORT_TEXTS: u32 = 16;
/// Bytes of an automaton with what it keeps: there is no fast path for a pattern beyond.
const AUTOMATON_BYTES_MAX: usize = 1 << 20;
/// Bytes of texts that the lengths are computed up to.
const TEXT_BYTES_MAX: u64 = 1 << 24;

/// What a text must be like.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    /// Nothing but ASCII: folding, words.
    ascii: bool,
    /// No line ends.
    one_line: bool,
}

/// The automaton of a pattern, made when it pays.
#[derive(Debug)]
pub(crate) struct Fast {
    node: Node,
    text_bytes_max: usize,
    asked: AtomicU32,
    automaton: OnceLock<Option<(meta::Regex, Needs)>>,
}

impl Fast {
    /// Of a tree whose states take so many slots; None where the machine may have too much to do.
    pub fn new(node: Node, state_size: u32) -> Option<Fast> {
        let stack_states = (LIMITS.stack_bytes / 4 / u64::from(state_size)).saturating_sub(STATES_BEFORE);
        let states_max = (LIMITS.ticks * TICK_STATES).min(stack_states);
        // At each place, and behind the last one, one state is saved before all others.
        let fits = |bytes: u64| {
            work(&node, bytes).is_some_and(|work| work.states.saturating_add(1) < states_max / (bytes + 2))
        };
        let (mut fit, mut beyond) = (0, TEXT_BYTES_MAX);
        while beyond - fit > 1 {
            let middle = (fit + beyond) / 2;
            if fits(middle) { fit = middle } else { beyond = middle }
        }
        let (asked, automaton) = (AtomicU32::new(0), OnceLock::new());
        (fit > 0).then(|| Fast { node, text_bytes_max: fit as usize, asked, automaton })
    }

    /// The automaton for a text, if there is one yet and it agrees with the machine on it.
    pub fn automaton(&self, subject: &str, limits: Limits) -> Option<&meta::Regex> {
        let is_less = |limit: u64, than: u64| limit != 0 && limit < than;
        if subject.len() > self.text_bytes_max
            || is_less(limits.ticks, LIMITS.ticks)
            || is_less(limits.stack_bytes, LIMITS.stack_bytes)
        {
            return None;
        }
        let pays = subject.len() >= LONG_BYTES || self.is_asked_often();
        let (automaton, needs) = if pays { self.made()? } else { self.automaton.get()?.as_ref()? };
        let agrees = (!needs.ascii || subject.is_ascii()) && !(needs.one_line && has_line_end(subject));
        agrees.then_some(automaton)
    }

    fn is_asked_often(&self) -> bool {
        self.asked.load(Ordering::Relaxed) >= SHORT_TEXTS
            || self.asked.fetch_add(1, Ordering::Relaxed) >= SHORT_TEXTS
    }

    fn made(&self) -> Option<&(meta::Regex, Needs)> {
        let make = || {
            let mut needs = Needs::default();
            let hir = translate(&self.node, &mut needs)?;
            Some((automaton(&hir)?, needs))
        };
        self.automaton.get_or_init(make).as_ref()
    }
}

/// None for a pattern that takes too much memory.
fn automaton(hir: &Hir) -> Option<meta::Regex> {
    let config = meta::Config::new()
        .nfa_size_limit(Some(AUTOMATON_BYTES_MAX))
        .hybrid_cache_capacity(AUTOMATON_BYTES_MAX / 4);
    meta::Builder::new().configure(config).build_from_hir(hir).ok()
}

fn has_line_end(subject: &str) -> bool {
    let has_ascii = subject.bytes().any(|byte| (b'\n'..=b'\r').contains(&byte));
    has_ascii || (!subject.is_ascii() && subject.contains(is_line_end))
}

/// How much the machine may have to do from one place of a text.
struct Work {
    /// Ways to match.
    ways: u64,
    /// States saved in all of them.
    states: u64,
}

/// The work in a text of so many bytes; None where it cannot be told.
fn work(node: &Node, bytes: u64) -> Option<Work> {
    Some(match node {
        Node::Concatenation(nodes) => {
            let mut all = Work { ways: 1, states: 0 };
            for node in nodes {
                let one = work(node, bytes)?;
                all.states = all.states.saturating_add(all.ways.saturating_mul(one.states));
                all.ways = all.ways.saturating_mul(one.ways);
            }
            all
        }
        Node::Alternation(nodes) => {
            let mut all = Work { ways: 0, states: nodes.len() as u64 };
            for node in nodes {
                let one = work(node, bytes)?;
                all.states = all.states.saturating_add(one.states);
                all.ways = all.ways.saturating_add(one.ways);
            }
            all
        }
        Node::Group(_, node) => work(node, bytes)?,
        Node::Repeat { node, most, .. } => {
            let one = work(node, bytes)?;
            let rounds = match most {
                Some(most) => u64::from(*most).min(bytes + 1),
                None if one.ways == 1 => bytes + 1,
                None => return None,
            };
            let ways = u32::try_from(rounds).map_or(u64::MAX, |rounds| one.ways.saturating_pow(rounds));
            Work {
                ways: ways.saturating_mul(rounds + 1),
                states: ways.saturating_mul(one.states + 2).saturating_mul(rounds + 2),
            }
        }
        _ => Work { ways: 1, states: 0 },
    })
}

fn class(class: ClassUnicode) -> Hir {
    Hir::class(HirClass::Unicode(class))
}

fn all_but(ranges: &[(char, char)]) -> Hir {
    let mut rest = ranges_of(ranges);
    rest.negate();
    class(rest)
}

/// The tree for the automaton; None where it has nothing like it.
fn translate(node: &Node, needs: &mut Needs) -> Option<Hir> {
    let mut all =
        |nodes: &[Node]| nodes.iter().map(|node| translate(node, needs)).collect::<Option<Vec<Hir>>>();
    Some(match node {
        Node::Literal { characters, folded: false } => {
            Hir::literal(characters.iter().collect::<String>().into_bytes())
        }
        Node::Literal { characters, .. } => {
            needs.ascii = true;
            let either = |character: char| {
                class(ranges_of(&[
                    (character, character),
                    (character.to_ascii_uppercase(), character.to_ascii_uppercase()),
                ]))
            };
            Hir::concat(characters.iter().map(|character| either(*character)).collect())
        }
        Node::Class { class: found, .. } => class(Class::to_ranges(found)),
        Node::Dot(Dot::Lines) => all_but(LINE_ENDS),
        Node::Dot(Dot::UnixLines) => all_but(&[('\n', '\n')]),
        Node::Dot(Dot::All) => {
            needs.one_line = true;
            all_but(&[])
        }
        Node::Assertion(assertion) => Hir::look(look(*assertion, needs)?),
        Node::Group(index, node) => {
            Hir::capture(Capture { index: *index, name: None, sub: Box::new(translate(node, needs)?) })
        }
        Node::Concatenation(nodes) => Hir::concat(all(nodes)?),
        Node::Alternation(nodes) => Hir::alternation(all(nodes)?),
        Node::Repeat { greed: Greed::Possessive, .. } | Node::Repeat { most: Some(0), .. } => return None,
        Node::Repeat { node, .. } if node.least_characters() == 0 => return None,
        Node::Repeat { node, least, most, greed, .. } => Hir::repetition(Repetition {
            min: *least,
            max: *most,
            greedy: *greed == Greed::Greedy,
            sub: Box::new(translate(node, needs)?),
        }),
        Node::LineBreak | Node::Cluster | Node::BackReference { .. } | Node::Atomic(_) | Node::Look(_) => {
            return None;
        }
    })
}

fn look(assertion: Assertion, needs: &mut Needs) -> Option<Look> {
    Some(match assertion {
        Assertion::TextStart => Look::Start,
        Assertion::TextEnd => Look::End,
        Assertion::LineStart | Assertion::UnixLineStart => {
            needs.one_line = true;
            Look::Start
        }
        Assertion::LastLineEnd | Assertion::UnixLastLineEnd | Assertion::LineEnd | Assertion::UnixLineEnd => {
            needs.one_line = true;
            Look::End
        }
        Assertion::WordBoundary | Assertion::NoWordBoundary => {
            needs.ascii = true;
            if assertion == Assertion::WordBoundary { Look::WordAscii } else { Look::WordAsciiNegate }
        }
        Assertion::LastMatchEnd => return None,
    })
}
