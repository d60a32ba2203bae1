//! What a statement does, by the word that it begins with.

use mydyno_digest::fingerprint::bytes::{is_word, word_end};
use mydyno_digest::fingerprint::comments::blanks_end;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Reads,
    Writes,
    /// Transactions, settings of the session, prepared statements by name.
    Other,
}

const READS: [&[u8]; 10] = [
    b"select",
    b"show",
    b"explain",
    b"describe",
    b"desc",
    b"with",
    b"table",
    b"values",
    b"help",
    b"checksum",
];

const OTHERS: [&[u8]; 14] = [
    b"set",
    b"use",
    b"begin",
    b"start",
    b"commit",
    b"rollback",
    b"savepoint",
    b"release",
    b"prepare",
    b"execute",
    b"deallocate",
    b"flush",
    b"kill",
    b"unlock",
];

/// What makes a SELECT more than a reading one.
const WRITING: [&[u8]; 5] =
    [b"for update", b"into outfile", b"into dumpfile", b"delete from", b"update "];

/// A procedure (`CALL`) may do anything, and so may what is not known: they write. SELECT ... FOR UPDATE locks
/// as a write does.
pub fn effect(sql: &[u8]) -> Effect {
    let mut at = blanks_end(sql, 0, &mut 0);
    while sql.get(at) == Some(&b'(') {
        at = blanks_end(sql, at + 1, &mut 0);
    }
    let end = if sql.get(at).is_some_and(|byte| is_word(*byte)) { word_end(sql, at) } else { at };
    let word = &sql[at..end];
    let is_one_of = |words: &[&[u8]]| words.iter().any(|other| word.eq_ignore_ascii_case(other));
    if is_one_of(&OTHERS) {
        return Effect::Other;
    }
    if !is_one_of(&READS) {
        return Effect::Writes;
    }
    let is_with = word.eq_ignore_ascii_case(b"with");
    let text = sql[at..].to_ascii_lowercase();
    let has = |what: &[u8]| memchr::memmem::find(&text, what).is_some();
    let writes = WRITING[..3].iter().any(|what| has(what))
        || is_with && WRITING[3..].iter().any(|what| has(what));
    if writes { Effect::Writes } else { Effect::Reads }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_known_by_its_first_word() {
        for (sql, expected) in [
            ("select 1", Effect::Reads),
            ("/* x */ ( SELECT 1 ) union (select 2)", Effect::Reads),
            ("SELECT a FROM t FOR UPDATE", Effect::Writes),
            ("with x as (select 1) delete from t", Effect::Writes),
            ("with x as (select 1) select * from x", Effect::Reads),
            ("insert into t select 1", Effect::Writes),
            ("call p()", Effect::Writes),
            ("COMMIT", Effect::Other),
            ("", Effect::Writes),
        ] {
            assert_eq!(effect(sql.as_bytes()), expected, "{sql}");
        }
    }
}
