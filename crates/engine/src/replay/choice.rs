//! Which statements of a trace are carried out, and why the others are not.

use mydyno_digest::fingerprint::effect::{Direction, Effect, effect};
use mydyno_digest::fingerprint::{TableNames, tables};
use serde::Serialize;

use crate::job::ReplayJob;

/// Why a statement is skipped; the numbers and spellings are part of the results' format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Reason {
    Write = 1,
    Lock = 2,
    UnknownEffect = 3,
    LocalFile = 4,
    ServerFile = 5,
    LeavesServer = 6,
    Administration = 7,
    Account = 8,
    Xa = 9,
    TransactionLost = 10,
    NoConnection = 11,
}

impl Reason {
    pub const ALL: [Reason; 11] = [
        Reason::Write,
        Reason::Lock,
        Reason::UnknownEffect,
        Reason::LocalFile,
        Reason::ServerFile,
        Reason::LeavesServer,
        Reason::Administration,
        Reason::Account,
        Reason::Xa,
        Reason::TransactionLost,
        Reason::NoConnection,
    ];
}

/// What a replay knows of a statement before it is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Why it is not sent.
    pub skip: Option<Reason>,
    /// 1 read, 2 write, 3 other.
    pub class: u8,
    pub is_ordered: bool,
    /// Begins or ends a transaction as a whole.
    pub is_boundary: bool,
    /// The session's schema changes with it.
    pub uses: bool,
}

/// Decides about one statement.
pub fn choose(sql: &[u8], job: &ReplayJob) -> Choice {
    let found = effect(sql);
    let skip = refusal(found.effect)
        .or_else(|| names_refused(sql, job).then_some(Reason::LeavesServer))
        .or_else(|| beyond_reads(found.effect).filter(|_| job.reads_only));
    Choice {
        skip,
        class: match found.direction {
            Direction::Read => 1,
            Direction::Write => 2,
            Direction::Other => 3,
        },
        is_ordered: found.is_ordered,
        is_boundary: found.effect == Effect::Transaction && is_boundary(sql),
        uses: found.effect == Effect::Use,
    }
}

/// What is carried out on no server.
fn refusal(effect: Effect) -> Option<Reason> {
    Some(match effect {
        Effect::LoadsFile => Reason::LocalFile,
        Effect::ServerFile => Reason::ServerFile,
        Effect::LeavesServer => Reason::LeavesServer,
        Effect::Administration => Reason::Administration,
        Effect::Account => Reason::Account,
        Effect::Xa => Reason::Xa,
        _ => return None,
    })
}

/// What is carried out only where everything is.
fn beyond_reads(effect: Effect) -> Option<Reason> {
    match effect {
        Effect::Read | Effect::Transaction | Effect::Session | Effect::Use => None,
        Effect::Write => Some(Reason::Write),
        Effect::Lock => Some(Reason::Lock),
        _ => Some(Reason::UnknownEffect),
    }
}

/// Whether it names a table or calls a function that the job refuses.
fn names_refused(statement: &[u8], job: &ReplayJob) -> bool {
    let is_table = |name: &[u8]| job.refuse_tables.iter().any(|one| is_same(one, name));
    (!job.refuse_tables.is_empty()
        && tables(statement, TableNames::Kept).iter().any(|table| is_table(table.name.as_ref())))
        || job.refuse_functions.iter().any(|function| calls(statement, function.as_bytes()))
}

fn is_same(name: &str, other: &[u8]) -> bool {
    name.as_bytes().eq_ignore_ascii_case(other)
}

/// Whether a name stands in front of a bracket; also in a literal, which errs on the safe side.
fn calls(statement: &[u8], function: &[u8]) -> bool {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || *byte >= 0x80;
    statement.windows(function.len().max(1)).enumerate().any(|(at, window)| {
        window.eq_ignore_ascii_case(function)
            && !statement[..at].last().is_some_and(is_word)
            && statement[at + function.len()..]
                .iter()
                .find(|byte| !byte.is_ascii_whitespace() && **byte != b'`')
                == Some(&b'(')
    })
}

/// BEGIN, START TRANSACTION, COMMIT, ROLLBACK: not what is about savepoints.
fn is_boundary(statement: &[u8]) -> bool {
    let text = String::from_utf8_lossy(statement).to_ascii_lowercase();
    !text.contains("savepoint") && !text.split_whitespace().any(|word| word == "to")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, job: &ReplayJob) -> Option<Reason> {
        choose(text.as_bytes(), job).skip
    }

    #[test]
    fn reads_are_replayed_and_the_rest_only_where_it_may_be() {
        let reads = ReplayJob { reads_only: true, ..ReplayJob::default() };
        let all = ReplayJob { reads_only: false, ..ReplayJob::default() };
        for (text, skipped, refused) in [
            ("SELECT 1", None, None),
            ("BEGIN", None, None),
            ("UPDATE t SET a = 1", Some(Reason::Write), None),
            ("SELECT f(1)", Some(Reason::UnknownEffect), None),
            ("SELECT 1 FOR UPDATE", Some(Reason::Lock), None),
            ("KILL 1", Some(Reason::Administration), Some(Reason::Administration)),
        ] {
            assert_eq!((of(text, &reads), of(text, &all)), (skipped, refused), "{text}");
        }
    }

    #[test]
    fn tables_and_functions_that_reach_elsewhere_are_refused() {
        let job = ReplayJob {
            refuse_tables: vec!["far".into()],
            refuse_functions: vec!["shout".into()],
            ..ReplayJob::default()
        };
        let refused = Some(Reason::LeavesServer);
        assert_eq!(of("SELECT * FROM FAR", &job), refused);
        assert_eq!(of("INSERT INTO t SELECT a FROM db.far", &job), refused);
        assert_eq!(of("SELECT Shout (1)", &job), refused);
        assert_eq!(of("DELETE FROM t WHERE outshout(1)", &job), None);
    }

    #[test]
    fn savepoints_end_no_transaction() {
        let boundary = |text: &str| choose(text.as_bytes(), &ReplayJob::default()).is_boundary;
        assert!(boundary("COMMIT") && boundary("start transaction") && boundary("ROLLBACK"));
        assert!(!boundary("SAVEPOINT a") && !boundary("ROLLBACK TO a"));
    }
}
