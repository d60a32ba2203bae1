//! The sink that keeps a hash of the tokens and nothing else.
//!
//! Words are taken eight or sixteen bytes at a time and mixed by a multiplication whose halves are folded
//! (as in wyhash). The constants are part of what an id is: changing one changes every id.

use crate::mixing::{eight, few, fold};

use super::token::{Literal, Sink, Symbol};

const SEED: u64 = 0x6d79_6479_6e6f_2031;
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0xd1b5_4a32_d192_ed03;

/// What a token is goes above its length.
const WORD: u64 = 1 << 56;
const QUOTED: u64 = 2 << 56;
const SYMBOL: u64 = 3 << 56;
const LITERAL: u64 = 4 << 56;
const COMMAND: u64 = 5 << 56;
/// And those above it: names of other kinds.
const NAME: u64 = 6 << 56;

pub struct Hash(u64);

impl Hash {
    #[inline]
    pub fn new() -> Self {
        Self(SEED)
    }

    #[inline]
    pub fn finish(self) -> u64 {
        fold(self.0 ^ FIRST, SECOND)
    }

    /// An administrator command's id, which is not a statement's.
    pub fn of_command(name: &[u8]) -> u64 {
        let mut hash = Self::new();
        hash.bytes(COMMAND, name);
        hash.finish()
    }

    /// The id of a name that is not a statement's: of a user, a host ... by `kind`.
    pub fn of_name(kind: u8, name: &[u8]) -> u64 {
        let mut hash = Self::new();
        hash.bytes(NAME + (u64::from(kind) << 56), name);
        hash.finish()
    }

    #[inline(always)]
    fn mix(&mut self, first: u64, second: u64) {
        self.0 = fold(self.0 ^ first, second ^ SECOND);
    }

    #[inline(always)]
    fn begin(&mut self, kind: u64, length: usize) {
        self.0 = self.0.wrapping_add((kind | length as u64).wrapping_mul(FIRST));
    }

    #[inline(always)]
    fn bytes(&mut self, kind: u64, bytes: &[u8]) {
        let length = bytes.len();
        self.begin(kind, length);
        if length <= 8 {
            self.mix(lower(few(bytes)), 0);
        } else {
            // The last sixteen overlap those before, or each other.
            let mut at = 0;
            while at + 16 < length {
                self.mix(lower(eight(bytes, at)), lower(eight(bytes, at + 8)));
                at += 16;
            }
            let first = length.saturating_sub(16);
            self.mix(lower(eight(bytes, first)), lower(eight(bytes, length - 8)));
        }
    }
}

impl Sink for Hash {
    #[inline(always)]
    fn word(&mut self, text: &[u8], first: usize, end: usize) {
        let length = end - first;
        match text.get(first..first + 8) {
            Some(bytes) if length <= 8 => {
                // Most words: no branch depends on how long they are.
                let unused = 8 * (8 - length) as u32;
                self.begin(WORD, length);
                self.mix(lower(eight(bytes, 0) << unused >> unused), 0);
            }
            _ => self.bytes(WORD, &text[first..end]),
        }
    }

    fn quoted(&mut self, name: &[u8]) {
        self.bytes(QUOTED, name);
    }

    #[inline(always)]
    fn symbol(&mut self, symbol: Symbol) {
        self.mix(SYMBOL | u64::from(symbol.0), 0);
    }

    #[inline]
    fn literal(&mut self, literal: Literal) {
        self.mix(LITERAL | literal as u64, 0);
    }

    #[inline]
    fn row(&mut self, literal: Literal) {
        self.symbol(Symbol::OPEN);
        self.literal(literal);
        self.symbol(Symbol::CLOSE);
    }
}

/// ASCII letters in lower case, eight bytes at a time.
#[inline(always)]
fn lower(bytes: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x80 * ONES;
    // The high bit of each sum says whether the byte's low seven bits reach `A`, or pass `Z`.
    let low = bytes & !HIGH;
    let reach_a = low + (0x80 - u64::from(b'A')) * ONES;
    let pass_z = low + (0x7f - u64::from(b'Z')) * ONES;
    let upper = (reach_a & !pass_z & !bytes) & HIGH;
    bytes | upper >> 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn eight_bytes_are_folded_as_one_at_a_time(bytes: [u8; 8]) {
            let folded = lower(u64::from_le_bytes(bytes)).to_le_bytes();
            prop_assert_eq!(folded, bytes.map(|byte| byte.to_ascii_lowercase()));
        }
    }
}
