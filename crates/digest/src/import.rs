//! Slow logs that lie in something else: exports of CloudWatch, and rows of the table `mysql.slow_log`. Each is
//! made a slow log again, record by record, and read as one.

mod cloudwatch;
mod fields;
mod row;
#[cfg(test)]
mod tests;

use crate::line::BYTE_ORDER_MARK;
use crate::recognise::is_slow_log_row;
use cloudwatch::{Json, Messages, Prefix};
use fields::Dump;
use row::Columns;

/// A record that is longer is passed over: none is, unless the text is not such an export.
const MOST_RECORD_BYTES: usize = 64 << 20;

/// What a source is an export of, recognized by its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// What `aws logs` prints as JSON: `get-log-events`, `filter-log-events`, `get-query-results`.
    CloudWatchJson,
    /// What the console saves, and Logs Insights.
    CloudWatchCsv,
    /// `aws logs tail`, and exports to S3: lines behind a time and perhaps a stream's name.
    CloudWatchLines,
    /// The file of the table's CSV engine.
    TableCsv,
    /// INSERT statements of mysqldump.
    TableDump,
    /// What `mysql -B` prints: columns with tabs between them.
    TableText,
}

impl Format {
    /// None for what is not an export: perhaps a slow log.
    pub fn of(head: &[u8]) -> Option<Self> {
        let head = head.strip_prefix(BYTE_ORDER_MARK).unwrap_or(head).trim_ascii_start();
        let line = &head[..memchr::memchr(b'\n', head).unwrap_or(head.len())];
        if cloudwatch::is_json(head) {
            return Some(Self::CloudWatchJson);
        }
        if Prefix::of(line).is_some() {
            return Some(Self::CloudWatchLines);
        }
        if cloudwatch::message_column(line).is_some() {
            return Some(Self::CloudWatchCsv);
        }
        if line.starts_with(b"\"") && is_slow_log_row(line) {
            return Some(Self::TableCsv);
        }
        if Columns::of_header(&fields::tabbed(line)).is_some() || row::is_tabbed_row(line) {
            return Some(Self::TableText);
        }
        fields::is_dump(head).then_some(Self::TableDump)
    }

    /// As messages have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::CloudWatchJson | Self::CloudWatchCsv | Self::CloudWatchLines => "cloudwatch",
            Self::TableCsv | Self::TableDump | Self::TableText => "slow-log-table",
        }
    }
}

/// Makes a slow log of an export, as it comes.
pub struct Importer {
    state: State,
    /// What is not a whole record yet.
    pending: Vec<u8>,
}

enum State {
    Json(Json),
    Csv(Messages),
    Lines(Prefix),
    TableCsv(Columns),
    TableText(Option<Columns>),
    Dump(Dump),
}

impl Importer {
    pub fn new(format: Format) -> Self {
        let state = match format {
            Format::CloudWatchJson => State::Json(Json::default()),
            Format::CloudWatchCsv => State::Csv(Messages::default()),
            Format::CloudWatchLines => State::Lines(Prefix::default()),
            Format::TableCsv => State::TableCsv(Columns::default()),
            Format::TableText => State::TableText(None),
            Format::TableDump => State::Dump(Dump::default()),
        };
        Self { state, pending: Vec::new() }
    }

    /// Takes the next bytes; what they contain is added to `log`.
    pub fn feed(&mut self, bytes: &[u8], is_end: bool, log: &mut Vec<u8>) {
        let mut pending = std::mem::take(&mut self.pending);
        let bytes = if pending.is_empty() {
            bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes)
        } else {
            bytes
        };
        pending.extend_from_slice(bytes);
        let mut at = 0;
        while let Some(taken) = self.record(&pending[at..], is_end, log) {
            at += taken;
        }
        pending.drain(..at);
        if pending.len() > MOST_RECORD_BYTES {
            pending.clear();
        }
        self.pending = pending;
    }

    /// One record, or a part that holds none: its length; None when more bytes are needed.
    fn record(&mut self, text: &[u8], is_end: bool, log: &mut Vec<u8>) -> Option<usize> {
        match &mut self.state {
            State::Json(json) => json.record(text, is_end, log),
            State::Csv(messages) => messages.record(text, is_end, log),
            State::Dump(dump) => dump.record(text, log),
            State::Lines(prefix) => line(text, is_end, |line| prefix.line(line, log)),
            State::TableCsv(columns) => {
                line(text, is_end, |line| columns.push_row(&fields::of_csv_engine(line), log))
            }
            State::TableText(columns) => line(text, is_end, |line| {
                let fields = fields::tabbed(line);
                match columns {
                    None if let Some(header) = Columns::of_header(&fields) => {
                        *columns = Some(header);
                    }
                    _ => columns.get_or_insert_default().push_row(&fields, log),
                }
            }),
        }
    }
}

/// Hands on the first line, without its end; gives its length with it.
fn line(text: &[u8], is_end: bool, mut each: impl FnMut(&[u8])) -> Option<usize> {
    let (end, next) = match memchr::memchr(b'\n', text) {
        Some(end) => (end, end + 1),
        None if is_end && !text.is_empty() => (text.len(), text.len()),
        None => return None,
    };
    let line = &text[..end];
    each(line.strip_suffix(b"\r").unwrap_or(line));
    Some(next)
}
