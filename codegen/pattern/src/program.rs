//! A pattern as a list of instructions, and the groups of characters that it treats alike.

use std::collections::HashMap;

use crate::{Class, Node, Refusal};

/// The most instructions of a pattern whose counts are written out.
const MAX_INSTRUCTIONS: usize = 30_000;
/// The most different classes of one pattern.
const MAX_CLASSES: usize = 1_000;

/// One instruction; numbers are places in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Instruction {
    /// Takes a character of the class with this number.
    Take { class: u32, next: u32 },
    /// The match may continue at either of the two instructions.
    Split(u32, u32),
    /// The match continues at the next instruction if the assertion holds.
    Assert(Assertion, u32),
    /// The pattern matches.
    Match,
}

/// What holds between two characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Assertion {
    Start,
    End,
    Boundary(bool),
}

#[derive(Debug)]
pub(crate) struct Program {
    pub instructions: Vec<Instruction>,
    pub start: u32,
    /// The pattern asks where words begin and end.
    pub asks_for_words: bool,
    /// Group of each ASCII character.
    ascii: [u16; 128],
    /// The first code point of each run of others, with its group.
    runs: Vec<(u32, u16)>,
    /// For each group, whether it belongs to each class, and whether its characters are those of words.
    members: Vec<Vec<bool>>,
    words: Vec<bool>,
}

impl Program {
    pub(crate) fn new(node: &Node) -> Result<Self, Refusal> {
        let mut compiler = Compiler::default();
        let last = compiler.push(Instruction::Match)?;
        let start = compiler.node(node, last)?;
        let asks_for_words = compiler
            .instructions
            .iter()
            .any(|instruction| matches!(instruction, Instruction::Assert(Assertion::Boundary(_), _)));
        let mut classes = compiler.classes;
        classes.extend(Class::escape('w').filter(|_| asks_for_words));
        let runs = groups(&classes);
        let group_of = |code: u32| runs[runs.partition_point(|(from, _)| *from <= code) - 1].1;
        let count = runs.iter().map(|(_, group)| usize::from(*group) + 1).max().unwrap_or(1);
        let mut members = vec![Vec::new(); count];
        for &(from, group) in &runs {
            members[usize::from(group)] = classes.iter().map(|class| class.contains(from)).collect();
        }
        let words = members.iter().map(|members| asks_for_words && members.last() == Some(&true)).collect();
        Ok(Self {
            instructions: compiler.instructions,
            start,
            asks_for_words,
            ascii: std::array::from_fn(|code| group_of(u32::try_from(code).unwrap_or_default())),
            runs,
            members,
            words,
        })
    }

    /// The number of groups of characters.
    pub(crate) fn groups(&self) -> usize {
        self.members.len()
    }

    pub(crate) fn group(&self, character: char) -> usize {
        let code = u32::from(character);
        usize::from(match self.ascii.get(code as usize) {
            Some(group) => *group,
            None => self.runs[self.runs.partition_point(|(from, _)| *from <= code) - 1].1,
        })
    }

    pub(crate) fn takes(&self, class: u32, group: usize) -> bool {
        self.members[group][class as usize]
    }

    pub(crate) fn is_word(&self, group: usize) -> bool {
        self.words[group]
    }
}

#[derive(Default)]
struct Compiler {
    instructions: Vec<Instruction>,
    classes: Vec<Class>,
    numbers: HashMap<Class, u32>,
}

impl Compiler {
    fn push(&mut self, instruction: Instruction) -> Result<u32, Refusal> {
        if self.instructions.len() >= MAX_INSTRUCTIONS {
            return Err(Refusal::TooLarge);
        }
        self.instructions.push(instruction);
        Ok(u32::try_from(self.instructions.len() - 1).unwrap_or_default())
    }

    /// Writes the instructions that match the node and then lead to `next`. Returns the first of them.
    fn node(&mut self, node: &Node, next: u32) -> Result<u32, Refusal> {
        match node {
            Node::Class(class) => {
                let class = self.class(class)?;
                self.push(Instruction::Take { class, next })
            }
            Node::Start => self.push(Instruction::Assert(Assertion::Start, next)),
            Node::End => self.push(Instruction::Assert(Assertion::End, next)),
            Node::Boundary(is_one) => self.push(Instruction::Assert(Assertion::Boundary(*is_one), next)),
            Node::Sequence(nodes) => nodes.iter().rev().try_fold(next, |next, node| self.node(node, next)),
            Node::Choice(nodes) => {
                let mut places = Vec::with_capacity(nodes.len());
                for node in nodes {
                    places.push(self.node(node, next)?);
                }
                let last = places.pop().unwrap_or(next);
                places
                    .into_iter()
                    .rev()
                    .try_fold(last, |rest, place| self.push(Instruction::Split(place, rest)))
            }
            Node::Repeat(inner, least, most) => self.repeat(inner, *least, *most, next),
        }
    }

    fn repeat(&mut self, inner: &Node, least: u32, most: Option<u32>, next: u32) -> Result<u32, Refusal> {
        let mut place = next;
        match most {
            None => {
                let split = self.push(Instruction::Split(next, next))?;
                let body = self.node(inner, split)?;
                self.instructions[split as usize] = Instruction::Split(body, next);
                place = split;
            }
            Some(most) => {
                for _ in least..most {
                    let body = self.node(inner, place)?;
                    // What takes nothing needs no copies.
                    if body == place {
                        break;
                    }
                    place = self.push(Instruction::Split(body, next))?;
                }
            }
        }
        for _ in 0..least {
            let body = self.node(inner, place)?;
            if body == place {
                break;
            }
            place = body;
        }
        Ok(place)
    }

    fn class(&mut self, class: &Class) -> Result<u32, Refusal> {
        if let Some(known) = self.numbers.get(class) {
            return Ok(*known);
        }
        if self.classes.len() >= MAX_CLASSES {
            return Err(Refusal::TooLarge);
        }
        let number = u32::try_from(self.classes.len()).unwrap_or_default();
        self.numbers.insert(class.clone(), number);
        self.classes.push(class.clone());
        Ok(number)
    }
}

/// Cuts all code points into runs, each with the number of the group of those that the same classes contain.
fn groups(classes: &[Class]) -> Vec<(u32, u16)> {
    let mut starts: Vec<u32> = classes
        .iter()
        .flat_map(|class| class.ranges().iter().flat_map(|&(from, to)| [from, to + 1]))
        .chain([0])
        .filter(|code| *code <= Class::LAST)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    // Splits the groups by one class after the other.
    let mut of = vec![0_usize; starts.len()];
    let mut count = 1;
    for class in classes {
        let mut inside = HashMap::new();
        for &(from, to) in class.ranges() {
            let (first, end) =
                (starts.partition_point(|code| *code < from), starts.partition_point(|code| *code <= to));
            for group in &mut of[first..end] {
                *group = *inside.entry(*group).or_insert_with(|| {
                    count += 1;
                    count - 1
                });
            }
        }
    }
    let mut numbers = HashMap::new();
    starts
        .into_iter()
        .zip(of)
        .map(|(start, group)| {
            let next = u16::try_from(numbers.len()).unwrap_or_default();
            (start, *numbers.entry(group).or_insert(next))
        })
        .collect()
}
