//! Numbers as headers write them, read where they stand: no allocation, no UTF-8.

/// Longer than any server has been up: one that is beyond it was written by a server that subtracted two
/// clocks the wrong way round (`18446744073709.550781`, `4294967295`), and would spoil every sum.
const MOST_SECONDS: u64 = 1_000_000_000;

/// The same for counts: `18446744073709551615` is -1.
const MOST_COUNT: u64 = i64::MAX as u64;

/// Digits that always fit in a u64.
const MOST_DIGITS: usize = 19;

/// What a place in the text holds: the number, if it can be believed, and where its text ends.
pub type Read = (Option<u64>, usize);

/// A count, up to the next white space.
#[inline]
pub fn count(text: &[u8], at: usize) -> Read {
    let (number, end) = digits(text, at);
    if end == at || end - at > MOST_DIGITS || !ends(text, end) || number > MOST_COUNT {
        return (None, token_end(text, at));
    }
    (Some(number), end)
}

/// A duration in units of 10 to the power of `SCALE` microseconds (6: seconds, 3: milliseconds), up to the
/// next white space; in microseconds, what is finer is cut off.
#[inline]
pub fn micros<const SCALE: u32>(text: &[u8], at: usize) -> Read {
    let (whole, mut end) = digits(text, at);
    if end == at || end - at > MOST_DIGITS || whole > MOST_SECONDS * 10_u64.pow(6 - SCALE) {
        return (None, token_end(text, at));
    }
    if text.get(end) != Some(&b'.') {
        return if ends(text, end) {
            (Some(whole * 10_u64.pow(SCALE)), end)
        } else {
            scientific(text, at, SCALE)
        };
    }
    end += 1;
    if SCALE == 6
        && let Some(fraction) = six_digits(text, end)
        && ends(text, end + 6)
    {
        return (Some(whole * 1_000_000 + fraction), end + 6);
    }
    let mut number = whole;
    let mut left = SCALE;
    while let Some(digit) = text.get(end).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        if left > 0 {
            number = number * 10 + u64::from(digit);
            left -= 1;
        }
        end += 1;
    }
    if !ends(text, end) {
        return scientific(text, at, SCALE);
    }
    (Some(number * 10_u64.pow(left)), end)
}

/// The number of the six digits that stand here, all at once: two digits are added up in each byte pair, four in
/// each half, then all. None when they are not all digits, or the text ends before eight bytes.
#[inline]
fn six_digits(text: &[u8], at: usize) -> Option<u64> {
    const ZEROS: u64 = 0x3030_3030_3030_3030;
    let eight = u64::from_le_bytes(*text.get(at..)?.first_chunk()?);
    let digits = (eight << 16 | 0x3030).wrapping_sub(ZEROS);
    // A digit stays below 10 in its byte: adding 0x76 sets the high bit of any that is not.
    if (digits.wrapping_add(0x7676_7676_7676_7676) | digits) & 0x8080_8080_8080_8080 != 0 {
        return None;
    }
    let pairs = digits.wrapping_mul(10).wrapping_add(digits >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = pairs.wrapping_mul(100).wrapping_add(pairs >> 16) & 0x0000_FFFF_0000_FFFF;
    Some(fours.wrapping_mul(10_000).wrapping_add(fours >> 32) & 0xFFFF_FFFF)
}

/// A duration with an exponent, as `1e-05`, which is rare.
#[cold]
fn scientific(text: &[u8], at: usize, scale: u32) -> Read {
    let end = token_end(text, at);
    let number = std::str::from_utf8(&text[at..end])
        .ok()
        .and_then(|token| token.parse::<f64>().ok())
        .map(|number| number * 10_f64.powi(scale as i32))
        .filter(|micros| (0.0..=MOST_SECONDS as f64 * 1e6).contains(micros));
    (number.map(|micros| micros as u64), end)
}

/// The number that begins here and the first place that is not a digit; wraps beyond [`MOST_DIGITS`].
#[inline]
pub fn digits(text: &[u8], at: usize) -> (u64, usize) {
    let mut number = 0_u64;
    let mut end = at;
    while let Some(digit) = text.get(end).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    (number, end)
}

/// Whether a token ends here.
#[inline]
pub fn ends(text: &[u8], at: usize) -> bool {
    matches!(text.get(at), None | Some(b' ' | b'\n' | b'\r' | b'\t'))
}

/// Where the token that begins here ends.
#[inline]
pub fn token_end(text: &[u8], at: usize) -> usize {
    let mut end = at;
    while !ends(text, end) {
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        micros::<6>(text.as_bytes(), 0).0
    }

    #[test]
    fn seconds_are_read_to_the_microsecond_in_every_spelling() {
        assert_eq!(seconds("0.000123"), Some(123));
        assert_eq!(seconds("10"), Some(10_000_000));
        assert_eq!(seconds("2.5 "), Some(2_500_000));
        assert_eq!(seconds("1e-05\n"), Some(10));
        assert_eq!(seconds("3.1234569"), Some(3_123_456));
    }

    #[test]
    fn what_no_clock_measured_is_not_believed() {
        for bogus in [
            "18446744073709551615.000000",
            "18446744073709.550781",
            "4294967295",
            "99999999999999999999999999",
            "-1",
            "abc",
            "",
            "1.2.3",
            "nan",
            "inf",
            "1e99",
        ] {
            assert_eq!(seconds(bogus), None, "{bogus}");
        }
    }

    proptest! {
        #[test]
        fn six_digits_at_once_are_those_one_by_one(text in "[0-9./:; -]{0,9}") {
            let (number, end) = digits(text.as_bytes(), 0);
            let expected = (end >= 6 && text.len() >= 8).then(|| digits(&text.as_bytes()[..6], 0).0);
            prop_assert_eq!(six_digits(text.as_bytes(), 0), expected, "{}", number);
        }

        #[test]
        fn what_is_written_with_six_places_is_read(micros in 0..MOST_SECONDS * 1_000_000) {
            let text = format!("{}.{:06}  next", micros / 1_000_000, micros % 1_000_000);
            prop_assert_eq!(seconds(&text), Some(micros));
        }
    }

    #[test]
    fn milliseconds_are_a_thousandth() {
        assert_eq!(micros::<3>(b"17.0204", 0).0, Some(17_020));
    }

    #[test]
    fn counts_end_at_white_space_and_minus_one_is_none() {
        assert_eq!(count(b"42  next", 0), (Some(42), 2));
        assert_eq!(count(b"18446744073709551615 next", 0), (None, 20));
        assert_eq!(count(b"4x2 next", 0), (None, 3));
    }
}
