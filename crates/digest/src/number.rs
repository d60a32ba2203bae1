//! Numbers as headers write them, read where they stand: no allocation, no UTF-8.

/// Longer than any server has been up: one that is beyond it was written by a server that subtracted two
/// clocks the wrong way round (`18446744073709.550781`, `4294967295`), and would spoil every sum.
const MOST_SECONDS: u64 = 1_000_000_000;

/// Likewise for counts: `18446744073709551615` is -1.
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

/// A duration in units of 10 to the power of `scale` microseconds (6: seconds, 3: milliseconds), up to the
/// next white space; in microseconds, what is finer is cut off.
#[inline]
pub fn micros(text: &[u8], at: usize, scale: u32) -> Read {
    let (whole, mut end) = digits(text, at);
    if end == at || end - at > MOST_DIGITS || whole > MOST_SECONDS * 10_u64.pow(6 - scale) {
        return (None, token_end(text, at));
    }
    let mut number = whole;
    let mut left = scale;
    if text.get(end) == Some(&b'.') {
        end += 1;
        while let Some(digit) = text.get(end).map(|byte| byte.wrapping_sub(b'0'))
            && digit < 10
        {
            if left > 0 {
                number = number * 10 + u64::from(digit);
                left -= 1;
            }
            end += 1;
        }
    }
    if !ends(text, end) {
        return scientific(text, at, scale);
    }
    (Some(number * 10_u64.pow(left)), end)
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

/// The number that begins here and the first place that is no digit; wraps beyond [`MOST_DIGITS`].
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
    use super::*;

    fn seconds(text: &str) -> Option<u64> {
        micros(text.as_bytes(), 0, 6).0
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

    #[test]
    fn milliseconds_are_a_thousandth() {
        assert_eq!(micros(b"17.0204", 0, 3).0, Some(17_020));
    }

    #[test]
    fn counts_end_at_white_space_and_minus_one_is_none() {
        assert_eq!(count(b"42  next", 0), (Some(42), 2));
        assert_eq!(count(b"18446744073709551615 next", 0), (None, 20));
        assert_eq!(count(b"4x2 next", 0), (None, 3));
    }
}
