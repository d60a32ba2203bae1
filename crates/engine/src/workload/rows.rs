//! The rows of a table, the same at every run: they depend on the program alone, never on the seed
//! of the job, so that a dataset can be loaded once and cloned for trials with different seeds.

use super::expression::{Expression, Machine, Place, Shared};
use super::value::{Literal, Register};
use crate::protocol::literal::{write_field, write_literal};
use crate::protocol::values::Values;
use crate::random::Random;

const ROWS_SEED: u64 = 0x6d79_6479_6e6f;

/// How the rows of a table are made.
#[derive(Debug)]
pub struct RowMaker {
    /// Number of the table, which names its stream of random numbers.
    pub table: usize,
    pub lets: Vec<(usize, Expression)>,
    pub columns: Vec<Expression>,
}

/// The rows one after the other.
pub struct Rows<'a> {
    maker: &'a RowMaker,
    shared: &'a Shared,
    registers: Vec<Register>,
    random: Random,
    values: Values,
    number: i64,
}

impl<'a> Rows<'a> {
    pub(super) fn new(maker: &'a RowMaker, shared: &'a Shared, registers: usize) -> Self {
        Self {
            maker,
            shared,
            registers: vec![Register::default(); registers],
            random: Random::stream(ROWS_SEED, &[maker.table as u64]),
            values: Values::default(),
            number: 0,
        }
    }

    /// Appends the next row as it stands in an INSERT.
    pub fn write(&mut self, out: &mut Vec<u8>) {
        self.advance();
        for (place, value) in self.values.iter().enumerate() {
            out.push(if place == 0 { b'(' } else { b',' });
            write_literal(value, out);
        }
        out.push(b')');
    }

    /// Appends the next row as a line of a file for LOAD DATA.
    pub fn write_line(&mut self, out: &mut Vec<u8>) {
        self.advance();
        for (place, value) in self.values.iter().enumerate() {
            if place > 0 {
                out.push(b'\t');
            }
            write_field(value, out);
        }
        out.push(b'\n');
    }

    /// Goes to the next row and gives one of its columns.
    pub(super) fn next_column(&mut self, column: usize) -> Literal {
        self.advance();
        let value = self.values.slots()[column];
        Literal::new(value, self.values.text())
    }

    fn advance(&mut self) {
        self.number += 1;
        self.values.clear();
        let (slots, text) = self.values.parts();
        let mut machine = Machine {
            shared: self.shared,
            random: &mut self.random,
            text,
            registers: &mut self.registers,
            // No row reads a dictionary in turn.
            turns: &mut [],
            place: Place { row: self.number, ..Place::default() },
        };
        for (register, value) in &self.maker.lets {
            machine.assign(*register, value);
        }
        for column in &self.maker.columns {
            slots.push(column.evaluate(&mut machine));
        }
    }
}
