//! Classes of service, classes of fares, meals, explanations of codes.

use super::cell::{Row, row};
use super::fill::{self, codes, cover, names};

const FARE_CLASSES: usize = 149;
const FOOD_SERVICES: usize = 121;

/// Classes of service: letters of booking classes, and with an N the same at night.
const SERVICE_CLASSES: [&str; 27] = [
    "F", "FN", "Y", "YN", "B", "BN", "M", "MN", "Q", "QN", "C", "H", "K", "V", "S", "CN", "HN",
    "KN", "VN", "A", "D", "J", "L", "P", "T", "U", "W",
];

/// Classes in which seats of flights are sold: ten of one letter, four of two.
pub const FLIGHT_CLASSES: [&str; 14] =
    ["F", "Y", "B", "M", "Q", "C", "H", "K", "V", "S", "FN", "YN", "BN", "QN"];

/// Classes for which fares are made.
pub const FARED_CLASSES: [&str; 19] = [
    "Y", "F", "B", "M", "Q", "YN", "FN", "BN", "QN", "H", "K", "C", "V", "S", "MN", "HN", "KN",
    "CN", "VN",
];

const CLASS_TYPES: [&str; 6] = ["COACH", "FIRST", "BUSINESS", "STANDARD", "THRIFT", "SUPERSONIC"];
const SEASONS: [&str; 4] = ["NONE", "LOW", "HIGH", "PEAK"];
const CLASS_DAYS: [&str; 3] = ["ANY DAY", "WEEKDAY", "WEEKEND"];
const MEALS: [&str; 4] = ["SNACK", "LUNCH", "DINNER", "BREAKFAST"];

pub fn class_of_service() -> Vec<Row> {
    let random = &mut fill::source(5);
    let descriptions = names(random, 20, 11..=75);
    let descriptions = cover(random, &descriptions, SERVICE_CLASSES.len());
    (1..)
        .zip(SERVICE_CLASSES)
        .zip(descriptions)
        .map(|((rank, code), description)| row![code, rank, description])
        .collect()
}

/// The classes of service are fare classes themselves; the others are made from them.
pub fn compound_class() -> Vec<Row> {
    let random = &mut fill::source(6);
    let made = codes(random, FARE_CLASSES, 3..=3);
    let fare_classes =
        SERVICE_CLASSES.iter().map(|code| (*code).to_owned()).chain(made).take(FARE_CLASSES);
    let base = cover(random, &SERVICE_CLASSES[..23], FARE_CLASSES);
    let types = cover(random, &CLASS_TYPES, FARE_CLASSES);
    let mut yes_no = || cover(random, &["NO", "YES"], FARE_CLASSES);
    let (premium, economy, discounted, night) = (yes_no(), yes_no(), yes_no(), yes_no());
    let seasons = cover(random, &SEASONS, FARE_CLASSES);
    let days = cover(random, &CLASS_DAYS, FARE_CLASSES);
    fare_classes
        .enumerate()
        .map(|(i, class)| {
            row![
                class,
                base[i],
                types[i],
                premium[i],
                economy[i],
                discounted[i],
                night[i],
                seasons[i],
                days[i]
            ]
        })
        .collect()
}

pub fn code_description() -> Vec<Row> {
    let random = &mut fill::source(7);
    let codes = codes(random, 15, 1..=4);
    let descriptions = names(random, 14, 13..=78);
    let descriptions = cover(random, &descriptions, codes.len());
    codes.into_iter().zip(descriptions).map(|(code, description)| row![code, description]).collect()
}

/// The codes by which meals are named; flights use the first ones.
pub fn meal_codes() -> Vec<String> {
    codes(&mut fill::source(8), 32, 1..=4)
}

/// Which meals a code stands for: a first one in both classes; the first 24 codes have a second one,
/// nine of them a third in the cheaper class.
pub fn food_service() -> Vec<Row> {
    let random = &mut fill::source(9);
    let codes = meal_codes();
    let both = |code: &'_ String, number: i64| {
        [(code.clone(), number, "COACH"), (code.clone(), number, "FIRST")]
    };
    let first = codes.iter().flat_map(|code| both(code, 1));
    let second = codes[..24].iter().flat_map(|code| both(code, 2));
    let third = codes[..9].iter().map(|code| (code.clone(), 3, "COACH"));
    let meals = cover(random, &MEALS, FOOD_SERVICES);
    first
        .chain(second)
        .chain(third)
        .zip(meals)
        .map(|((code, number, class), meal)| row![code, number, class, meal])
        .collect()
}
