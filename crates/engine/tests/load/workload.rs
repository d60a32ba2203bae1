//! A workload whose every step a test writes down.

use std::collections::HashMap;
use std::sync::Mutex;

use mydyno_engine::protocol::template::Template;
use mydyno_engine::protocol::values::Values;
use mydyno_engine::random::Random;
use mydyno_engine::workload::{
    Action, Boundary, Captured, Check, Class, Cursor, Policy, Read, ReadRow, Statement, Table,
    Workload,
};

/// The actions of every event, in order. Each statement is a kind of its own.
#[derive(Default)]
pub struct Script {
    actions: Vec<Action>,
    kinds: Vec<&'static str>,
    statements: Vec<Statement>,
    policy: Policy,
    /// Steps taken by each connection, which is known by its cursor.
    steps: Mutex<HashMap<usize, usize>>,
    /// The rows that were captured; a missing one gives the event up.
    pub captured: Mutex<Vec<Option<Vec<Option<String>>>>>,
}

impl Script {
    pub fn new(policy: Policy) -> Self {
        Self { policy, ..Self::default() }
    }

    /// One statement an event.
    pub fn of(sql: &'static str, policy: Policy) -> Self {
        Self::new(policy).send(sql)
    }

    pub fn send(self, sql: &'static str) -> Self {
        self.send_with(sql, |_| {})
    }

    pub fn read(self, sql: &'static str, columns: usize, row: ReadRow) -> Self {
        self.send_with(sql, |statement| statement.read = Some(Read { columns, row }))
    }

    pub fn send_with(mut self, sql: &'static str, change: impl FnOnce(&mut Statement)) -> Self {
        let boundary = match sql {
            "BEGIN" => Boundary::Begin,
            "COMMIT" => Boundary::End,
            _ => Boundary::None,
        };
        let kind = self.kinds.len();
        let template = Template::new(&[sql]);
        let class = if sql.starts_with("UPDATE") { Class::Write } else { Class::Read };
        let mut statement = Statement {
            kind,
            template,
            read: None,
            expect_error: None,
            unread: false,
            boundary,
            class,
        };
        change(&mut statement);
        self.actions.push(Action::Send(self.statements.len()));
        self.statements.push(statement);
        self.kinds.push(sql);
        self
    }

    pub fn then(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }
}

impl Workload for Script {
    fn kinds(&self) -> &[&'static str] {
        &self.kinds
    }

    fn transactions(&self) -> &[&'static str] {
        &["event"]
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

    fn next(&self, cursor: &mut Cursor, _random: &mut Random, _values: &mut Values) -> Action {
        let mut steps = self.steps.lock().unwrap();
        let step = steps.entry(std::ptr::from_ref(cursor) as usize).or_default();
        *step += 1;
        self.actions.get(*step - 1).copied().unwrap_or(Action::End { counts: Some(0) })
    }

    fn capture(&self, _cursor: &mut Cursor, row: Option<&[Option<&[u8]>]>) -> Captured {
        let text = |value: &Option<&[u8]>| value.map(|v| String::from_utf8_lossy(v).into_owned());
        let row: Option<Vec<_>> = row.map(|columns| columns.iter().map(text).collect());
        let captured = if row.is_some() { Captured::GoOn } else { Captured::GiveUp };
        self.captured.lock().unwrap().push(row);
        captured
    }

    fn rewind(&self, cursor: &mut Cursor) {
        self.steps.lock().unwrap().insert(std::ptr::from_ref(cursor) as usize, 0);
    }

    fn restart(&self, cursor: &mut Cursor) {
        self.rewind(cursor);
    }

    fn prepared(&self) -> bool {
        false
    }

    fn tables(&self) -> Vec<Table<'_>> {
        Vec::new()
    }

    fn checks(&self) -> &[Check] {
        &[]
    }
}
