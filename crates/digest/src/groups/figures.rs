//! What a set of entries comes to, while it grows.

use crate::attribute::{Attribute, Unit};
use crate::entry::{Entry, Time};
use crate::measure::Measure;
use crate::message;
use crate::names::{self, Names, Texts};

/// No measure: no entry has the attribute.
const NONE: u8 = u8::MAX;

#[derive(Clone, Debug)]
pub struct Figures {
    count: u64,
    first: Option<Time>,
    last: Option<Time>,
    /// Where in `measures` an attribute's is.
    places: [u8; Attribute::COUNT],
    measures: Vec<Measure>,
    users: Names,
    hosts: Names,
    databases: Names,
    errors: Names,
}

impl Default for Figures {
    fn default() -> Self {
        Self {
            count: 0,
            first: None,
            last: None,
            places: [NONE; Attribute::COUNT],
            measures: Vec::new(),
            users: Names::default(),
            hosts: Names::default(),
            databases: Names::default(),
            errors: Names::default(),
        }
    }
}

impl Figures {
    pub fn add(&mut self, entry: &Entry, texts: &mut Texts) {
        self.count += 1;
        self.span(entry.time, entry.time);
        for (attribute, number) in entry.values.iter() {
            self.measure(attribute).add(number);
        }
        if entry.error != 0 {
            let number = entry.error.to_string();
            let hash = names::hash(number.as_bytes());
            if self.errors.add(hash) {
                texts.keep(hash, number.as_bytes());
            }
        }
        for (names, name) in [
            (&mut self.users, entry.user),
            (&mut self.hosts, entry.host),
            (&mut self.databases, entry.database),
        ] {
            if !name.is_empty() {
                let hash = names::hash(name);
                if names.add(hash) {
                    texts.keep(hash, name);
                }
            }
        }
    }

    #[inline]
    fn span(&mut self, first: Option<Time>, last: Option<Time>) {
        self.first = self.first.into_iter().chain(first).min();
        self.last = self.last.max(last);
    }

    #[inline]
    fn measure(&mut self, attribute: Attribute) -> &mut Measure {
        let place = &mut self.places[attribute as usize];
        if *place == NONE {
            *place = self.measures.len() as u8;
            self.measures.push(Measure::default());
        }
        &mut self.measures[usize::from(*place)]
    }

    fn given_measures(&self) -> impl Iterator<Item = (Attribute, &Measure)> {
        let given = |&attribute: &Attribute| {
            let place = usize::from(self.places[attribute as usize]);
            Some((attribute, self.measures.get(place)?))
        };
        Attribute::ALL.iter().filter_map(given)
    }

    pub fn merge(&mut self, other: &Figures) {
        self.count += other.count;
        self.span(other.first, other.last);
        for (attribute, measure) in other.given_measures() {
            self.measure(attribute).merge(measure);
        }
        self.users.merge(&other.users);
        self.hosts.merge(&other.hosts);
        self.databases.merge(&other.databases);
        self.errors.merge(&other.errors);
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The sum; 0 when no entry gave it.
    pub fn query_time_us(&self) -> u64 {
        let place = usize::from(self.places[Attribute::QueryTime as usize]);
        self.measures.get(place).map_or(0, Measure::sum)
    }

    pub fn message(&self, texts: &Texts) -> message::Figures {
        let of = |is_flag: bool| {
            self.given_measures()
                .filter(move |(attribute, _)| (attribute.unit() == Unit::Flag) == is_flag)
        };
        let flag = |measure: &Measure| message::Flag { yes: measure.sum(), told: measure.count() };
        message::Figures {
            count: self.count,
            first_us: self.first,
            last_us: self.last,
            measures: of(false)
                .map(|(attribute, sum)| (attribute.name(), sum.message(attribute.unit())))
                .collect(),
            flags: of(true).map(|(attribute, sum)| (attribute.name(), flag(sum))).collect(),
            users: self.users.listed(texts),
            hosts: self.hosts.listed(texts),
            databases: self.databases.listed(texts),
            errors: self.errors.listed(texts),
        }
    }
}

// Places are bytes.
const _: () = assert!(Attribute::COUNT < NONE as usize);
