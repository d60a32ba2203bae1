//! `NAME OP VALUE` to a condition.

use std::collections::HashMap;

use regex::bytes::{Regex, RegexBuilder};

use super::BadFilter;
use super::condition::{Condition, Order, Text, TextTest};
use crate::attribute::{Attribute, Unit};

const TEXTS: [&str; 8] =
    ["user", "host", "database", "statement", "fingerprint", "id", "error", "tag.KEY"];

/// The longer before those that they begin with.
const OPERATORS: [&str; 8] = ["!=", "!~", "<=", ">=", "=", "~", "<", ">"];

pub fn condition(text: &str) -> Result<Condition, BadFilter> {
    let (name, operator, value) = parts(text).ok_or_else(|| {
        let message = format!("the filter `{text}` compares nothing");
        bad(
            message,
            "write NAME OP VALUE with one of = != < <= > >= ~ !~, as query_time>2s or user=app",
        )
    })?;
    if let Some(of) = text_named(name) {
        return Ok(Condition::Text { of, is: text_test(text, operator, value)? });
    }
    let Some(&of) = Attribute::ALL.iter().find(|attribute| attribute.name() == name) else {
        let names =
            TEXTS.into_iter().chain(Attribute::ALL.iter().map(|attribute| attribute.name()));
        let names: Vec<&str> = names.collect();
        let message = format!("the filter `{text}` names `{name}`, which no log has");
        return Err(bad(message, format!("it can ask for {}", names.join(", "))));
    };
    let order =
        order_named(operator).filter(|order| of.unit() != Unit::Flag || order.is_for_flags());
    let order = order.ok_or_else(|| {
        let message =
            format!("the filter `{text}`: {} cannot be compared by {operator}", of.name());
        bad(
            message,
            if of.unit() == Unit::Flag {
                "flags take = and !="
            } else {
                "numbers take = != < <= > >="
            },
        )
    })?;
    let than = number(value, of.unit()).map_err(|hint| {
        bad(format!("the filter `{text}`: {} cannot be {value:?}", of.name()), hint)
    })?;
    Ok(Condition::Number { of, order, than })
}

/// Name, operator and value, without white space around.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let at = text.find(['=', '!', '<', '>', '~'])?;
    let operator = OPERATORS.into_iter().find(|operator| text[at..].starts_with(operator))?;
    Some((text[..at].trim(), operator, text[at + operator.len()..].trim()))
}

fn text_named(name: &str) -> Option<Text> {
    Some(match name {
        "user" => Text::User,
        "host" => Text::Host,
        "database" => Text::Database,
        "statement" => Text::Statement,
        "fingerprint" => Text::Fingerprint(HashMap::new()),
        "id" => Text::Id,
        "error" => Text::Error,
        _ => Text::Tag(name.strip_prefix("tag.").filter(|key| !key.is_empty())?.into()),
    })
}

fn text_test(filter: &str, operator: &str, value: &str) -> Result<TextTest, BadFilter> {
    Ok(match operator {
        "=" => TextTest::Equal(value.to_owned()),
        "!=" => TextTest::Unequal(value.to_owned()),
        "~" => TextTest::Matching(pattern(filter, value)?),
        "!~" => TextTest::NotMatching(pattern(filter, value)?),
        _ => {
            let message = format!("the filter `{filter}`: texts cannot be compared by {operator}");
            return Err(bad(
                message,
                "texts take = and !=, and ~ and !~ with a regular expression",
            ));
        }
    })
}

/// Statements go over several lines, so `.` is a newline too.
fn pattern(filter: &str, value: &str) -> Result<Regex, BadFilter> {
    RegexBuilder::new(value).dot_matches_new_line(true).build().map_err(|error| {
        let reason = error.to_string();
        let reason = reason.lines().last().unwrap_or_default().trim_start_matches("error: ");
        let message = format!("the filter `{filter}`: not a regular expression: {reason}");
        bad(message, "the syntax is that of docs.rs/regex; (?i) in front ignores case")
    })
}

fn order_named(operator: &str) -> Option<Order> {
    Some(match operator {
        "=" => Order::Equal,
        "!=" => Order::Unequal,
        "<" => Order::Less,
        "<=" => Order::LessOrEqual,
        ">" => Order::More,
        ">=" => Order::MoreOrEqual,
        _ => return None,
    })
}

impl Order {
    fn is_for_flags(self) -> bool {
        matches!(self, Self::Equal | Self::Unequal)
    }
}

/// In the attribute's unit, rounded; else what can be written.
fn number(value: &str, unit: Unit) -> Result<u64, &'static str> {
    let (suffixes, hint): (&[(&str, f64)], _) = match unit {
        Unit::Flag => {
            return match value {
                "yes" => Ok(1),
                "no" => Ok(0),
                _ => Err("flags are yes or no"),
            };
        }
        Unit::Us => (
            &[("", 1e6), ("us", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 60e6), ("h", 3600e6)],
            "durations are 2 or 2s, 500ms, 100us, 5m, 1h",
        ),
        Unit::Count => (
            &[("", 1.0), ("k", 1e3), ("m", 1e6), ("g", 1e9)],
            "counts are 500, 10k (10,000), 1M, 1G",
        ),
        Unit::Bytes => (
            &[("", 1.0), ("k", 1024.0), ("m", 1_048_576.0), ("g", 1_073_741_824.0)],
            "sizes are 500, 64K (65,536), 1M, 1G",
        ),
    };
    let digits = value.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let suffix = value[digits.len()..].to_ascii_lowercase();
    let factor = suffixes.iter().find(|(name, _)| *name == suffix).ok_or(hint)?.1;
    let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number: f64 = digits.parse().ok().filter(|_| is_decimal).ok_or(hint)?;
    Ok((number * factor).round() as u64)
}

fn bad(message: String, hint: impl Into<String>) -> BadFilter {
    BadFilter { message, hint: hint.into() }
}
