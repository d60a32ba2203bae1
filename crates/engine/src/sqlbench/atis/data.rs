//! All rows, table by table in the order of the schemas.

use super::cell::Row;
use super::{
    aircraft, airlines, calendar, classes, fares, flights, geography, parts, schema::SCHEMAS,
};

/// Rows of all tables together.
pub const ROWS: u64 = 9768;

/// The rows of each table of [`SCHEMAS`], the same on every call.
pub fn rows() -> Vec<Vec<Row>> {
    let fleet = aircraft::fleet();
    let airlines = airlines::airlines();
    let fares = fares::fares(&airlines.codes);
    let flights = flights::flights(&fleet.flown, &airlines.codes);
    SCHEMAS
        .iter()
        .map(|schema| match schema.name {
            "aircraft" => fleet.rows.clone(),
            "airline" => airlines.rows.clone(),
            "airport" => geography::airport(),
            "airport_service" => geography::airport_service(),
            "city" => geography::city(),
            "class_of_service" => classes::class_of_service(),
            "code_description" => classes::code_description(),
            "compound_class" => classes::compound_class(),
            "connect_leg" => parts::connect_leg(&flights.flights),
            "fconnection" => parts::fconnection(),
            "day_name" => calendar::day_name(),
            "dual_carrier" => airlines::dual_carrier(&airlines.codes),
            "fare" => fares.rows.clone(),
            "flight" => flights.rows.clone(),
            "flight_class" => parts::flight_class(&flights.flights),
            "flight_day" => calendar::flight_day(),
            "flight_fare" => parts::flight_fare(&flights.flights, &fares.fares),
            "food_service" => classes::food_service(),
            "ground_service" => geography::ground_service(),
            "time_interval" => calendar::time_interval(),
            "month_name" => calendar::month_name(),
            "restrict_carrier" => fares::restrict_carrier(&airlines),
            "restrict_class" => fares::restrict_class(),
            "restriction" => fares::restriction(),
            "state" => geography::state(),
            "stop1" => parts::stop1(&flights.flights),
            "time_zone" => geography::time_zone(),
            "transport" => geography::transport(),
            other => unreachable!("a table without rows: {other}"),
        })
        .collect()
}
