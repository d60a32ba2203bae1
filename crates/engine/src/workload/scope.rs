//! The names that an expression may use, and what they are.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::atomic::AtomicI64;

use super::expression::Counter;
use super::fault::{Fault, fault};
use crate::job::program::{DictionaryJob, Expr, ProgramJob, Step};

/// Where an expression stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Site {
    /// In a named generator, which may be drawn from anywhere.
    Value,
    Step,
    /// In the row of a table, which must be the same whatever the load does.
    Row,
}

/// The register that holds the number of the chosen copy.
pub const COPY: &str = "copy";

pub struct Scope<'a> {
    job: &'a ProgramJob,
    registers: HashMap<&'a str, usize>,
    values: HashMap<&'a str, usize>,
    dictionaries: HashMap<&'a str, usize>,
    /// Names that something reads with `var`.
    read: HashSet<&'a str>,
    /// Names that the steps of transactions set.
    steps: BTreeSet<&'a str>,
    /// Names that the `let` of the table under way sets.
    table: BTreeSet<&'a str>,
    counters: Vec<(String, [i64; 2], usize)>,
    /// Named generators that were found to fit the site under way.
    checked: HashSet<&'a str>,
    site: Site,
}

impl<'a> Scope<'a> {
    pub fn new(job: &'a ProgramJob) -> Self {
        let mut scope = Self {
            job,
            registers: HashMap::new(),
            values: job.values.keys().enumerate().map(|(i, name)| (name.as_str(), i)).collect(),
            dictionaries: (job.dictionaries.keys().enumerate())
                .map(|(index, name)| (name.as_str(), index))
                .collect(),
            read: HashSet::new(),
            steps: BTreeSet::new(),
            table: BTreeSet::new(),
            counters: Vec::new(),
            checked: HashSet::new(),
            site: Site::Value,
        };
        scope.note_names();
        scope
    }

    fn note_names(&mut self) {
        let job = self.job;
        for transaction in &job.transactions {
            self.note_steps(&transaction.steps);
        }
        let tables = job.tables.iter().flat_map(|table| &table.lets);
        let names = (job.values.keys().map(String::as_str))
            .chain(self.steps.iter().copied())
            .chain(tables.clone().map(|(name, _)| name.as_str()))
            .chain([COPY]);
        for name in names {
            let next = self.registers.len();
            self.registers.entry(name).or_insert(next);
        }
        for value in job.values.values().chain(tables.map(|(_, value)| value)) {
            self.note_reads(value);
        }
        job.tables.iter().flat_map(|table| &table.row).for_each(|value| self.note_reads(value));
    }

    fn note_steps(&mut self, steps: &'a [Step]) {
        for step in steps {
            match step {
                Step::Let(name, value) => {
                    self.steps.insert(name);
                    self.note_reads(value);
                }
                Step::Send(send) => {
                    for name in send.read.iter().flat_map(|read| &read.into) {
                        self.steps.insert(name);
                    }
                    for part in &send.sql {
                        part.expression().into_iter().for_each(|value| self.note_reads(value));
                    }
                }
                Step::Repeat(repeat) => {
                    self.steps.extend(repeat.index.as_deref());
                    self.note_reads(&repeat.times);
                    self.note_steps(&repeat.steps);
                }
                Step::When(when) => {
                    self.note_reads(&when.condition);
                    self.note_steps(&when.steps);
                    self.note_steps(&when.otherwise);
                }
                Step::Mix(branches) => {
                    branches.iter().for_each(|branch| self.note_steps(&branch.steps));
                }
                Step::Pause(length) => self.note_reads(length),
                Step::Reconnect | Step::End(_) => {}
            }
        }
    }

    fn note_reads(&mut self, expression: &'a Expr) {
        if let Expr::Call(operator, arguments) = expression {
            if operator == "var"
                && let [Expr::Text(name)] = arguments.as_slice()
            {
                self.read.insert(name);
            }
            arguments.iter().for_each(|argument| self.note_reads(argument));
        }
    }

    pub fn site(&self) -> Site {
        self.site
    }

    pub fn enter_steps(&mut self) {
        self.site = Site::Step;
        self.checked.clear();
    }

    /// Goes into the row of a table, whose own names are known from here on.
    pub fn enter_table(&mut self, lets: &'a [(String, Expr)]) {
        self.site = Site::Row;
        self.checked.clear();
        self.table = lets.iter().map(|(name, _)| name.as_str()).collect();
    }

    pub fn register_count(&self) -> usize {
        self.registers.len()
    }

    /// The register of a name that is set.
    pub fn register(&self, name: &str) -> usize {
        self.registers[name]
    }

    /// Whether a step sets the copy.
    pub fn copy_is_set(&self) -> bool {
        self.steps.contains(COPY)
    }

    /// The register that `var` reads.
    pub fn variable(&self, name: &str) -> Result<usize, Fault> {
        let set = self.values.contains_key(name)
            || match self.site {
                Site::Value => self.registers.contains_key(name),
                Site::Step => self.steps.contains(name),
                Site::Row => self.table.contains(name),
            };
        if set {
            return Ok(self.registers[name]);
        }
        fault(match self.site {
            Site::Row => format!("no let of this table and no value sets `{name}`"),
            Site::Value | Site::Step => format!("nothing sets `{name}`"),
        })
    }

    /// A named generator, and its register if that is ever read.
    pub fn value(&self, name: &str) -> Result<(usize, Option<usize>), Fault> {
        match self.values.get(name) {
            Some(&value) => Ok((value, self.read.contains(name).then(|| self.registers[name]))),
            None => fault(format!("values has no `{name}`")),
        }
    }

    /// The expression of a named generator, if it must still be checked for the site under way.
    pub fn unchecked(&mut self, name: &str) -> Option<&'a Expr> {
        let (name, value) = self.job.values.get_key_value(name)?;
        (self.site != Site::Value && self.checked.insert(name)).then_some(value)
    }

    pub fn dictionary(&self, name: &str) -> Result<usize, Fault> {
        let Some(&index) = self.dictionaries.get(name) else {
            return fault(format!("dictionaries has no `{name}`"));
        };
        if self.site == Site::Row && !matches!(self.job.dictionaries[name], DictionaryJob::Words(_))
        {
            return fault(format!(
                "rows can use a dictionary of words only; `{name}` is made later"
            ));
        }
        Ok(index)
    }

    /// The counter of this name; all uses of it must agree.
    pub fn counter(
        &mut self,
        name: &str,
        start: i64,
        step: i64,
        copies: usize,
    ) -> Result<usize, Fault> {
        if let Some(index) = self.counters.iter().position(|(known, ..)| known == name) {
            let (_, [first, by], of) = self.counters[index];
            if (first, by, of) != (start, step, copies) {
                return fault(format!(
                    "the counter `{name}` begins at {first} by {by} elsewhere, copies: {of}"
                ));
            }
            return Ok(index);
        }
        self.counters.push((name.to_owned(), [start, step], copies));
        Ok(self.counters.len() - 1)
    }

    pub fn into_counters(self) -> Vec<Counter> {
        let counter = |(_, [start, step], copies): (_, [i64; 2], usize)| Counter {
            next: (0..copies).map(|_| AtomicI64::new(start)).collect(),
            step,
        };
        self.counters.into_iter().map(counter).collect()
    }
}
