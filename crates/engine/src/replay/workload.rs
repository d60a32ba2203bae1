//! What the rest of the engine knows of a replay's statements: their classes.

use crate::protocol::template::Template;
use crate::protocol::values::Values;
use crate::random::Random;
use crate::workload::{
    Action, Boundary, Captured, Check, Class, Cursor, Open, Policy, Statement, Table, Workload,
};

/// Statements are counted by class, and each one is an event.
pub struct TraceWorkload {
    statements: [Statement; 3],
    policy: Policy,
}

impl Default for TraceWorkload {
    fn default() -> Self {
        let statement = |(kind, class)| Statement {
            kind,
            template: Template::new::<&str>(&[""]),
            read: None,
            expect_error: None,
            unread: false,
            boundary: Boundary::None,
            class,
        };
        let classes = [Class::Read, Class::Write, Class::Other];
        let [read, write, other] = classes;
        Self {
            statements: [(0, read), (1, write), (2, other)].map(statement),
            // Each connection is opened where the trace has it.
            policy: Policy { open: Open::Event, ..Policy::default() },
        }
    }
}

impl Workload for TraceWorkload {
    fn kinds(&self) -> &[&'static str] {
        &["read", "write", "other"]
    }

    fn transactions(&self) -> &[&'static str] {
        &["statement"]
    }

    fn statements(&self) -> &[Statement] {
        &self.statements
    }

    fn cursor(&self, _connection: u32, _connections: u32) -> Cursor {
        Cursor::default()
    }

    fn next(&self, _cursor: &mut Cursor, _random: &mut Random, _values: &mut Values) -> Action {
        unreachable!("a replay takes its statements from the trace")
    }

    fn capture(&self, _cursor: &mut Cursor, _row: Option<&[Option<&[u8]>]>) -> Captured {
        Captured::GoOn
    }

    fn rewind(&self, _cursor: &mut Cursor) {}

    fn restart(&self, _cursor: &mut Cursor) {}

    fn policy(&self) -> &Policy {
        &self.policy
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
