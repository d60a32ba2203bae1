//! Random texts of a fixed form: `#` a digit, `@` a letter from a to z; and letters of an alphabet.

use crate::protocol::values::Span;
use crate::random::Random;

/// Decimal digits, and letters of 26, that one draw of 64 bits is cut into.
const DIGITS_A_DRAW: u32 = 18;
const LETTERS_A_DRAW: u32 = 13;

/// A pattern such as `###-@@`.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    text: Box<[u8]>,
    /// Stretches of placeholders of one kind.
    runs: Box<[Run]>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    start: usize,
    end: usize,
    digits: bool,
}

impl Pattern {
    pub fn new(text: &str) -> Self {
        let text = text.as_bytes();
        let mut runs = Vec::new();
        let mut start = 0;
        for stretch in text.chunk_by(|left, right| left == right) {
            let end = start + stretch.len();
            if matches!(stretch[0], b'#' | b'@') {
                runs.push(Run { start, end, digits: stretch[0] == b'#' });
            }
            start = end;
        }
        Self { text: text.into(), runs: runs.into() }
    }

    /// Appends a text of this form.
    #[inline]
    pub fn write(&self, random: &mut Random, out: &mut Vec<u8>) -> Span {
        let start = out.len();
        out.extend_from_slice(&self.text);
        let made = &mut out[start..];
        // Digits left over from one run serve the next: a draw for each would dominate the cost.
        let mut digits = Pool::new(10, DIGITS_A_DRAW);
        let mut letters = Pool::new(26, LETTERS_A_DRAW);
        for run in &self.runs {
            let (pool, first) = if run.digits { (&mut digits, b'0') } else { (&mut letters, b'a') };
            for place in &mut made[run.start..run.end] {
                *place = first + pool.next(random) as u8;
            }
        }
        Span { start, end: out.len() }
    }
}

/// Letters drawn one by one from an alphabet.
#[derive(Clone, Debug, PartialEq)]
pub struct Letters {
    alphabet: Box<[u8]>,
    a_draw: u32,
}

impl Letters {
    /// `None` unless the alphabet has from 1 to 128 letters, all of ASCII.
    pub fn new(alphabet: &str) -> Option<Self> {
        let letters = alphabet.as_bytes();
        if letters.is_empty() || letters.len() > 128 || !letters.is_ascii() {
            return None;
        }
        // As many as leave the bias of the last one below 2^-8 of a letter.
        let bits = (letters.len() as f64).log2().max(1.0);
        Some(Self { alphabet: letters.into(), a_draw: (56.0 / bits) as u32 })
    }

    pub fn write(&self, count: usize, random: &mut Random, out: &mut Vec<u8>) {
        let mut pool = Pool::new(self.alphabet.len() as u64, self.a_draw);
        out.extend((0..count).map(|_| self.alphabet[pool.next(random) as usize]));
    }
}

/// Numbers below `base`, `a_draw` of them from each draw.
struct Pool {
    base: u64,
    range: u64,
    a_draw: u32,
    value: u64,
    left: u32,
}

impl Pool {
    #[inline]
    fn new(base: u64, a_draw: u32) -> Self {
        Self { base, range: base.pow(a_draw), a_draw, value: 0, left: 0 }
    }

    #[inline]
    fn next(&mut self, random: &mut Random) -> u64 {
        if self.left == 0 {
            self.value = random.below(self.range);
            self.left = self.a_draw;
        }
        self.left -= 1;
        let number = self.value % self.base;
        self.value /= self.base;
        number
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn write(pattern: &str, seed: u64) -> String {
        let mut out = b"before".to_vec();
        let span = Pattern::new(pattern).write(&mut Random::stream(seed, &[]), &mut out);
        String::from_utf8(out[span.start..span.end].to_vec()).unwrap()
    }

    proptest! {
        #[test]
        fn placeholders_become_digits_and_letters_and_the_rest_stays(pattern in "[#@a-c-]{0,60}", seed: u64) {
            let text = write(&pattern, seed);
            prop_assert_eq!(text.len(), pattern.len());
            for (form, made) in pattern.chars().zip(text.chars()) {
                match form {
                    '#' => prop_assert!(made.is_ascii_digit()),
                    '@' => prop_assert!(made.is_ascii_lowercase()),
                    other => prop_assert_eq!(other, made),
                }
            }
        }
    }

    #[test]
    fn a_pattern_may_hold_letters_beyond_ascii() {
        let text = write("größe-#", 1);
        assert!(text.starts_with("größe-"), "{text}");
    }

    #[test]
    fn every_digit_and_letter_comes_alike_often() {
        let mut random = Random::stream(3, &[]);
        let mut out = Vec::new();
        let pattern = Pattern::new(&"#@".repeat(1000));
        for _ in 0..100 {
            pattern.write(&mut random, &mut out);
        }
        let mut counts = [0u32; 128];
        out.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        assert!(
            counts[usize::from(b'0')..=usize::from(b'9')].iter().all(|n| n.abs_diff(10_000) < 400)
        );
        assert!(
            counts[usize::from(b'a')..=usize::from(b'z')].iter().all(|n| n.abs_diff(3_846) < 260)
        );
    }

    #[test]
    fn letters_come_from_the_whole_alphabet_and_from_nowhere_else() {
        let letters = Letters::new("xyz").unwrap();
        let mut out = Vec::new();
        letters.write(30_000, &mut Random::stream(1, &[]), &mut out);
        for letter in b"xyz" {
            let count = out.iter().filter(|byte| *byte == letter).count();
            assert!(count.abs_diff(10_000) < 400, "{count}");
        }
        let mut one = Vec::new();
        Letters::new("a").unwrap().write(100, &mut Random::stream(1, &[]), &mut one);
        assert_eq!(one, [b'a'; 100]);
        assert_eq!([Letters::new(""), Letters::new("äö")], [None, None]);
    }
}
