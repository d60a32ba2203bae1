//! The times that logs write, as microseconds since 1970.

use crate::entry::Time;
use crate::number::digits;

const SECOND: i64 = 1_000_000;

/// The value of a `# Time:` line: `2026-11-22T03:00:00.123456Z`, `...+01:00` (MySQL 5.7 and later), or
/// `261122  3:00:00` and `261122  3:00:00.123456` (older ones, MariaDB, Percona), which is the server's local
/// time and taken as UTC. None when it is neither, or no time of the calendar.
#[inline]
pub fn read(text: &[u8]) -> Option<Time> {
    if text.get(4) == Some(&b'-') { iso(text) } else { short(text) }
}

/// `2026-11-22T03:00:00.123456Z`, which is read back as the same time.
pub fn iso_text(time: Time) -> String {
    let (day, micros) = (time.div_euclid(86_400 * SECOND), time.rem_euclid(86_400 * SECOND));
    // The inverse of `civil`.
    let day = day + 719_468;
    let (era, day_of_era) = (day.div_euclid(146_097), day.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    let second = micros / SECOND;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let micros = micros % SECOND;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{micros:06}Z")
}

/// Whether these first bytes are those of a time, which then may still be none of the calendar.
#[inline]
pub fn is_like_one(text: &[u8]) -> bool {
    let digits = digits(text, 0).1;
    digits == 4 && text.get(4) == Some(&b'-') || digits == 6 && text.get(6) == Some(&b' ')
}

fn iso(text: &[u8]) -> Option<Time> {
    let head: &[u8; 19] = text.first_chunk()?;
    if head[7] != b'-' || !matches!(head[10], b'T' | b' ') || head[13] != b':' || head[16] != b':' {
        return None;
    }
    let year = i64::from(pair(text, 0)?) * 100 + i64::from(pair(text, 2)?);
    let time = civil(year, pair(text, 5)?, pair(text, 8)?)? + clock(text, 11)?;
    let (fraction, at) = fraction(text, 19);
    Some(time + fraction - offset(&text[at..])?)
}

fn short(text: &[u8]) -> Option<Time> {
    let year = i64::from(pair(text, 0)?);
    let day = civil(if year < 70 { 2000 } else { 1900 } + year, pair(text, 2)?, pair(text, 4)?)?;
    // One blank and two digits, or two blanks and one.
    let hour_at = 7;
    if text.get(6) != Some(&b' ') || text.get(9) != Some(&b':') || text.get(12) != Some(&b':') {
        return None;
    }
    let hour =
        if text[hour_at] == b' ' { pair_of(b'0', text[hour_at + 1])? } else { pair(text, 7)? };
    let time = day + time_of_day(hour, pair(text, 10)?, pair(text, 13)?)?;
    let (fraction, at) = fraction(text, 15);
    text[at..].iter().all(u8::is_ascii_whitespace).then_some(time + fraction)
}

/// `hh:mm:ss` at a place whose colons were looked at.
fn clock(text: &[u8], at: usize) -> Option<Time> {
    time_of_day(pair(text, at)?, pair(text, at + 3)?, pair(text, at + 6)?)
}

fn time_of_day(hour: u8, minute: u8, second: u8) -> Option<Time> {
    // 60 is a leap second.
    (hour < 24 && minute < 60 && second <= 60)
        .then(|| (i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second)) * SECOND)
}

/// `.123456` as microseconds, and where it ends.
pub fn fraction(text: &[u8], at: usize) -> (Time, usize) {
    if text.get(at) != Some(&b'.') {
        return (0, at);
    }
    let end = digits(text, at + 1).1;
    let kept = end.min(at + 7);
    let micros = digits(&text[..kept], at + 1).0 * 10_u64.pow((at + 7 - kept) as u32);
    (micros as Time, end)
}

/// What a zone is ahead of UTC: `Z`, `+01:00`, `-0330`, or none.
fn offset(text: &[u8]) -> Option<Time> {
    let text = text.trim_ascii();
    let sign = match text.first() {
        None | Some(b'Z') => return (text.len() <= 1).then_some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        _ => return None,
    };
    let minutes_at = if text.get(3) == Some(&b':') { 4 } else { 3 };
    let minutes = i64::from(pair(text, 1)?) * 60 + i64::from(pair(text, minutes_at)?);
    (text.len() == minutes_at + 2).then_some(sign * minutes * 60 * SECOND)
}

#[inline]
fn pair(text: &[u8], at: usize) -> Option<u8> {
    pair_of(*text.get(at)?, *text.get(at + 1)?)
}

#[inline]
fn pair_of(tens: u8, ones: u8) -> Option<u8> {
    let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
    (tens < 10 && ones < 10).then(|| tens * 10 + ones)
}

/// Midnight of a day of the Gregorian calendar, by counting from 1 March, so that leap days come last.
fn civil(year: i64, month: u8, day: u8) -> Option<Time> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u8::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    if day == 0 || day > days {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let month = i64::from((month + 9) % 12);
    let day_of_year = (153 * month + 2) / 5 + i64::from(day) - 1;
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    Some((era * 146_097 + day_of_era - 719_468) * 86_400 * SECOND)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn micros(text: &str) -> Option<Time> {
        read(text.as_bytes())
    }

    #[test]
    fn times_with_a_zone_are_brought_to_utc() {
        assert_eq!(micros("1970-01-01T00:00:00.000000Z"), Some(0));
        assert_eq!(micros("2026-11-22T03:00:00.123456Z"), Some(1_795_316_400_123_456));
        assert_eq!(micros("2026-11-22T04:00:00.123456+01:00"), Some(1_795_316_400_123_456));
        assert_eq!(micros("2026-11-21T23:30:00-03:30"), Some(1_795_316_400_000_000));
    }

    #[test]
    fn short_times_are_read_with_one_digit_hours_and_fractions() {
        assert_eq!(micros("261122  3:00:00"), Some(1_795_316_400_000_000));
        assert_eq!(micros("261122 13:00:00\r"), Some(1_795_352_400_000_000));
        assert_eq!(micros("261122  3:00:00.5"), Some(1_795_316_400_500_000));
        assert_eq!(micros("991231 23:59:59"), Some(946_684_799_000_000));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "261122",
            "261322  3:00:00",
            "260229  3:00:00",
            "261122 24:00:00",
            "261122  3:00:00 and more",
            "2026-11-22",
            "2026-11-22T03:00:00.1+1",
            "2026-11-22T03:00:00 CET",
        ] {
            assert_eq!(micros(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_written_as_they_are_read() {
        for text in [
            "2026-11-22T03:00:00.123456Z",
            "1970-01-01T00:00:00.000000Z",
            "2024-02-29T23:59:59.000001Z",
        ] {
            assert_eq!(iso_text(micros(text).unwrap()), text);
        }
    }

    #[test]
    fn leap_days_are_days() {
        assert_eq!(micros("2024-02-29T00:00:00Z"), Some(1_709_164_800_000_000));
        assert_eq!(micros("000229  0:00:00"), Some(951_782_400_000_000));
    }
}
