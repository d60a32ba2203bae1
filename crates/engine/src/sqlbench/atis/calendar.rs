//! Days, months, times of the day.

use super::cell::{Row, row};

const DAYS: [&str; 7] =
    ["MONDAY", "TUESDAY", "WEDNESDAY", "THURSDAY", "FRIDAY", "SATURDAY", "SUNDAY"];

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

/// Name, begin and end on a clock of 24 hours (630 is half past six).
const INTERVALS: [(&str, i64, i64); 12] = [
    ("LATE NIGHT", 0, 600),
    ("EARLY MORNING", 0, 800),
    ("MORNING", 0, 1200),
    ("DAY", 600, 1800),
    ("MID MORNING", 800, 1000),
    ("NOON", 1100, 1300),
    ("AFTERNOON", 1200, 1800),
    ("SIESTA", 1400, 1700),
    ("LATE AFTERNOON", 1600, 1800),
    ("EVENING", 1600, 2200),
    ("EVENING", 1800, 2200),
    ("BEFORE MIDNIGHT", 1800, 2400),
];

/// The days of a non-empty subset (bit 0 is Monday), as seven characters: `1-3-5--`.
pub fn mask(days: u32) -> String {
    (0..7)
        .map(|day| if days & 1 << day == 0 { '-' } else { char::from(b'1' + day as u8) })
        .collect()
}

pub fn day_name() -> Vec<Row> {
    (1..).zip(DAYS).map(|(code, name)| row![code, name]).collect()
}

pub fn month_name() -> Vec<Row> {
    (1..).zip(MONTHS).map(|(number, name)| row![number, name]).collect()
}

pub fn time_interval() -> Vec<Row> {
    INTERVALS.map(|(period, begin, end)| row![period, begin, end]).into()
}

/// One row for each day of each non-empty subset of the week.
pub fn flight_day() -> Vec<Row> {
    let members =
        |days: u32| (0..7usize).filter(move |day| days & 1 << day != 0).map(move |day| (days, day));
    (1..128)
        .flat_map(members)
        .map(|(days, day)| row![mask(days), day as i64 + 1, DAYS[day]])
        .collect()
}
