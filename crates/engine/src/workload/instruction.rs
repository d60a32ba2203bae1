//! What a program is compiled to: instructions with jumps.

use super::expression::{Expression, Machine};
use crate::job::program::Empty;
use crate::protocol::values::Slot;
use crate::random::Random;

#[derive(Debug)]
pub enum Instruction {
    /// The start of an event: choose its transaction.
    Begin(Choice),
    Send(Box<Send>),
    Let(usize, Expression),
    /// Enter a loop, or jump to its end.
    Repeat {
        times: Expression,
        index: Option<usize>,
        end: usize,
    },
    /// Go round a loop again, or leave it.
    Again {
        start: usize,
        index: Option<usize>,
    },
    /// Jump unless the condition holds.
    Unless(Expression, usize),
    Jump(usize),
    Choose(Choice),
    /// Rest for so many seconds.
    Pause(Expression),
    Reconnect,
    End {
        counts: Option<usize>,
    },
}

/// One of several targets by weight.
#[derive(Debug)]
pub struct Choice {
    /// Sum of the weights up to and with each target's.
    pub cumulative: Vec<u64>,
    pub targets: Vec<usize>,
}

impl Choice {
    #[inline]
    pub fn target(&self, random: &mut Random) -> usize {
        let place = match self.cumulative.as_slice() {
            [_] => 0,
            [.., total] => {
                let drawn = random.below(*total);
                self.cumulative.partition_point(|&sum| sum <= drawn)
            }
            [] => unreachable!("a choice has a target"),
        };
        self.targets[place]
    }
}

#[derive(Debug)]
pub struct Send {
    /// The statement, or its first copy.
    pub statement: usize,
    pub copies: Option<Copies>,
    pub values: Vec<Parameter>,
    pub read: Option<Reading>,
}

/// A statement that is there several times.
#[derive(Clone, Copy, Debug)]
pub struct Copies {
    pub count: u64,
    /// Holds the number of the copy, from 1.
    pub register: usize,
}

#[derive(Debug)]
pub struct Parameter {
    pub value: Expression,
    /// Spliced in without quotes.
    pub raw: bool,
}

#[derive(Debug)]
pub struct Reading {
    pub into: Vec<usize>,
    pub empty: Empty,
    /// End of the block, where a program goes on that skips.
    pub skip: usize,
}

impl Send {
    /// Draws the values; gives the statement.
    #[inline]
    pub fn draw(&self, machine: &mut Machine<'_>, slots: &mut Vec<Slot>) -> usize {
        let copy = match self.copies {
            None => 0,
            Some(copies) => copies.choose(machine),
        };
        for parameter in &self.values {
            let slot = parameter.value.evaluate(machine);
            slots.push(match slot {
                Slot::Text(span) if parameter.raw => Slot::Decimal(span),
                other => other,
            });
        }
        self.statement + copy
    }
}

impl Copies {
    /// The copy, counted from 0.
    #[inline]
    fn choose(&self, machine: &mut Machine<'_>) -> usize {
        let number = machine.integer(&Expression::Register(self.register)).unwrap_or(1);
        (number - 1).rem_euclid(self.count as i64) as usize
    }
}
