//! Literals replaced by others of the same kind and length.
//!
//! A literal always becomes the same one within a trace, so that rows that had the same value have the same
//! one again. What it becomes depends on a number that is drawn for each trace and written nowhere.

use std::hash::{BuildHasher, Hasher, RandomState};

use crate::template::{MARK, split};

pub struct Mask {
    secret: RandomState,
    template: Vec<u8>,
    literals: Vec<(usize, usize)>,
}

impl Default for Mask {
    fn default() -> Self {
        Self { secret: RandomState::new(), template: Vec::new(), literals: Vec::new() }
    }
}

impl Mask {
    /// The statement with its literals replaced; its names, and values of system variables, are kept.
    pub fn masked(&mut self, sql: &[u8]) -> Vec<u8> {
        let mut masked = sql.to_vec();
        if sets_system_variables(sql) {
            return masked;
        }
        split(sql, &mut self.template, &mut self.literals);
        if self.template == [MARK] && !sql.is_empty() {
            // A statement that could not be split is a text as a whole.
            self.literals.clear();
            self.literals.push((0, sql.len()));
        }
        for &(begin, end) in &self.literals {
            self.replace(&mut masked[begin..end]);
        }
        masked
    }

    fn replace(&self, literal: &mut [u8]) {
        let mut hasher = self.secret.build_hasher();
        hasher.write(literal);
        let mut random = Random(hasher.finish() | 1);
        if let Some(prefix) = prefix(literal) {
            let digits = &mut literal[prefix..];
            let most = if digits.iter().all(|byte| matches!(byte, b'0' | b'1')) { 2 } else { 16 };
            digits.iter_mut().for_each(|byte| *byte = random.of(&b"0123456789abcdef"[..most]));
        } else if !replace_time(literal, &mut random) {
            replace_text(literal, &mut random);
        }
    }
}

/// `SET NAMES 'utf8mb4'`: what they hold is no data. User variables (`@a`) may hold some.
fn sets_system_variables(sql: &[u8]) -> bool {
    let text = sql.trim_ascii_start();
    let is_set = text.get(..4).is_some_and(|word| word.eq_ignore_ascii_case(b"set "));
    is_set && !holds_user_variable(text)
}

fn holds_user_variable(text: &[u8]) -> bool {
    let signs = |window: &[u8]| window[0] != b'@' && window[1] == b'@' && window[2] != b'@';
    text.windows(3).any(signs)
}

/// Behind `0x` or `0b`.
fn prefix(literal: &[u8]) -> Option<usize> {
    let is_one = matches!(literal, [b'0', b'x' | b'b', ..]) && literal.len() > 2;
    (is_one && literal[2..].iter().all(u8::is_ascii_hexdigit)).then_some(2)
}

/// `2026-11-22` and what may follow: another day that there is.
fn replace_time(literal: &mut [u8], random: &mut Random) -> bool {
    const SHAPE: &[u8] = b"dddd-dd-dd";
    let fits = |(byte, shape): (&u8, &u8)| match shape {
        b'd' => byte.is_ascii_digit(),
        other => byte == other,
    };
    if literal.len() < SHAPE.len() || !literal.iter().zip(SHAPE).all(fits) {
        return false;
    }
    for (at, below) in [(2, 37), (5, 12), (8, 28), (11, 24), (14, 60), (17, 60)] {
        let from = u64::from(matches!(at, 5 | 8));
        if let Some(pair) = literal.get_mut(at..at + 2)
            && pair.iter().all(u8::is_ascii_digit)
        {
            let number = from + random.next() % below;
            pair.copy_from_slice(format!("{number:02}").as_bytes());
        }
    }
    if let Some(rest) = literal.get_mut(19..) {
        replace_text(rest, random);
    }
    true
}

fn replace_text(literal: &mut [u8], random: &mut Random) {
    let is_hex = literal.iter().all(|byte| byte.is_ascii_hexdigit() || *byte == b'-')
        && literal.iter().any(u8::is_ascii_alphabetic);
    let letters: &[u8] = if is_hex { b"abcdef" } else { b"abcdefghijklmnopqrstuvwxyz" };
    let mut at = 0;
    let mut is_first_digit = true;
    while let Some(&byte) = literal.get(at) {
        let new = match byte {
            // What a backslash escapes stays a letter of its own meaning.
            b'\\' => {
                at += 2;
                continue;
            }
            b'0' if is_first_digit && literal.len() > 1 => b'0',
            b'0'..=b'9' if is_first_digit => random.of(b"123456789"),
            b'0'..=b'9' => random.of(b"0123456789"),
            b'A'..=b'Z' => random.of(letters).to_ascii_uppercase(),
            b'a'..=b'z' => random.of(letters),
            // Parts of a character of several bytes: as many letters.
            0x80.. => random.of(letters),
            other => other,
        };
        is_first_digit &= !byte.is_ascii_digit();
        literal[at] = new;
        at += 1;
    }
}

/// xorshift64 (Marsaglia, "Xorshift RNGs", 2003).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn of(&mut self, bytes: &[u8]) -> u8 {
        bytes[(self.next() % bytes.len() as u64) as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(sql: &str) -> String {
        String::from_utf8(Mask::default().masked(sql.as_bytes())).unwrap()
    }

    #[test]
    fn literals_keep_their_length_and_kind_and_nothing_else() {
        let sql = "select a1, `b 2` from t where name = 'Ann Öl\\'s' and id = 4711 and day = '2026-11-22' -- x";
        let new = masked(sql);
        assert_eq!(new.len(), sql.len());
        for kept in ["select a1, `b 2` from t where name = '", "\\'", " and id = ", " and day = '"]
        {
            assert!(new.contains(kept), "{new}");
        }
        for hidden in ["Ann", "4711", "2026-11-22", "Ö"] {
            assert!(!new.contains(hidden), "{new}");
        }
        let digits = new.split("id = ").nth(1).unwrap();
        assert!(digits[..4].bytes().all(|byte| byte.is_ascii_digit()), "{new}");
    }

    #[test]
    fn a_value_becomes_the_same_value_everywhere_in_a_trace() {
        let mut mask = Mask::default();
        let (one, other) = (mask.masked(b"select 'abcdefgh'"), mask.masked(b"insert 'abcdefgh'"));
        assert_eq!(one[7..], other[7..]);
    }

    #[test]
    fn dates_stay_dates_and_system_variables_their_values() {
        let new = masked("select '2026-12-31 23:59:59'");
        let (month, day) = (&new[13..15], &new[16..18]);
        assert!((1..=12).contains(&month.parse().unwrap()), "{new}");
        assert!((1..=28).contains(&day.parse().unwrap()), "{new}");
        for kept in ["SET NAMES 'utf8mb4'", "set @@sql_mode = 'ANSI'", "set autocommit=0"] {
            assert_eq!(masked(kept), kept);
        }
        assert_ne!(masked("set @name = 'somebody else'"), "set @name = 'somebody else'");
    }
}
