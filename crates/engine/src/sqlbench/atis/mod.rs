//! ATIS: queries over 28 tables of air travel, as sql-bench 2.15 has it, with generated rows.

mod aircraft;
mod airlines;
mod calendar;
mod carriers;
mod cell;
mod classes;
mod data;
mod fares;
mod fill;
mod flights;
mod geography;
mod goals;
mod grouped;
mod parts;
mod queries;
mod query;
mod routes;
mod run;
mod schema;
mod times;

pub use run::{run, tables};

#[cfg(test)]
mod tests;
