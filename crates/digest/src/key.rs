//! What is in front of the colons of header lines, and how what follows is read.
//!
//! Sources: `sql/log.cc` of each server (`File_query_log::write_slow`, `MYSQL_QUERY_LOG::write`), and the pages on
//! `log_slow_extra` (MySQL), `log_slow_verbosity` (MariaDB) and the slow log of Percona Server.

use crate::attribute::{Attribute, Unit};

/// How a key's value is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    Time,
    UserHost,
    Schema,
    /// Seconds with a fraction.
    Seconds(Attribute),
    /// Milliseconds with a fraction: MariaDB's times of the engine.
    Milliseconds(Attribute),
    Count(Attribute),
    /// `Yes` or `No`.
    YesNo(Attribute),
    /// A code, of which 0 means that it is well: kept as a flag.
    Code(Attribute),
    /// A number that nothing is made of.
    Number,
    /// A word that nothing is made of.
    Word,
    /// The same, up to the end of the line.
    Line,
}

/// Keys that are not an attribute's own.
const OTHERS: &[(&str, Key)] = &[
    ("Time", Key::Time),
    ("User@Host", Key::UserHost),
    ("Schema", Key::Schema),
    ("Thread_id", Key::Number),
    ("Id", Key::Number),
    ("InnoDB_trx_id", Key::Word),
    ("Log_slow_rate_type", Key::Word),
    ("Log_slow_filter", Key::Word),
    ("Start", Key::Word),
    ("End", Key::Word),
    ("Stored_routine", Key::Line),
    ("explain", Key::Line),
    // The same as an attribute's own key.
    ("QC_Hit", Key::YesNo(Attribute::QueryCacheHit)),
    ("Errno", Key::Code(Attribute::Failed)),
    ("Sort_merge_passes", Key::Count(Attribute::MergePasses)),
    ("Created_tmp_tables", Key::Count(Attribute::TmpTables)),
    ("Created_tmp_disk_tables", Key::Count(Attribute::TmpDiskTables)),
];

const fn of_attribute(attribute: Attribute) -> Key {
    match (attribute, attribute.unit()) {
        (Attribute::PagesReadTime | Attribute::EngineTime, _) => Key::Milliseconds(attribute),
        (Attribute::Failed | Attribute::Killed, _) => Key::Code(attribute),
        (_, Unit::Us) => Key::Seconds(attribute),
        (_, Unit::Flag) => Key::YesNo(attribute),
        (_, Unit::Count | Unit::Bytes) => Key::Count(attribute),
    }
}

const KEYS: usize = Attribute::COUNT + OTHERS.len();

const TABLE: [(&str, Key); KEYS] = {
    let mut table = [("", Key::Line); KEYS];
    let mut place = 0;
    while place < KEYS {
        table[place] = if place < Attribute::COUNT {
            (Attribute::ALL[place].key(), of_attribute(Attribute::ALL[place]))
        } else {
            OTHERS[place - Attribute::COUNT]
        };
        place += 1;
    }
    table
};

static NAMED: [(&str, Key); KEYS] = TABLE;

/// The longest is `Created_tmp_disk_tables` or `Count_hit_tmp_table_size`; a little more is looked at.
pub const MOST_BYTES: usize = 32;

const SLOTS: usize = 1024;
const EMPTY: u8 = u8::MAX;

/// A perfect hash of length, middle and last two bytes: no two keys share a slot, which the compiler checks.
#[inline]
const fn slot(key: &[u8]) -> usize {
    let length = key.len();
    let mixed = length as u32
        | (key[length / 2] as u32) << 8
        | (key[length - 2] as u32) << 16
        | (key[length - 1] as u32) << 24;
    (mixed.wrapping_mul(0x9E37_79B1) >> 22) as usize
}

static PLACES: [u8; SLOTS] = {
    let mut places = [EMPTY; SLOTS];
    let mut place = 0;
    while place < KEYS {
        let slot = slot(TABLE[place].0.as_bytes());
        assert!(places[slot] == EMPTY, "two keys share a slot: choose another multiplier");
        places[slot] = place as u8;
        place += 1;
    }
    places
};

/// The place of this key in the table; None when no server writes it.
#[inline]
fn find(key: &[u8]) -> Option<u8> {
    if key.len() < 2 {
        return None;
    }
    let place = PLACES[slot(key)];
    (NAMED.get(usize::from(place))?.0.as_bytes() == key).then_some(place)
}

/// How the value of the key that begins here is read, and where its colon is; None when this is not a key that a
/// server writes.
#[inline]
pub fn read(text: &[u8], at: usize) -> Option<(Key, usize)> {
    let colon = colon(text, at)?;
    Some((NAMED[usize::from(find(&text[at..colon])?)].1, colon))
}

/// Servers write the same keys in the same order all the time: the key that came behind another is tried first
/// when that other one comes again.
pub struct Habit {
    /// By the place of a key: the place of the one behind it.
    behind: [u8; KEYS],
    last: u8,
}

impl Default for Habit {
    fn default() -> Self {
        Self { behind: [0; KEYS], last: 0 }
    }
}

impl Habit {
    /// Whether the key that comes here as usual does.
    #[inline]
    pub fn is_kept(&self, text: &[u8], at: usize) -> bool {
        let name = NAMED[usize::from(self.behind[usize::from(self.last)])].0.as_bytes();
        text.len() > at + name.len() + 1
            && text[at + name.len()] == b':'
            && text[at + name.len() + 1] == b' '
            && &text[at..at + name.len()] == name
    }

    /// As [`read`].
    #[inline]
    pub fn read(&mut self, text: &[u8], at: usize) -> Option<(Key, usize)> {
        let last = usize::from(self.last);
        if !self.is_kept(text, at) {
            self.behind[last] = find(&text[at..colon(text, at)?])?;
        }
        self.last = self.behind[last];
        let (name, key) = NAMED[usize::from(self.last)];
        Some((key, at + name.len()))
    }
}

/// Where the key that begins here ends: its colon; None when this is not a key.
#[inline]
pub fn colon(text: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    while let Some(byte) = text.get(end)
        && end - at <= MOST_BYTES
    {
        match byte {
            b':' => return (end > at).then_some(end),
            b'a'..=b'z' | b'A'..=b'Z' | b'_' | b'@' => end += 1,
            _ => return None,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_found_and_no_other_word_is() {
        for (name, key) in TABLE {
            let text = format!("{name}: 1");
            assert_eq!(read(text.as_bytes(), 0), Some((key, name.len())), "{name}");
            assert!(name.len() <= MOST_BYTES);
        }
        for word in ["", "x", "query_time", "Query_tim", "Rows", "Read_rnd_nexT"] {
            assert_eq!(read(format!("{word}: 1").as_bytes(), 0), None, "{word}");
        }
    }

    #[test]
    fn a_habit_gives_what_is_there_whatever_came_before() {
        let mut habit = Habit::default();
        for _ in 0..2 {
            for (name, key) in TABLE.into_iter().chain(TABLE.into_iter().rev()) {
                let text = format!("# {name}: 1");
                assert_eq!(habit.read(text.as_bytes(), 2), Some((key, 2 + name.len())), "{name}");
                assert_eq!(habit.read(b"Nothing: 1", 0), None);
            }
        }
    }
}
