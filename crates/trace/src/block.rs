//! Records as columns: what is alike stands together, so that it packs well.
//!
//! A block is a row of columns, each behind its length. Per record: a byte that says what it is and which
//! numbers it has, the instant since the record before, the connection. Statements have a template, which the
//! block holds once, and their literals; those of one template stand together, slot by slot, and whole numbers
//! among them are numbers.

use std::collections::HashMap;
use std::sync::Arc;

use crate::record::{Closed, Name, Opened, Record, Statement};
use crate::template::{join, marks, split};
use crate::varint::{self, Column};

// What a record is: the two lowest bits of its first byte.
const OPENED: u8 = 0;
const STATEMENT: u8 = 1;
const CLOSED: u8 = 2;
const KIND: u8 = 3;
// What a statement has: the other bits.
const PREPARED: u8 = 1 << 2;
const DURATION: u8 = 1 << 3;
const ROWS_SENT: u8 = 1 << 4;
const ROWS_EXAMINED: u8 = 1 << 5;
const ROWS_AFFECTED: u8 = 1 << 6;
const ERROR: u8 = 1 << 7;

/// Places of the columns in a block.
#[derive(Clone, Copy)]
#[repr(usize)]
enum Part {
    Kinds,
    Instants,
    Connections,
    ServerIds,
    Names,
    NameOf,
    Durations,
    Sent,
    Examined,
    Affected,
    Errors,
    Templates,
    TemplateOf,
    Numbers,
    Texts,
}

const PARTS: usize = Part::Texts as usize + 1;

/// A literal that is written as a number has this lowest bit; for others the number is that of bytes.
const IS_NUMBER: u64 = 1;

/// A block is full when it has one of these: records, bytes before it is packed, bytes of statements, which a
/// reader holds.
const MOST_RECORDS: usize = 1 << 16;
const MOST_BYTES: usize = 4 << 20;
const MOST_SQL_BYTES: usize = 32 << 20;

/// No block has more bytes of statements: the last one of a full block may be as long as max_allowed_packet.
const READ_SQL_BYTES: usize = (1 << 30) + MOST_SQL_BYTES;

/// Builds one block.
#[derive(Default)]
pub struct Builder {
    columns: [Vec<u8>; PARTS],
    records: usize,
    bytes: usize,
    sql_bytes: usize,
    last_us: u64,
    names: HashMap<Name, u64>,
    last_name: Option<(Name, u64)>,
    templates: HashMap<Vec<u8>, usize>,
    /// By template: the slots' literals.
    slots: Vec<Vec<Slot>>,
    template: Vec<u8>,
    literals: Vec<(usize, usize)>,
}

#[derive(Default)]
struct Slot {
    numbers: Vec<u8>,
    texts: Vec<u8>,
}

impl Builder {
    pub fn is_empty(&self) -> bool {
        self.records == 0
    }

    /// Whether it has what `parts` blocks of which one is full would share.
    pub fn is_full(&self, parts: usize) -> bool {
        self.records >= MOST_RECORDS / parts
            || self.bytes >= MOST_BYTES / parts
            || self.sql_bytes >= MOST_SQL_BYTES / parts
    }

    pub fn push(&mut self, record: &Record) {
        self.records += 1;
        self.bytes += 8;
        let at_us = record.at_us();
        let since = at_us.wrapping_sub(self.last_us);
        varint::push(self.part(Part::Instants), since);
        self.last_us = at_us;
        varint::push(self.part(Part::Connections), u64::from(record.connection()));
        match record {
            Record::Opened(opened) => {
                self.part(Part::Kinds).push(OPENED);
                let id = opened.server_id.map_or(0, |id| id.wrapping_add(1));
                varint::push(self.part(Part::ServerIds), id);
                self.push_name(&opened.user);
                self.push_name(&opened.schema);
            }
            Record::Statement(statement) => self.push_statement(statement),
            Record::Closed(_) => self.part(Part::Kinds).push(CLOSED),
        }
    }

    fn part(&mut self, part: Part) -> &mut Vec<u8> {
        &mut self.columns[part as usize]
    }

    fn push_statement(&mut self, statement: &Statement) {
        let mut kind = STATEMENT | if statement.prepared { PREPARED } else { 0 };
        let numbers = [
            (DURATION, Part::Durations, statement.duration_us),
            (ROWS_SENT, Part::Sent, statement.rows_sent),
            (ROWS_EXAMINED, Part::Examined, statement.rows_examined),
            (ROWS_AFFECTED, Part::Affected, statement.rows_affected),
            (ERROR, Part::Errors, statement.error.map(u64::from)),
        ];
        for (flag, part, number) in numbers {
            if let Some(number) = number {
                kind |= flag;
                varint::push(self.part(part), number);
            }
        }
        self.part(Part::Kinds).push(kind);
        self.push_name(&statement.schema);
        self.push_sql(&statement.sql);
    }

    fn push_name(&mut self, name: &Name) {
        let number = match &self.last_name {
            Some((last, number)) if last == name => *number,
            _ => self.number_of(name),
        };
        varint::push(self.part(Part::NameOf), number);
    }

    fn number_of(&mut self, name: &Name) -> u64 {
        let next = self.names.len() as u64;
        let number = *self.names.entry(Arc::clone(name)).or_insert(next);
        if number == next {
            push_text(&mut self.columns[Part::Names as usize], name);
            self.bytes += name.len();
        }
        self.last_name = Some((Arc::clone(name), number));
        number
    }

    fn push_sql(&mut self, sql: &[u8]) {
        self.sql_bytes += sql.len();
        split(sql, &mut self.template, &mut self.literals);
        let number = match self.templates.get(&self.template) {
            Some(&number) => number,
            None => {
                let number = self.slots.len();
                push_text(&mut self.columns[Part::Templates as usize], &self.template);
                self.bytes += self.template.len();
                self.templates.insert(self.template.clone(), number);
                self.slots.push(self.literals.iter().map(|_| Slot::default()).collect());
                number
            }
        };
        varint::push(&mut self.columns[Part::TemplateOf as usize], number as u64);
        for (slot, &(begin, end)) in self.slots[number].iter_mut().zip(&self.literals) {
            let literal = &sql[begin..end];
            self.bytes += 2;
            match whole_number(literal) {
                Some(value) => varint::push(&mut slot.numbers, value << 1 | IS_NUMBER),
                None => {
                    varint::push(&mut slot.numbers, (literal.len() as u64) << 1);
                    slot.texts.extend_from_slice(literal);
                    self.bytes += literal.len();
                }
            }
        }
    }

    /// The block; the builder is empty behind it.
    pub fn finish(&mut self) -> Vec<u8> {
        for slot in std::mem::take(&mut self.slots).into_iter().flatten() {
            self.columns[Part::Numbers as usize].extend_from_slice(&slot.numbers);
            self.columns[Part::Texts as usize].extend_from_slice(&slot.texts);
        }
        let mut bytes = Vec::with_capacity(self.columns.iter().map(Vec::len).sum::<usize>() + 64);
        varint::push(&mut bytes, self.records as u64);
        for column in &self.columns {
            varint::push(&mut bytes, column.len() as u64);
        }
        self.columns.iter().for_each(|column| bytes.extend_from_slice(column));
        *self = Self::default();
        bytes
    }
}

fn push_text(column: &mut Vec<u8>, text: &[u8]) {
    varint::push(column, text.len() as u64);
    column.extend_from_slice(text);
}

/// The value of digits that are written back as they were: without zeros in front, and below 2^63.
fn whole_number(text: &[u8]) -> Option<u64> {
    let is_plain = matches!(text, [b'0'] | [b'1'..=b'9', ..]) && text.len() <= 18;
    if !(is_plain && text.iter().all(u8::is_ascii_digit)) {
        return None;
    }
    Some(text.iter().fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// The records of a block; None where it is none that [`Builder`] has made.
pub fn read(block: &[u8]) -> Option<Vec<Record>> {
    let mut block = Column(block);
    let records = block.number()?;
    let mut lengths = [0; PARTS];
    for length in &mut lengths {
        *length = block.number()?;
    }
    let mut columns = [Column(&[]); PARTS];
    for (column, length) in columns.iter_mut().zip(lengths) {
        *column = Column(block.bytes(length)?);
    }
    // Every record has a byte of its own there.
    if records != columns[Part::Kinds as usize].0.len() as u64 || !block.0.is_empty() {
        return None;
    }
    let names = texts(columns[Part::Names as usize])?.into_iter().map(Arc::from).collect();
    let statements = Sql::read(&columns)?;
    let mut reader = Reader { columns, names, statements, at_us: 0 };
    (0..records).map(|_| reader.record()).collect()
}

fn texts(mut column: Column<'_>) -> Option<Vec<&[u8]>> {
    let mut texts = Vec::new();
    while !column.0.is_empty() {
        texts.push(column.text()?);
    }
    Some(texts)
}

struct Reader<'a> {
    columns: [Column<'a>; PARTS],
    names: Vec<Name>,
    statements: Sql<'a>,
    at_us: u64,
}

impl Reader<'_> {
    fn number(&mut self, part: Part) -> Option<u64> {
        self.columns[part as usize].number()
    }

    fn name(&mut self) -> Option<Name> {
        let number = self.number(Part::NameOf)?;
        self.names.get(usize::try_from(number).ok()?).map(Arc::clone)
    }

    fn record(&mut self) -> Option<Record> {
        let kind = self.columns[Part::Kinds as usize].bytes(1)?[0];
        self.at_us = self.at_us.wrapping_add(self.number(Part::Instants)?);
        let at_us = self.at_us;
        let connection = u32::try_from(self.number(Part::Connections)?).ok()?;
        Some(match kind & KIND {
            OPENED => {
                let server_id = self.number(Part::ServerIds)?.checked_sub(1);
                let (user, schema) = (self.name()?, self.name()?);
                Record::Opened(Opened { connection, at_us, server_id, user, schema })
            }
            STATEMENT => Record::Statement(self.statement(kind, connection)?),
            CLOSED => Record::Closed(Closed { connection, at_us }),
            _ => return None,
        })
    }

    fn statement(&mut self, kind: u8, connection: u32) -> Option<Statement> {
        let mut known = |flag: u8, part: Part| {
            if kind & flag == 0 { Some(None) } else { self.number(part).map(Some) }
        };
        let duration_us = known(DURATION, Part::Durations)?;
        let rows_sent = known(ROWS_SENT, Part::Sent)?;
        let rows_examined = known(ROWS_EXAMINED, Part::Examined)?;
        let rows_affected = known(ROWS_AFFECTED, Part::Affected)?;
        let error = match known(ERROR, Part::Errors)? {
            Some(number) => Some(u16::try_from(number).ok()?),
            None => None,
        };
        let template = self.number(Part::TemplateOf)?;
        Some(Statement {
            connection,
            at_us: self.at_us,
            duration_us,
            schema: self.name()?,
            sql: self.statements.next(template)?,
            rows_sent,
            rows_examined,
            rows_affected,
            error,
            prepared: kind & PREPARED != 0,
        })
    }
}

/// The statements of a block, template by template.
struct Sql<'a> {
    templates: Vec<Template<'a>>,
    /// The literals of the statement at hand, where they are numbers.
    digits: Vec<Vec<u8>>,
    /// Bytes that statements may still have.
    left: usize,
}

struct Template<'a> {
    text: &'a [u8],
    slots: Vec<(Column<'a>, Column<'a>)>,
}

impl<'a> Sql<'a> {
    fn read(columns: &[Column<'a>; PARTS]) -> Option<Self> {
        let texts = texts(columns[Part::Templates as usize])?;
        let mut statements = vec![0_usize; texts.len()];
        let mut of = columns[Part::TemplateOf as usize];
        while !of.0.is_empty() {
            *statements.get_mut(usize::try_from(of.number()?).ok()?)? += 1;
        }
        let (mut numbers, mut literals) =
            (columns[Part::Numbers as usize], columns[Part::Texts as usize]);
        let mut templates = Vec::with_capacity(texts.len());
        for (text, count) in texts.into_iter().zip(statements) {
            let mut slots = Vec::new();
            for _ in 0..marks(text) {
                slots.push(slot(&mut numbers, &mut literals, count)?);
            }
            templates.push(Template { text, slots });
        }
        (numbers.0.is_empty() && literals.0.is_empty()).then_some(())?;
        Some(Self { templates, digits: Vec::new(), left: READ_SQL_BYTES })
    }

    fn next(&mut self, template: u64) -> Option<Vec<u8>> {
        let Template { text, slots } = self.templates.get_mut(usize::try_from(template).ok()?)?;
        self.digits.clear();
        let mut literals: Vec<Result<&[u8], usize>> = Vec::with_capacity(slots.len());
        let mut bytes = text.len();
        for (numbers, texts) in slots {
            let number = numbers.number()?;
            if number & IS_NUMBER == 0 {
                let literal = texts.bytes(number >> 1)?;
                bytes += literal.len();
                literals.push(Ok(literal));
            } else {
                literals.push(Err(self.digits.len()));
                self.digits.push((number >> 1).to_string().into_bytes());
                bytes += 18;
            }
        }
        self.left = self.left.checked_sub(text.len())?;
        let mut sql = Vec::with_capacity(bytes);
        let literals = literals.into_iter().map(|one| one.unwrap_or_else(|at| &self.digits[at]));
        join(text, literals, &mut sql)?;
        Some(sql)
    }
}

/// Takes the literals of one slot of so many statements off the front of both columns.
fn slot<'a>(
    numbers: &mut Column<'a>,
    texts: &mut Column<'a>,
    count: usize,
) -> Option<(Column<'a>, Column<'a>)> {
    let (begin, mut bytes) = (*numbers, 0_u64);
    for _ in 0..count {
        let number = numbers.number()?;
        if number & IS_NUMBER == 0 {
            bytes = bytes.checked_add(number >> 1)?;
        }
    }
    let taken = begin.0.len() - numbers.0.len();
    Some((Column(&begin.0[..taken]), Column(texts.bytes(bytes)?)))
}
