//! The automaton of a program, built state by state as texts need it.

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use crate::program::{Assertion, Instruction, Program};

/// Steps that one caller has, for all texts together: instructions that new states take. A step takes some nanoseconds.
pub const MAX_STEPS: u32 = 500_000;
/// The most numbers that an automaton keeps, of four bytes each. A larger one is forgotten and begun again.
const MAX_KEPT: usize = 1 << 16;

/// How many steps are left.
#[derive(Debug)]
pub struct Steps(Cell<u32>);

impl Default for Steps {
    fn default() -> Self {
        Self(Cell::new(MAX_STEPS))
    }
}

impl Steps {
    /// How many were taken.
    #[must_use]
    pub fn taken(&self) -> u32 {
        MAX_STEPS - self.0.get()
    }

    fn take(&self, count: usize) -> Result<(), Exhausted> {
        let left = u32::try_from(count).ok().and_then(|count| self.0.get().checked_sub(count));
        self.0.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Exhausted)
    }
}

/// The steps did not suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exhausted;

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pattern takes more than {MAX_STEPS} steps")
    }
}

impl std::error::Error for Exhausted {}

/// The place of a state, or one of the three numbers below.
type Place = u32;
const MATCHED: Place = u32::MAX;
const FAILED: Place = u32::MAX - 1;
const UNKNOWN: Place = u32::MAX - 2;

/// What stands before a place in the text, as far as assertions ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Before {
    Start,
    Word,
    Other,
}

/// The instructions that wait for the next character: classes, and assertions that depend on it.
type State = (Arc<[u32]>, Before);

#[derive(Debug)]
pub(crate) struct Automaton {
    states: Vec<State>,
    places: HashMap<State, Place>,
    /// A row for each state: its successor for each group of characters, then for the end of the text.
    table: Vec<Place>,
    width: usize,
    /// Numbers in states and rows.
    kept: usize,
    /// How often all states were forgotten.
    forgotten: u64,
    /// What begins at the first place of the text.
    start: Arc<[u32]>,
    /// The pattern matches every text.
    always: bool,
    /// What begins at each later place of the text.
    again: Vec<u32>,
    closure: Closure,
}

impl Automaton {
    pub(crate) fn new(program: &Program) -> Self {
        let mut closure = Closure::new(program.instructions.len());
        let always = closure.add(program, program.start);
        let start = closure.waiting();
        let begins_at_start = |place: &u32| {
            matches!(program.instructions[*place as usize], Instruction::Assert(Assertion::Start, _))
        };
        Self {
            states: Vec::new(),
            places: HashMap::new(),
            table: Vec::new(),
            width: program.groups() + 1,
            kept: 0,
            forgotten: 0,
            always,
            again: start.iter().copied().filter(|place| !begins_at_start(place)).collect(),
            start,
            closure,
        }
    }

    /// Returns whether the program matches in the text.
    pub(crate) fn run(&mut self, program: &Program, text: &str, steps: &Steps) -> Result<bool, Exhausted> {
        if self.always {
            return Ok(true);
        }
        let mut place = self.place((self.start.clone(), Before::Start));
        for character in text.chars() {
            let group = program.group(character);
            place = match self.table[place as usize * self.width + group] {
                UNKNOWN => self.step(program, place, Some(group), steps)?,
                known => known,
            };
            match place {
                MATCHED => return Ok(true),
                FAILED => return Ok(false),
                _ => {}
            }
        }
        let last = match self.table[place as usize * self.width + self.width - 1] {
            UNKNOWN => self.step(program, place, None, steps)?,
            known => known,
        };
        Ok(last == MATCHED)
    }

    /// Returns the place of a state, which is new or known.
    fn place(&mut self, state: State) -> Place {
        if let Some(place) = self.places.get(&state) {
            return *place;
        }
        let size = self.width + 2 * state.0.len();
        if self.kept + size > MAX_KEPT {
            self.states.clear();
            self.places.clear();
            self.table.clear();
            self.kept = 0;
            self.forgotten += 1;
        }
        self.kept += size;
        let place = Place::try_from(self.states.len()).unwrap_or_default();
        self.table.resize(self.table.len() + self.width, UNKNOWN);
        self.states.push(state.clone());
        self.places.insert(state, place);
        place
    }

    /// Builds the successor of a state for a group of characters, or for the end of the text.
    fn step(
        &mut self,
        program: &Program,
        place: Place,
        group: Option<usize>,
        steps: &Steps,
    ) -> Result<Place, Exhausted> {
        let forgotten = self.forgotten;
        let (waiting, before) = self.states[place as usize].clone();
        let successor = self.successor(program, &waiting, before, group);
        steps.take(self.closure.visited)?;
        let next = match successor {
            Some(state) => self.place(state),
            None if self.closure.matched => MATCHED,
            None => FAILED,
        };
        // Otherwise its row is gone.
        if self.forgotten == forgotten {
            self.table[place as usize * self.width + group.unwrap_or(self.width - 1)] = next;
        }
        Ok(next)
    }

    /// Returns the state behind a character; none if the pattern matches, or cannot match any more.
    fn successor(
        &mut self,
        program: &Program,
        waiting: &[u32],
        before: Before,
        group: Option<usize>,
    ) -> Option<State> {
        let resolved = self.closure.resolve(program, waiting, before, group);
        let group = group.filter(|_| !self.closure.matched)?;
        let visited = self.closure.visited;
        self.closure.clear();
        self.closure.visited = visited;
        for place in resolved {
            if let Instruction::Take { class, next } = program.instructions[place as usize]
                && program.takes(class, group)
                && self.closure.add(program, next)
            {
                return None;
            }
        }
        for place in &self.again {
            self.closure.add(program, *place);
        }
        let behind = match program.asks_for_words && program.is_word(group) {
            true => Before::Word,
            false => Before::Other,
        };
        self.closure.never_starts(program);
        let waiting = self.closure.waiting();
        (!waiting.is_empty()).then_some((waiting, behind))
    }
}

/// A set of instructions with all that follow from them without a character.
#[derive(Debug)]
struct Closure {
    /// The round in which an instruction was last added.
    seen: Vec<u32>,
    round: u32,
    set: Vec<u32>,
    stack: Vec<u32>,
    visited: usize,
    matched: bool,
}

impl Closure {
    fn new(instructions: usize) -> Self {
        let seen = vec![0; instructions];
        Self { seen, round: 1, set: Vec::new(), stack: Vec::new(), visited: 0, matched: false }
    }

    fn clear(&mut self) {
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.seen.fill(0);
            1
        });
        self.set.clear();
        self.visited = 0;
        self.matched = false;
    }

    /// Adds an instruction with what follows from it; returns whether the pattern matches there.
    fn add(&mut self, program: &Program, place: u32) -> bool {
        self.stack.push(place);
        while let Some(place) = self.stack.pop() {
            self.visited += 1;
            if std::mem::replace(&mut self.seen[place as usize], self.round) == self.round {
                continue;
            }
            match program.instructions[place as usize] {
                Instruction::Split(one, other) => self.stack.extend([other, one]),
                Instruction::Match => self.matched = true,
                Instruction::Take { .. } | Instruction::Assert(..) => self.set.push(place),
            }
        }
        self.matched
    }

    /// Returns the instructions of a state, and what follows from its assertions that hold before a group of characters.
    fn resolve(
        &mut self,
        program: &Program,
        waiting: &[u32],
        before: Before,
        group: Option<usize>,
    ) -> Vec<u32> {
        self.clear();
        for place in waiting {
            self.add(program, *place);
        }
        let is_word = group.is_some_and(|group| program.is_word(group));
        let mut at = 0;
        while let Some(place) = self.set.get(at) {
            if let Instruction::Assert(assertion, next) = program.instructions[*place as usize] {
                let holds = match assertion {
                    Assertion::Start => before == Before::Start,
                    Assertion::End => group.is_none(),
                    Assertion::Boundary(is_one) => is_one == ((before == Before::Word) != is_word),
                };
                if holds {
                    self.add(program, next);
                }
            }
            at += 1;
        }
        std::mem::take(&mut self.set)
    }

    /// Leaves out what can only hold before the first character.
    fn never_starts(&mut self, program: &Program) {
        self.set.retain(|place| {
            !matches!(program.instructions[*place as usize], Instruction::Assert(Assertion::Start, _))
        });
    }

    /// The instructions of the set, in one order.
    fn waiting(&mut self) -> Arc<[u32]> {
        self.set.sort_unstable();
        Arc::from(self.set.as_slice())
    }
}
