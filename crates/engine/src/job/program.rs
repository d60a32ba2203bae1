//! The program of a job: tables, values and transactions, as `docs/reference/engine-program.md` explains them.
//!
//! These types are the shape only; what the names in them mean is checked when the program is
//! compiled ([`crate::workload::compile`]).

mod keys;

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde::{Deserialize, de};

use keys::{DictionaryKeys, StepKeys};

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramJob {
    pub name: String,
    #[serde(default)]
    pub prepared: bool,
    #[serde(default)]
    pub open: Open,
    #[serde(default)]
    pub lost: Lost,
    /// Errors after which the event starts again with new values.
    #[serde(default)]
    pub retry: Vec<u16>,
    /// Sent on each new connection after the login; not counted.
    #[serde(default)]
    pub session: Vec<String>,
    #[serde(default)]
    pub dictionaries: BTreeMap<String, DictionaryJob>,
    #[serde(default)]
    pub values: BTreeMap<String, Expr>,
    #[serde(default)]
    pub tables: Vec<TableJob>,
    #[serde(default)]
    pub transactions: Vec<TransactionJob>,
    #[serde(default)]
    pub checks: Vec<Check>,
}

/// When connections are opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Open {
    /// All before the clock of the phase starts.
    #[default]
    Phase,
    /// Each when its first event begins.
    Lazy,
    /// At the start of each event; closed at its end.
    Event,
}

/// What becomes of a connection that was lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lost {
    #[default]
    Close,
    Reopen,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "DictionaryKeys")]
pub enum DictionaryJob {
    Words(Vec<Expr>),
    /// First column of what this query returns before the first phase.
    Query(String),
    /// Values of a generated column on every n-th row.
    Column(ColumnJob),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnJob {
    pub table: String,
    pub column: String,
    #[serde(default = "one")]
    pub every: u64,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableJob {
    pub name: String,
    pub create: String,
    #[serde(default)]
    pub columns: Vec<String>,
    #[serde(default)]
    pub rows: u64,
    #[serde(default, rename = "let")]
    pub lets: Vec<(String, Expr)>,
    #[serde(default)]
    pub row: Vec<Expr>,
    #[serde(default)]
    pub then: Vec<String>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransactionJob {
    pub name: String,
    #[serde(default = "one")]
    pub weight: u64,
    pub steps: Vec<Step>,
}

/// A query that returns no row when the data are as they should be.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Check {
    pub name: String,
    pub sql: String,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "StepKeys")]
pub enum Step {
    Send(SendJob),
    Let(String, Expr),
    Repeat(RepeatJob),
    When(WhenJob),
    Mix(Vec<BranchJob>),
    Pause(Expr),
    Reconnect,
    End(End),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendJob {
    pub name: String,
    pub sql: Vec<Part>,
    #[serde(default)]
    pub copies: Option<u32>,
    #[serde(default)]
    pub read: Option<ReadJob>,
    #[serde(default)]
    pub expect_error: Option<u16>,
    #[serde(default)]
    pub unread: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadJob {
    pub into: Vec<String>,
    #[serde(default)]
    pub row: ReadRow,
    #[serde(default)]
    pub empty: Empty,
}

/// Which row of a result is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReadRow {
    #[default]
    First,
    /// Row ceil(n/2) of n.
    Middle,
}

/// What a result without rows means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Empty {
    #[default]
    Fail,
    Keep,
    Skip,
}

/// A stretch of SQL.
#[derive(Clone, Debug)]
pub enum Part {
    Text(String),
    /// Quoted, or bound as a parameter.
    Value(Expr),
    /// Spliced in as it is.
    Raw(Expr),
    /// Number of the statement's copy.
    Copy,
}

impl Part {
    /// The expression whose value stands in the place of this part.
    pub fn expression(&self) -> Option<&Expr> {
        match self {
            Part::Value(value) | Part::Raw(value) => Some(value),
            Part::Text(_) | Part::Copy => None,
        }
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RepeatJob {
    pub times: Expr,
    #[serde(default)]
    pub index: Option<String>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WhenJob {
    #[serde(rename = "if")]
    pub condition: Expr,
    pub steps: Vec<Step>,
    #[serde(default, rename = "else")]
    pub otherwise: Vec<Step>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchJob {
    pub weight: u64,
    pub steps: Vec<Step>,
}

/// How a step leaves its event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum End {
    Failed,
    Done,
}

/// A value, or an operator with its arguments.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    Null,
    Integer(i64),
    Float(f64),
    Text(String),
    Call(String, Vec<Expr>),
}

impl<'de> Deserialize<'de> for Expr {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExprVisitor)
    }
}

struct ExprVisitor;

impl<'de> Visitor<'de> for ExprVisitor {
    type Value = Expr;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a number, a text, null or a list that begins with an operator")
    }

    fn visit_unit<E: Error>(self) -> Result<Expr, E> {
        Ok(Expr::Null)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Expr, E> {
        Ok(Expr::Integer(number))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Expr, E> {
        i64::try_from(number)
            .map(Expr::Integer)
            .map_err(|_| E::custom(format!("{number} is more than 64 bits with a sign can hold")))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Expr, E> {
        Ok(Expr::Float(number))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Expr, E> {
        Ok(Expr::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Expr, A::Error> {
        let operator: String =
            items.next_element()?.ok_or_else(|| de::Error::custom("an operator is missing"))?;
        let mut arguments = Vec::new();
        while let Some(argument) = items.next_element()? {
            arguments.push(argument);
        }
        Ok(Expr::Call(operator, arguments))
    }
}

fn one() -> u64 {
    1
}
