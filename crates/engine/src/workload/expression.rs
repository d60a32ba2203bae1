//! Expressions as they are evaluated: names are indices, constants are folded.

use std::sync::atomic::{AtomicI64, Ordering};

use super::arithmetic::{Operation, calculate, compare, is_true};
use super::pattern::{Letters, Pattern};
use super::permutation::permute;
use super::unique::Unique;
use super::value::{Literal, Number, Register, settle_as_text};
use crate::distribution::{Picker, Shape, exponential};
use crate::job::Part;
use crate::protocol::values::{Slot, Span};
use crate::random::Random;

/// Longer texts are not made: a statement may not be longer either.
pub const MOST_TEXT: usize = 16 << 20;

/// What all connections share.
#[derive(Debug)]
pub struct Shared {
    /// The program's named generators.
    pub values: Vec<Expression>,
    /// Words of each dictionary.
    pub dictionaries: Vec<Vec<Literal>>,
    pub counters: Vec<Counter>,
    pub unique: Unique,
}

#[derive(Debug)]
pub struct Counter {
    /// One for each copy.
    pub next: Box<[AtomicI64]>,
    pub step: i64,
}

impl Counter {
    /// The engines that share a load take turns: each has every `part.of`-th number.
    pub fn take_part(&mut self, part: Part) {
        for next in &mut self.next {
            *next.get_mut() += self.step * i64::from(part.number);
        }
        self.step *= i64::from(part.of);
    }
}

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub row: i64,
    pub connection: i64,
    pub connections: i64,
    pub event: i64,
}

/// All that an expression reads and changes.
pub struct Machine<'a> {
    pub shared: &'a Shared,
    pub random: &'a mut Random,
    /// Texts of values are appended here.
    pub text: &'a mut Vec<u8>,
    pub registers: &'a mut [Register],
    /// The next word of each dictionary that is read in turn.
    pub turns: &'a mut [usize],
    pub place: Place,
}

#[derive(Clone, Debug)]
pub enum Expression {
    Constant(Literal),
    Register(usize),
    /// A named generator, and the register that something reads its value from later.
    Draw {
        value: usize,
        keep: Option<usize>,
    },
    Row,
    Connection,
    Connections,
    Event,
    Uniform {
        low: i64,
        values: u64,
    },
    Pick(Box<Picker>),
    /// A distribution over a range that is only known when it is drawn from.
    PickBetween(Shape, Box<[Expression; 2]>),
    Exponential(Box<Expression>),
    Pattern(Pattern),
    Letters(Letters, Box<[Expression; 2]>),
    PickWord(usize),
    NextWord(usize),
    Word(usize, Box<Expression>),
    Unique,
    /// A counter and which of its copies.
    Counter(usize, Box<Expression>),
    Calculate(Operation, Box<[Expression; 2]>),
    Compare(Comparison, Box<[Expression; 2]>),
    And(Box<[Expression; 2]>),
    Or(Box<[Expression; 2]>),
    Not(Box<Expression>),
    If(Box<[Expression; 3]>),
    Concat(Box<[Expression]>),
    Times(Box<[Expression; 2]>),
    Pad(Box<[Expression; 2]>, Box<str>),
    Decimal(Box<[Expression; 2]>),
    Substring(Box<[Expression; 3]>),
    Permute(Box<[Expression; 3]>),
    List(Box<[Expression; 2]>, Box<str>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    Unequal,
}

impl Expression {
    /// The value; its text, if it has one, is in the machine's buffer.
    #[inline]
    pub fn evaluate(&self, machine: &mut Machine<'_>) -> Slot {
        match self {
            Expression::Uniform { low, values } => {
                Slot::Integer(low + machine.random.below(*values) as i64)
            }
            Expression::Pick(picker) => Slot::Integer(picker.draw(machine.random)),
            Expression::Register(index) => machine.registers[*index].load(machine.text),
            Expression::Draw { value, keep } => machine.draw(*value, *keep),
            Expression::Pattern(pattern) => Slot::Text(pattern.write(machine.random, machine.text)),
            Expression::PickWord(dictionary) => {
                let words = &machine.shared.dictionaries[*dictionary];
                words[machine.random.below(words.len() as u64) as usize].load(machine.text)
            }
            Expression::Constant(literal) => literal.load(machine.text),
            Expression::Calculate(operation, sides) => machine.calculate(*operation, sides),
            other => other.evaluate_rarer(machine),
        }
    }

    fn evaluate_rarer(&self, machine: &mut Machine<'_>) -> Slot {
        match self {
            Expression::Row => Slot::Integer(machine.place.row),
            Expression::Connection => Slot::Integer(machine.place.connection),
            Expression::Connections => Slot::Integer(machine.place.connections),
            Expression::Event => Slot::Integer(machine.place.event),
            Expression::PickBetween(shape, range) => {
                machine.pick_between(*shape, range).map_or(Slot::Null, Slot::Integer)
            }
            Expression::Exponential(mean) => match machine.number(mean) {
                Some(mean) => Slot::Float(exponential(mean.as_float(), machine.random)),
                None => Slot::Null,
            },
            Expression::NextWord(dictionary) => machine.next_word(*dictionary),
            Expression::Word(dictionary, index) => machine.word(*dictionary, index),
            Expression::Unique => Slot::Integer(machine.shared.unique.next().into()),
            Expression::Counter(index, copy) => {
                machine.integer(copy).map_or(Slot::Null, |copy| {
                    let counter = &machine.shared.counters[*index];
                    // Copies are counted from 1, round and round.
                    let place = (copy - 1).rem_euclid(counter.next.len() as i64) as usize;
                    Slot::Integer(counter.next[place].fetch_add(counter.step, Ordering::Relaxed))
                })
            }
            Expression::Compare(comparison, sides) => machine.compare(*comparison, sides),
            Expression::And(sides) => truth(sides[0].is_true(machine) && sides[1].is_true(machine)),
            Expression::Or(sides) => truth(sides[0].is_true(machine) || sides[1].is_true(machine)),
            Expression::Not(inner) => truth(!inner.is_true(machine)),
            Expression::If(branches) => {
                let chosen = if branches[0].is_true(machine) { 1 } else { 2 };
                branches[chosen].evaluate(machine)
            }
            Expression::Permute(arguments) => {
                machine.permute(arguments).map_or(Slot::Null, Slot::Integer)
            }
            text => text.evaluate_text(machine),
        }
    }

    /// Whether the value counts as true: a number other than 0.
    pub fn is_true(&self, machine: &mut Machine<'_>) -> bool {
        let slot = self.evaluate(machine);
        is_true(slot, machine.text)
    }
}

fn truth(holds: bool) -> Slot {
    Slot::Integer(holds.into())
}

impl Machine<'_> {
    #[inline]
    fn draw(&mut self, value: usize, keep: Option<usize>) -> Slot {
        let shared = self.shared;
        let slot = shared.values[value].evaluate(self);
        if let Some(register) = keep {
            self.registers[register].store(slot, self.text);
        }
        slot
    }

    /// Evaluates and keeps the value in a register.
    #[inline]
    pub fn assign(&mut self, register: usize, expression: &Expression) {
        let mark = self.text.len();
        let slot = expression.evaluate(self);
        self.registers[register].store(slot, self.text);
        self.text.truncate(mark);
    }

    pub fn number(&mut self, expression: &Expression) -> Option<Number> {
        let slot = expression.evaluate(self);
        Number::of(slot, self.text)
    }

    #[inline]
    pub fn integer(&mut self, expression: &Expression) -> Option<i64> {
        match expression.evaluate(self) {
            Slot::Integer(number) => Some(number),
            other => Number::of(other, self.text)?.floor(),
        }
    }

    /// Appends the value as unquoted text.
    pub fn append_text(&mut self, expression: &Expression) -> Option<Span> {
        let mark = self.text.len();
        let slot = expression.evaluate(self);
        settle_as_text(slot, mark, self.text)
    }

    #[inline]
    fn calculate(&mut self, operation: Operation, [left, right]: &[Expression; 2]) -> Slot {
        let left = left.evaluate(self);
        let right = right.evaluate(self);
        calculate(operation, left, right, self.text)
    }

    fn compare(&mut self, comparison: Comparison, [left, right]: &[Expression; 2]) -> Slot {
        let left = left.evaluate(self);
        let right = right.evaluate(self);
        let order = compare(left, right, self.text);
        truth(match comparison {
            Comparison::Less => order.is_some_and(|order| order.is_lt()),
            Comparison::LessOrEqual => order.is_some_and(|order| order.is_le()),
            Comparison::Equal => order.is_some_and(|order| order.is_eq()),
            Comparison::Unequal => !order.is_some_and(|order| order.is_eq()),
        })
    }

    fn permute(&mut self, [index, n, key]: &[Expression; 3]) -> Option<i64> {
        let index = self.integer(index)?;
        let n = self.integer(n)?;
        permute(index, n, self.integer(key)?)
    }

    fn pick_between(&mut self, shape: Shape, [low, high]: &[Expression; 2]) -> Option<i64> {
        let low = self.integer(low)?;
        let high = self.integer(high)?;
        Some(Picker::new(shape, low, high)?.draw(self.random))
    }

    fn next_word(&mut self, dictionary: usize) -> Slot {
        let words = &self.shared.dictionaries[dictionary];
        let turn = &mut self.turns[dictionary];
        let word = &words[*turn % words.len()];
        *turn = (*turn + 1) % words.len();
        word.load(self.text)
    }

    fn word(&mut self, dictionary: usize, index: &Expression) -> Slot {
        let Some(index) = self.integer(index) else { return Slot::Null };
        let words = &self.shared.dictionaries[dictionary];
        words[index.rem_euclid(words.len() as i64) as usize].load(self.text)
    }
}
