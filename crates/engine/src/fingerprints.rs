//! `mydyno-engine fingerprint`: statements of other sources than logs, under the fingerprints of a digest.
//!
//! One JSON string a line on standard input, one JSON object a line on standard output, in the same order.

use std::io::{self, BufRead, BufWriter, Write};

use mydyno_digest::fingerprint::{id, text};
use mydyno_digest::passwords::masked;
use serde::Serialize;

use crate::failure::{Fatal, FatalCode};

/// What a group of a digest keeps of its fingerprint.
const MOST_BYTES: usize = 4 << 10;

#[derive(Serialize)]
struct Answer {
    id: String,
    text: String,
    /// Whether `text` shows the beginning only.
    is_cut: bool,
    /// The statement with its passwords and keys masked.
    example: String,
}

/// Answers until standard input ends.
pub fn run(statements: impl BufRead, answers: impl Write) -> Result<(), Fatal> {
    let mut answers = BufWriter::new(answers);
    for (number, line) in (1..).zip(statements.lines()) {
        let line = line.map_err(|error| bad(number, &error.to_string()))?;
        let statement: String =
            serde_json::from_str(&line).map_err(|error| bad(number, &error.to_string()))?;
        serde_json::to_writer(&mut answers, &answer(statement.as_bytes())).map_err(unwritten)?;
        answers.write_all(b"\n").map_err(unwritten)?;
    }
    answers.flush().map_err(unwritten)
}

fn answer(statement: &[u8]) -> Answer {
    let fingerprint = text(statement, MOST_BYTES);
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Answer {
        id: id(statement).to_string(),
        text: shown(&fingerprint.text),
        is_cut: fingerprint.is_cut,
        example: shown(&masked(statement)),
    }
}

fn bad(number: u64, says: &str) -> Fatal {
    Fatal::new(
        FatalCode::BadJob,
        format!("line {number} of standard input is no JSON string: {says}"),
    )
}

fn unwritten(error: impl Into<io::Error>) -> Fatal {
    let error: io::Error = error.into();
    Fatal::new(FatalCode::Internal, format!("cannot write an answer: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers_to(statements: &str) -> Result<String, Fatal> {
        let mut answers = Vec::new();
        run(statements.as_bytes(), &mut answers)?;
        Ok(String::from_utf8(answers).unwrap())
    }

    #[test]
    fn statements_that_differ_in_literals_have_one_id() {
        let answers = answers_to("\"SELECT 1\"\n\"select\\n 2\"\n\"SELECT a\"\n").unwrap();
        let ids: Vec<&str> = answers.lines().map(|line| &line[..24]).collect();
        assert_eq!(ids.len(), 3);
        assert_eq!(ids[0], ids[1]);
        assert_ne!(ids[0], ids[2]);
    }

    #[test]
    fn a_password_does_not_come_back() {
        let answers = answers_to("\"CREATE USER a IDENTIFIED BY 'geheim'\"\n").unwrap();
        assert!(!answers.contains("geheim"), "{answers}");
    }

    #[test]
    fn a_line_that_is_no_string_is_named() {
        let error = answers_to("\"SELECT 1\"\n{}\n").unwrap_err();
        assert!(error.message.starts_with("line 2 of standard input"), "{}", error.message);
    }
}
