//! Statements whose result is known, and what happens when it is another.

use super::bench::{Bench, SET_UP, Stop};
use super::link::Expected;

impl Bench {
    /// Sends a statement that must give or change exactly so many rows; any other number is a
    /// warning and a failed statement.
    pub fn expect(&mut self, sql: &str, rows: u64) -> Result<(), Stop> {
        let answer = self.run(sql, &Expected::Rows(rows))?;
        if answer.rows != rows {
            self.wrong(sql, &format!("{rows} rows expected, {} found", answer.rows));
        }
        Ok(())
    }

    /// Sends a query whose only row must have this text in its first column.
    pub fn expect_value(&mut self, sql: &str, value: &str) -> Result<(), Stop> {
        let answer = self.run(sql, &Expected::Value(value))?;
        if answer.rows != 1 || answer.first != value {
            let found = format!("{value} expected, {} found in {} rows", answer.first, answer.rows);
            self.wrong(sql, &found);
        }
        Ok(())
    }

    /// Sends a query whose only row must have a first column of so many bytes.
    pub fn expect_length(&mut self, sql: &str, length: u64) -> Result<(), Stop> {
        let answer = self.run(sql, &Expected::Length(length))?;
        if answer.rows != 1 || answer.first_length != length {
            self.wrong(sql, &format!("{length} bytes expected, {} found", answer.first_length));
        }
        Ok(())
    }

    /// Sends a statement that the server must refuse with this error.
    pub fn expect_error(&mut self, sql: &str, code: u16) -> Result<(), Stop> {
        match self.send(sql, &Expected::Error(code))? {
            Err(error) if error.code == code => {}
            Err(error) => self.wrong(sql, &format!("error {code} expected: {error}")),
            Ok(_) => self.wrong(sql, &format!("error {code} expected, but it was accepted")),
        }
        Ok(())
    }

    /// Counts a statement of the running operation as failed, and warns.
    pub fn wrong(&mut self, sql: &str, what: &str) {
        const SHOWN: usize = 120;
        let shown: String = sql.chars().take(SHOWN).collect();
        self.record.wrong(self.running.is_none().then_some(SET_UP));
        if let Some(running) = &mut self.running {
            running.failed += 1;
        }
        self.warn(format!("{what}: {shown}"));
    }
}
