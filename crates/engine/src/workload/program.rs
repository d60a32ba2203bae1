//! The interpreter of a compiled program: instructions with jumps, and a cursor for each connection.

use super::dictionaries::Source;
use super::expression::{Expression, Machine, Place, Shared};
use super::instruction::Instruction;
use super::rows::{RowMaker, Rows};
use super::value::{Literal, Register};
use super::{Action, Captured, Policy, Statement, Table, Workload};
use crate::failure::{Fatal, FatalCode};
use crate::job::Part;
use crate::job::program::{Check, Empty, TableJob};
use crate::protocol::values::Values;
use crate::random::Random;

/// Loops that may be inside each other.
pub const MOST_LOOPS: usize = 8;
/// A day; longer pauses are slips of the pen.
const MOST_PAUSE_S: f64 = 86_400.0;

#[derive(Debug)]
pub struct Program {
    pub(super) kinds: Vec<&'static str>,
    pub(super) transactions: Vec<&'static str>,
    pub(super) statements: Vec<Statement>,
    pub(super) code: Vec<Instruction>,
    pub(super) shared: Shared,
    pub(super) policy: Policy,
    pub(super) prepared: bool,
    pub(super) registers: usize,
    pub(super) sources: Vec<(String, Source)>,
    pub(super) tables: Vec<(TableJob, RowMaker)>,
    pub(super) checks: Vec<Check>,
}

/// Where a connection is in its event, and what it remembers from one statement to the next.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cursor {
    next: usize,
    /// Start of the transaction under way.
    entry: usize,
    loops: [Loop; MOST_LOOPS],
    depth: usize,
    registers: Box<[Register]>,
    turns: Box<[usize]>,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Loop {
    index: i64,
    times: i64,
}

impl Program {
    /// Numbers that all connections of a load share are divided between its engines.
    pub fn take_part(&mut self, part: Part) {
        self.shared.unique.take_part(part);
        self.shared.counters.iter_mut().for_each(|counter| counter.take_part(part));
    }
}

impl Workload for Program {
    fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }

    fn transactions(&self) -> &[&'static str] {
        &self.transactions
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn cursor(&self, connection: u32, connections: u32) -> Cursor {
        Cursor {
            next: 0,
            entry: 0,
            loops: Default::default(),
            depth: 0,
            registers: vec![Register::default(); self.registers].into(),
            turns: vec![0; self.sources.len()].into(),
            place: Place {
                row: 0,
                connection: connection.into(),
                connections: connections.into(),
                // The first event begins with a rewind.
                event: -1,
            },
        }
    }

    #[inline]
    fn next(&self, cursor: &mut Cursor, random: &mut Random, values: &mut Values) -> Action {
        let (slots, text) = values.parts();
        let mut machine = Machine {
            shared: &self.shared,
            random,
            text,
            registers: &mut cursor.registers,
            turns: &mut cursor.turns,
            place: cursor.place,
        };
        loop {
            let instruction = &self.code[cursor.next];
            cursor.next += 1;
            match instruction {
                Instruction::Send(send) => return Action::Send(send.draw(&mut machine, slots)),
                Instruction::Let(register, value) => machine.assign(*register, value),
                Instruction::Repeat { times, index, end } => {
                    let times = machine.integer(times).unwrap_or(0);
                    if times <= 0 {
                        cursor.next = *end;
                    } else {
                        cursor.loops[cursor.depth] = Loop { index: 0, times };
                        cursor.depth += 1;
                        machine.set(*index, 0);
                    }
                }
                Instruction::Again { start, index } => {
                    let inner = &mut cursor.loops[cursor.depth - 1];
                    inner.index += 1;
                    if inner.index < inner.times {
                        cursor.next = *start;
                        machine.set(*index, inner.index);
                    } else {
                        cursor.depth -= 1;
                    }
                }
                Instruction::Unless(condition, target) => {
                    if !condition.is_true(&mut machine) {
                        cursor.next = *target;
                    }
                }
                Instruction::Jump(target) => cursor.next = *target,
                Instruction::Choose(choice) => cursor.next = choice.target(machine.random),
                Instruction::Begin(choice) => {
                    cursor.next = choice.target(machine.random);
                    cursor.entry = cursor.next;
                }
                Instruction::Pause(seconds) => {
                    return Action::Pause(machine.nanoseconds(seconds));
                }
                Instruction::Reconnect => return Action::Reconnect,
                Instruction::End { counts } => return Action::End { counts: *counts },
            }
        }
    }

    fn capture(&self, cursor: &mut Cursor, row: Option<&[Option<&[u8]>]>) -> Captured {
        // The statement that was answered is the last instruction that was carried out.
        let Some(Instruction::Send(send)) = self.code.get(cursor.next.wrapping_sub(1)) else {
            return Captured::GoOn;
        };
        let Some(reading) = &send.read else { return Captured::GoOn };
        match (row, reading.empty) {
            (Some(columns), _) => {
                for (place, &register) in reading.into.iter().enumerate() {
                    let column = columns.get(place).copied().flatten();
                    cursor.registers[register].store_column(column);
                }
            }
            (None, Empty::Fail) => return Captured::GiveUp,
            (None, Empty::Keep) => {}
            (None, Empty::Skip) => cursor.next = reading.skip,
        }
        Captured::GoOn
    }

    fn rewind(&self, cursor: &mut Cursor) {
        cursor.next = 0;
        cursor.depth = 0;
        cursor.place.event += 1;
    }

    fn restart(&self, cursor: &mut Cursor) {
        cursor.next = cursor.entry;
        cursor.depth = 0;
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn prepared(&self) -> bool {
        self.prepared
    }

    fn tables(&self) -> Vec<Table<'_>> {
        let tables = self.tables.iter().enumerate();
        tables
            .map(|(number, (job, _))| Table {
                name: &job.name,
                create: &job.create,
                columns: &job.columns,
                count: job.rows,
                rows: self.rows(number),
                then: &job.then,
            })
            .collect()
    }

    fn checks(&self) -> &[Check] {
        &self.checks
    }
}

impl Program {
    /// Makes and reads the dictionaries, once the tables are there; `query` gives the first column of
    /// what a query returns.
    ///
    /// # Errors
    /// What `query` says, and a query without any row.
    pub fn fill_dictionaries(
        &mut self,
        mut query: impl FnMut(&str) -> Result<Vec<Literal>, Fatal>,
    ) -> Result<(), Fatal> {
        for dictionary in 0..self.sources.len() {
            let words = match &self.sources[dictionary].1 {
                Source::Words => continue,
                Source::Column { table, column, every } => self.column(*table, *column, *every),
                Source::Query(sql) => query(sql)?,
            };
            if words.is_empty() {
                let name = &self.sources[dictionary].0;
                let message = format!("the dictionary {name} is empty: its query returned no row");
                return Err(Fatal::new(FatalCode::Sql, message));
            }
            self.shared.dictionaries[dictionary] = words;
        }
        Ok(())
    }

    fn column(&self, table: usize, column: usize, every: u64) -> Vec<Literal> {
        let mut rows = self.rows(table);
        let all = (1..=self.table_rows(table)).map(|number| (number, rows.next_column(column)));
        all.filter(|(number, _)| number.is_multiple_of(every)).map(|(_, word)| word).collect()
    }

    fn rows(&self, table: usize) -> Rows<'_> {
        Rows::new(&self.tables[table].1, &self.shared, self.registers)
    }

    fn table_rows(&self, table: usize) -> u64 {
        self.tables[table].0.rows
    }
}

impl Machine<'_> {
    #[inline]
    fn set(&mut self, register: Option<usize>, number: i64) {
        if let Some(register) = register {
            self.registers[register].store_integer(number);
        }
    }

    /// Seconds to nanoseconds; what is no length of time is none.
    fn nanoseconds(&mut self, seconds: &Expression) -> u64 {
        let seconds = self.number(seconds).map_or(0.0, |number| number.as_float());
        (seconds.clamp(0.0, MOST_PAUSE_S) * 1e9) as u64
    }
}
