//! The two stock scripts of super-smack 1.3: select-key and update-select.
//!
//! A round empties the query barrel once: two selects by user name, or one select and one update.
//! The names come from a dictionary made the way super-smack makes its own from the data file
//! `words.dat`: every n-th line, n being the size of the file over `file_size_equiv`. With the
//! stock numbers that is 750 names of 90,000, which is part of what the benchmark measures.

use std::io::Write;

use super::{Action, Cursor, Policy, ROWS_SEED, Statement, Table, Workload};
use crate::job::{SmackJob, SmackScenario};
use crate::protocol::values::Values;
use crate::random::Random;

const SELECT: usize = 0;
const UPDATE: usize = 1;
const NAME_LETTERS: usize = 12;
const PASSWORD_LETTERS: usize = 25;

pub(super) struct Smack {
    kinds: &'static [&'static str],
    statements: Vec<Statement>,
    barrel: [usize; 2],
    names: Vec<Box<[u8]>>,
    rows: u32,
    prepared: bool,
    policy: Policy,
}

impl Smack {
    pub(super) fn new(job: &SmackJob) -> Self {
        let select = Statement::new(SELECT, "select * from http_auth where username = ?");
        let update = Statement::new(UPDATE, "update http_auth set pass = ? where username = ?");
        let (kinds, statements, barrel): (&'static [&'static str], _, _) = match job.scenario {
            SmackScenario::SelectKey => (&["select_index"], vec![select], [SELECT, SELECT]),
            SmackScenario::UpdateSelect => {
                (&["select_index", "update_index"], vec![select, update], [SELECT, UPDATE])
            }
        };
        let names = dictionary(job.rows, job.file_size_equiv);
        let policy = Policy::retrying(&super::SYSBENCH_RETRIES);
        Self { kinds, statements, barrel, names, rows: job.rows, prepared: job.prepared, policy }
    }

    fn push_name(&self, random: &mut Random, values: &mut Values) {
        values.push_text(&self.names[random.below(self.names.len() as u64) as usize]);
    }
}

impl Workload for Smack {
    fn kinds(&self) -> &[&'static str] {
        self.kinds
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn cursor(&self, _connection: u32, _connections: u32) -> Cursor {
        Cursor::default()
    }

    fn next(&self, cursor: &mut Cursor, random: &mut Random, values: &mut Values) -> Action {
        let Some(&statement) = self.barrel.get(cursor.step) else {
            return Action::End { counts: true };
        };
        cursor.step += 1;
        self.push_name(random, values);
        if statement == UPDATE {
            // Both the new password and the user are names of the dictionary, drawn apart.
            self.push_name(random, values);
        }
        Action::Send(statement)
    }

    fn rewind(&self, cursor: &mut Cursor) {
        *cursor = Cursor::default();
    }

    fn prepared(&self) -> bool {
        self.prepared
    }

    fn tables(&self) -> Vec<Table> {
        let mut rows = Rows::new();
        vec![Table {
            name: "http_auth".to_owned(),
            create: "create table http_auth (\
                     username char(25) not null primary key, pass char(25), \
                     uid integer not null, gid integer not null)"
                .to_owned(),
            insert: "insert into http_auth values ".to_owned(),
            rows: u64::from(self.rows),
            write_row: Box::new(move |out| {
                let row = rows.next();
                write!(
                    out,
                    "('{}','{}',{},{})",
                    row.name(),
                    String::from_utf8_lossy(&row.password),
                    row.number,
                    row.gid
                )
                .expect("writing to memory does not fail");
            }),
            finish: Vec::new(),
        }]
    }
}

/// A line of the data file: `%12-12s%n,%25-25s,%n,%d` in super-smack's own terms.
struct Row {
    letters: [u8; NAME_LETTERS],
    password: [u8; PASSWORD_LETTERS],
    number: u32,
    gid: u32,
}

impl Row {
    fn name(&self) -> String {
        format!("{}{}", String::from_utf8_lossy(&self.letters), self.number)
    }

    /// Length of the line in the data file, with its commas and line feed.
    fn line_bytes(&self) -> u64 {
        let digits = |number: u32| u64::from(number.checked_ilog10().unwrap_or(0)) + 1;
        let texts = (NAME_LETTERS + PASSWORD_LETTERS + ",,,\n".len()) as u64;
        texts + 2 * digits(self.number) + digits(self.gid)
    }
}

/// The rows in order, the same at every run.
struct Rows {
    random: Random,
    number: u32,
}

impl Rows {
    fn new() -> Self {
        Self { random: Random::stream(ROWS_SEED, &[]), number: 0 }
    }

    fn next(&mut self) -> Row {
        self.number += 1;
        let mut row = Row {
            letters: [0; NAME_LETTERS],
            password: [0; PASSWORD_LETTERS],
            number: self.number,
            gid: self.random.below(1 << 31) as u32,
        };
        letters(&mut self.random, &mut row.letters);
        letters(&mut self.random, &mut row.password);
        row
    }
}

/// Fills with letters from a to y: z never comes, as in the original generator.
fn letters(random: &mut Random, out: &mut [u8]) {
    const PER_DRAW: usize = 12;
    for chunk in out.chunks_mut(PER_DRAW) {
        let mut value = random.below(25u64.pow(PER_DRAW as u32));
        for letter in chunk {
            *letter = b'a' + (value % 25) as u8;
            value /= 25;
        }
    }
}

/// Names on the lines whose number, from 1, is a multiple of the step.
fn dictionary(rows: u32, file_size_equiv: u64) -> Vec<Box<[u8]>> {
    let all = || {
        let mut source = Rows::new();
        (0..rows).map(move |_| source.next())
    };
    let file_bytes: u64 = all().map(|row| row.line_bytes()).sum();
    let step = (file_bytes / file_size_equiv).max(1);
    let names: Vec<_> = all()
        .filter(|row| u64::from(row.number).is_multiple_of(step))
        .map(|row| row.name().into_bytes().into())
        .collect();
    if names.is_empty() {
        // A step beyond the last line: super-smack would die at its first draw.
        return all().take(1).map(|row| row.name().into_bytes().into()).collect();
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn smack(scenario: SmackScenario, rows: u32) -> Smack {
        Smack::new(&SmackJob { scenario, rows, file_size_equiv: 45_000, prepared: false })
    }

    #[test]
    fn the_stock_numbers_give_the_750_names_of_super_smack() {
        let names = dictionary(90_000, 45_000);
        assert_eq!(names.len(), 750);
        assert!(names[0].ends_with(b"120"), "the first name is on line 120");
        assert!(names[749].ends_with(b"90000"));
    }

    #[test]
    fn a_row_looks_like_a_line_of_the_original_data_file() {
        let mut rows = Rows::new();
        for number in 1..=1_000 {
            let row = rows.next();
            assert_eq!(row.number, number);
            assert!(row.letters.iter().all(|letter| (b'a'..=b'y').contains(letter)));
            assert!(row.password.iter().all(|letter| (b'a'..=b'y').contains(letter)));
            assert!(row.gid < 1 << 31);
            let line = format!(
                "{},{},{},{}\n",
                row.name(),
                String::from_utf8_lossy(&row.password),
                row.number,
                row.gid
            );
            assert_eq!(row.line_bytes(), line.len() as u64);
        }
    }

    #[test]
    fn a_round_is_two_selects_or_a_select_and_an_update() {
        let mut random = Random::stream(1, &[]);
        let mut values = Values::default();
        for (scenario, expected) in [
            (SmackScenario::SelectKey, [(SELECT, 1), (SELECT, 1)]),
            (SmackScenario::UpdateSelect, [(SELECT, 1), (UPDATE, 2)]),
        ] {
            let smack = smack(scenario, 1_000);
            let mut cursor = Cursor::default();
            for (statement, parameters) in expected {
                values.clear();
                let action = smack.next(&mut cursor, &mut random, &mut values);
                assert_eq!(action, Action::Send(statement));
                assert_eq!(values.len(), parameters);
            }
        }
    }

    #[test]
    fn the_rows_of_the_table_are_those_of_the_dictionary() {
        let smack = smack(SmackScenario::SelectKey, 5_000);
        let mut table = smack.tables().remove(0);
        let mut sql = Vec::new();
        (0..table.rows).for_each(|_| (table.write_row)(&mut sql));
        let sql = String::from_utf8(sql).unwrap();
        for name in &smack.names {
            assert!(sql.contains(std::str::from_utf8(name).unwrap()));
        }
    }
}
