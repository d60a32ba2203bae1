//! Messages as a table for people: one line for each phase, 80 columns wide.

use std::fmt::Write as _;

use super::messages::{Exit, LatencyKind, Message, Operation, PhaseEnd};
use super::visible;
use crate::job::{Arrival, Job};

const WIDTH: usize = 80;
/// Share of the events that are due in an open loop which may be missed, next to those that are under way.
const RATE_MISSED: f64 = 0.1;
/// The names of the columns.
pub const HEAD: &str =
    "phase connections transactions/s   queries/s     p50     p95     p99   errors";

/// What has been written so far.
pub struct Table {
    /// Arrivals of each phase.
    arrivals: Vec<Arrival>,
    servers: usize,
    kind: Option<LatencyKind>,
}

impl Table {
    pub fn new(job: &Job) -> Self {
        let phases = job.servers.iter().map(|server| server.phases.as_slice());
        let arrivals = phases.max_by_key(|phases| phases.len()).unwrap_or_default();
        let arrivals = arrivals.iter().map(|phase| phase.arrival).collect();
        Self { arrivals, servers: job.servers.len(), kind: None }
    }

    /// The lines of a message; most have none.
    pub fn lines(&mut self, message: &Message) -> String {
        let mut out = String::new();
        match message {
            Message::Hello(hello) => {
                let number = self.of_server(hello.server);
                line(&mut out, &format!("server{number} {}", hello.server_version));
            }
            Message::Prepared { tables, .. } => {
                let rows: u64 = tables.iter().map(|table| table.rows).sum();
                let tables = match tables.len() {
                    1 => "1 table".to_owned(),
                    count => format!("{count} tables"),
                };
                line(&mut out, &format!("prepared {tables} with {rows} rows"));
            }
            Message::PhaseStart { label: Some(label), .. } => line(&mut out, &format!("{label}:")),
            Message::Operation(operation) => out.push_str(&operation_line(operation)),
            // The phases of sql-bench are its operations.
            Message::PhaseEnd(end) if end.phase < self.arrivals.len() => {
                self.phase_lines(end, &mut out);
            }
            Message::Check { server, name, holds: false, detail } => {
                let number = self.of_server(*server);
                let detail = detail.as_deref().unwrap_or_default();
                line(&mut out, &format!("check {name}{number} does not hold: {detail}"));
            }
            Message::Done { exit: Exit::Interrupted, .. } => line(&mut out, "interrupted"),
            Message::Done { exit: Exit::Aborted, .. } => line(&mut out, "aborted"),
            _ => {}
        }
        out
    }

    /// The number of a server from 1, where there are several.
    fn of_server(&self, server: usize) -> String {
        if self.servers > 1 { format!(" {}", server + 1) } else { String::new() }
    }

    fn phase_lines(&mut self, end: &PhaseEnd, out: &mut String) {
        if self.kind.replace(end.latency_kind) != Some(end.latency_kind) {
            let kind = match end.latency_kind {
                LatencyKind::Service => "service time, from sending (closed loop)",
                LatencyKind::Response => "response time, from the intended start (open loop)",
            };
            line(out, &format!("latencies of transactions: {kind}"));
            line(out, HEAD);
        }
        let seconds = end.measured_s.unwrap_or(0.0);
        let per_second = |count: u64| match seconds > 0.0 {
            true => format!("{:.1}", count as f64 / seconds),
            false => "-".to_owned(),
        };
        let latency = &end.transactions.latency;
        let row = format!(
            "{:>5} {:>11} {:>14} {:>11} {:>7} {:>7} {:>7} {:>8}",
            end.phase + 1,
            end.connections_reached,
            per_second(end.transactions.count),
            per_second(end.queries.count),
            time(latency.p50_ns),
            time(latency.p95_ns),
            time(latency.p99_ns),
            end.errors.values().sum::<u64>(),
        );
        line(out, &row);
        for note in self.notes(end, seconds) {
            let number = self.of_server(end.server);
            let server = if number.is_empty() { number } else { format!("server{number}: ") };
            line(out, &format!("      {server}{note}"));
        }
    }

    /// What must be known of a phase to read its line.
    fn notes(&self, end: &PhaseEnd, seconds: f64) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(reason) = &end.aborted {
            notes.push(format!("aborted: {reason}"));
        }
        if end.interrupted {
            notes.push("interrupted".to_owned());
        }
        let (reached, wanted) = (end.connections_reached, end.connections_asked);
        if reached < wanted {
            notes.push(format!("{reached} of {wanted} connections were opened"));
        }
        if let Arrival::Fixed { rate } | Arrival::Poisson { rate } = self.arrivals[end.phase] {
            let due = rate * seconds;
            let missed = due - end.transactions.count as f64 - f64::from(wanted);
            if missed > (RATE_MISSED * due).max(4.0 * due.sqrt()) {
                let carried_out = end.transactions.count as f64 / seconds;
                notes.push(format!(
                    "the rate was not kept: {carried_out:.1} of {rate:.1} transactions/s"
                ));
                let waited = end.backlog_max.unwrap_or(0);
                notes.push(format!("up to {waited} transactions waited for a connection"));
            }
        }
        for (code, count) in &end.errors {
            let text = end.error_examples.get(code).map_or("", String::as_str);
            notes.push(format!("error {code}, {count} times: {text}"));
        }
        notes
    }
}

fn operation_line(operation: &Operation) -> String {
    let mut out = String::new();
    let (tests, seconds) = (operation.tests, operation.elapsed_ns as f64 / 1e9);
    let estimated = if operation.estimated { " (estimated)" } else { "" };
    let name = &operation.name;
    line(&mut out, &format!("  {name:32} {tests:>9} tests {seconds:>9.2} s{estimated}"));
    if let Some(warning) = &operation.warning {
        line(&mut out, &format!("      {warning}"));
    }
    out
}

/// Appends a line: without what a terminal obeys, and cut at its width.
fn line(out: &mut String, text: &str) {
    let text = visible::line(text.to_owned());
    let shown = match text.chars().count() > WIDTH {
        true => text.chars().take(WIDTH - 3).chain("...".chars()).collect(),
        false => text,
    };
    writeln!(out, "{shown}").expect("writing to memory does not fail");
}

/// Three digits, in the unit that has them.
fn time(nanoseconds: Option<u64>) -> String {
    let Some(nanoseconds) = nanoseconds else { return "-".to_owned() };
    let (value, unit) = match nanoseconds {
        0..1_000_000 => (nanoseconds as f64 / 1e3, "us"),
        1_000_000..1_000_000_000 => (nanoseconds as f64 / 1e6, "ms"),
        _ => (nanoseconds as f64 / 1e9, "s"),
    };
    let digits = match value {
        ..10.0 => 2,
        ..100.0 => 1,
        _ => 0,
    };
    format!("{value:.digits$}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_their_unit() {
        let shown =
            [None, Some(950), Some(42_000), Some(999_999), Some(12_345_678), Some(1_500_000_000)];
        assert_eq!(shown.map(time), ["-", "0.95us", "42.0us", "1000us", "12.3ms", "1.50s"]);
    }

    #[test]
    fn no_line_is_wider_than_a_terminal_or_commands_it() {
        let mut out = String::new();
        line(&mut out, &format!("\u{1b}[2J{}", "x".repeat(100)));
        assert_eq!(out, format!("\\u{{1b}}[2J{}...\n", "x".repeat(WIDTH - 3 - 9)));
        assert!(HEAD.len() <= WIDTH);
    }
}
