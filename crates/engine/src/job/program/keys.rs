//! Objects of which exactly one key is given, read flat: serde's own tagged enums would lose the name
//! of the key that is wrong.

use std::fmt;

use serde::Deserialize;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use super::{
    BranchJob, ColumnJob, DictionaryJob, End, Expr, Part, RepeatJob, SendJob, Step, WhenJob,
};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DictionaryKeys {
    words: Option<Vec<Expr>>,
    query: Option<String>,
    column: Option<ColumnJob>,
}

impl TryFrom<DictionaryKeys> for DictionaryJob {
    type Error = &'static str;

    fn try_from(keys: DictionaryKeys) -> Result<Self, Self::Error> {
        match (keys.words, keys.query, keys.column) {
            (Some(words), None, None) => Ok(DictionaryJob::Words(words)),
            (None, Some(query), None) => Ok(DictionaryJob::Query(query)),
            (None, None, Some(column)) => Ok(DictionaryJob::Column(column)),
            _ => Err("needs exactly one of words, query and column"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StepKeys {
    send: Option<SendJob>,
    #[serde(rename = "let")]
    assignment: Option<(String, Expr)>,
    repeat: Option<RepeatJob>,
    when: Option<WhenJob>,
    mix: Option<Vec<BranchJob>>,
    pause_s: Option<Expr>,
    reconnect: Option<bool>,
    end: Option<End>,
}

impl TryFrom<StepKeys> for Step {
    type Error = &'static str;

    fn try_from(keys: StepKeys) -> Result<Self, Self::Error> {
        if keys.reconnect == Some(false) {
            return Err("reconnect can only be true");
        }
        let mut steps = [
            keys.send.map(Step::Send),
            keys.assignment.map(|(name, value)| Step::Let(name, value)),
            keys.repeat.map(Step::Repeat),
            keys.when.map(Step::When),
            keys.mix.map(Step::Mix),
            keys.pause_s.map(Step::Pause),
            keys.reconnect.map(|_| Step::Reconnect),
            keys.end.map(Step::End),
        ]
        .into_iter()
        .flatten();
        match (steps.next(), steps.next()) {
            (Some(step), None) => Ok(step),
            _ => Err("a step is exactly one of send, let, repeat, when, mix, pause_s, reconnect \
                      and end"),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PartKeys {
    /// A value may be null, which is not the same as no value.
    #[serde(default, deserialize_with = "present")]
    value: Option<Expr>,
    #[serde(default, deserialize_with = "present")]
    raw: Option<Expr>,
    copy: Option<bool>,
}

fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Expr>, D::Error> {
    Expr::deserialize(deserializer).map(Some)
}

impl<'de> Deserialize<'de> for Part {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PartVisitor)
    }
}

struct PartVisitor;

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text or an object with value, raw or copy")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Part, E> {
        Ok(Part::Text(text.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Part, A::Error> {
        let keys = PartKeys::deserialize(MapAccessDeserializer::new(map))?;
        match (keys.value, keys.raw, keys.copy) {
            (Some(value), None, None) => Ok(Part::Value(value)),
            (None, Some(raw), None) => Ok(Part::Raw(raw)),
            (None, None, Some(true)) => Ok(Part::Copy),
            _ => Err(A::Error::custom("needs exactly one of value, raw and copy (true)")),
        }
    }
}
