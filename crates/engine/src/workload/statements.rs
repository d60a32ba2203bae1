//! Statements: their kinds, their SQL cut at the parameters, one for each copy.

use super::fault::{At, Fault, fault, not_empty};
use super::instruction::{Copies, Parameter, Reading, Send};
use super::operators;
use super::scope::{COPY, Scope};
use super::{Boundary, Class, MOST_READ, Read, Statement};
use crate::job::program::{Part, SendJob};
use crate::protocol::template::Template;

/// Copies of one statement, and statements of a program.
const MOST_COPIES: u32 = 10_000;
const MOST_STATEMENTS: usize = 200_000;
/// The binary protocol counts parameters with 16 bits.
const MOST_PARAMETERS: usize = 65_535;

pub struct Statements {
    prepared: bool,
    kinds: Vec<&'static str>,
    statements: Vec<Statement>,
}

impl Statements {
    pub fn new(prepared: bool) -> Self {
        Self { prepared, kinds: Vec::new(), statements: Vec::new() }
    }

    pub fn finish(self) -> (Vec<&'static str>, Vec<Statement>) {
        (self.kinds, self.statements)
    }

    /// The number of the kind with this name.
    pub fn kind(&mut self, name: &str) -> usize {
        self.kinds.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.kinds.push(lasting(name));
            self.kinds.len() - 1
        })
    }

    pub fn send(&mut self, send: &SendJob, scope: &mut Scope<'_>) -> Result<Send, Fault> {
        not_empty(&send.name).key("name")?;
        let values = self.values(send, scope).key("sql")?;
        let copies = self.copies(send, scope)?;
        let read = send.read.as_ref().map(|read| Reading {
            into: read.into.iter().map(|name| scope.register(name)).collect(),
            empty: read.empty,
            skip: 0,
        });
        if let Some(read) = &read
            && read.into.len() > MOST_READ
        {
            return fault(format!("must name at most {MOST_READ} registers"))
                .key("into")
                .key("read");
        }
        if send.unread && read.is_some() {
            return fault("cannot be true where `read` is").key("unread");
        }
        let kind = self.kind(&send.name);
        let boundary = boundary(&send.sql);
        let class = class(&send.sql);
        let first = self.statements.len();
        for copy in 1..=copies.map_or(1, |copies| copies.count) {
            self.statements.push(Statement {
                kind,
                template: Template::new(&texts(&send.sql, copy)),
                read: send
                    .read
                    .as_ref()
                    .map(|read| Read { columns: read.into.len(), row: read.row }),
                expect_error: send.expect_error,
                unread: send.unread,
                boundary,
                class,
            });
        }
        if self.statements.len() > MOST_STATEMENTS {
            return fault(format!("the program has more than {MOST_STATEMENTS} statements"));
        }
        Ok(Send { statement: first, copies, values, read })
    }

    fn copies(&self, send: &SendJob, scope: &Scope<'_>) -> Result<Option<Copies>, Fault> {
        let named = send.sql.iter().any(|part| matches!(part, Part::Copy));
        match send.copies {
            None if named => fault("needs copies, as its sql has the number of the copy"),
            None => Ok(None),
            Some(_) if !scope.copy_is_set() => {
                fault("no step sets `copy`, which chooses the statement's copy").key("copies")
            }
            Some(count) if (1..=MOST_COPIES).contains(&count) => {
                Ok(Some(Copies { count: count.into(), register: scope.register(COPY) }))
            }
            Some(count) => {
                fault(format!("must be from 1 to {MOST_COPIES}, is {count}")).key("copies")
            }
        }
    }

    fn values(&self, send: &SendJob, scope: &mut Scope<'_>) -> Result<Vec<Parameter>, Fault> {
        let mut values = Vec::new();
        for (place, part) in send.sql.iter().enumerate() {
            let (expression, raw, key) = match part {
                Part::Text(_) | Part::Copy => continue,
                Part::Value(expression) => (expression, false, "value"),
                Part::Raw(expression) => (expression, true, "raw"),
            };
            if raw && self.prepared {
                let reason = "a prepared statement cannot have raw parts; prepared must be false";
                return fault(reason).key(key).index(place);
            }
            let value = operators::compile(expression, scope).key(key).index(place)?;
            values.push(Parameter { value, raw });
        }
        if self.prepared && values.len() > MOST_PARAMETERS {
            return fault(format!(
                "a prepared statement has at most {MOST_PARAMETERS} parameters, not {}",
                values.len()
            ));
        }
        if texts(&send.sql, 1).iter().all(|text| text.trim().is_empty()) && values.is_empty() {
            return fault("is empty");
        }
        Ok(values)
    }
}

/// The texts before, between and after the values, with the number of the copy in place.
fn texts(sql: &[Part], copy: u64) -> Vec<String> {
    let mut texts = vec![String::new()];
    for part in sql {
        let last = texts.last_mut().expect("there is always a text under way");
        match part {
            Part::Text(text) => last.push_str(text),
            Part::Copy => last.push_str(&copy.to_string()),
            Part::Value(_) | Part::Raw(_) => texts.push(String::new()),
        }
    }
    texts
}

/// A name that lives as long as the process, which carries out one job.
pub fn lasting(name: &str) -> &'static str {
    Box::leak(name.into())
}

/// The words that a statement begins with, in capitals.
fn words(sql: &[Part]) -> impl Iterator<Item = String> {
    let text = if let Some(Part::Text(text)) = sql.first() { text.as_str() } else { "" };
    text.split(|letter: char| !letter.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_uppercase)
}

/// What the first word says of reading and writing.
fn class(sql: &[Part]) -> Class {
    match words(sql).next().unwrap_or_default().as_str() {
        "SELECT" | "WITH" | "TABLE" | "VALUES" | "SHOW" | "EXPLAIN" | "DESCRIBE" | "DESC" => {
            Class::Read
        }
        "INSERT" | "UPDATE" | "DELETE" | "REPLACE" | "LOAD" => Class::Write,
        _ => Class::Other,
    }
}

/// What the first words say about transactions.
fn boundary(sql: &[Part]) -> Boundary {
    let mut words = words(sql);
    let mut word = || words.next().unwrap_or_default();
    match word().as_str() {
        "BEGIN" => Boundary::Begin,
        "START" if word() == "TRANSACTION" => Boundary::Begin,
        "COMMIT" => Boundary::End,
        // ROLLBACK [WORK] TO goes back to a savepoint and leaves the transaction open.
        "ROLLBACK" => match word().as_str() {
            "TO" => Boundary::None,
            "WORK" if word() == "TO" => Boundary::None,
            _ => Boundary::End,
        },
        _ => Boundary::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_words_report_where_a_transaction_begins_and_ends() {
        for (sql, expected) in [
            ("BEGIN", Boundary::Begin),
            ("  begin work", Boundary::Begin),
            ("start transaction read only", Boundary::Begin),
            ("START SLAVE", Boundary::None),
            ("Commit;", Boundary::End),
            ("ROLLBACK", Boundary::End),
            ("rollback to savepoint a", Boundary::None),
            ("ROLLBACK WORK TO a", Boundary::None),
            ("SELECT 'COMMIT'", Boundary::None),
            ("", Boundary::None),
        ] {
            assert_eq!(boundary(&[Part::Text(sql.to_owned())]), expected, "{sql}");
        }
    }

    #[test]
    fn the_first_word_says_whether_a_statement_reads_or_writes() {
        for (sql, expected) in [
            ("SELECT 1", Class::Read),
            (" (select 1)", Class::Read),
            ("with a as (select 1) select * from a", Class::Read),
            ("INSERT INTO t VALUES (1)", Class::Write),
            ("update t set a=1", Class::Write),
            ("DELETE FROM t", Class::Write),
            ("BEGIN", Class::Other),
            ("SET autocommit=1", Class::Other),
            ("", Class::Other),
        ] {
            assert_eq!(class(&[Part::Text(sql.to_owned())]), expected, "{sql}");
        }
    }

    #[test]
    fn each_copy_has_its_number_in_the_texts_around_the_values() {
        let sql = [
            Part::Text("SELECT c FROM t".to_owned()),
            Part::Copy,
            Part::Text(" WHERE id=".to_owned()),
            Part::Value(crate::job::program::Expr::Integer(1)),
        ];
        assert_eq!(texts(&sql, 3), ["SELECT c FROM t3 WHERE id=", ""]);
    }
}
