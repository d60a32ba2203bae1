//! Joint facts of fares and their restrictions.

use std::collections::{BTreeMap, BTreeSet};

use super::{Table, count, number, text};

const RESTRICTED: [(&str, usize, usize); 8] = [
    ("AP/27", 2, 12),
    ("AP/44", 2, 34),
    ("AP/55", 5, 36),
    ("AP/57", 52, 29),
    ("AP/68", 6, 34),
    ("AP/75", 2, 30),
    ("AP/80", 50, 27),
    ("VU/1", 118, 20),
];

#[test]
fn fares_and_carriers_have_the_restrictions_that_make_5754_and_5692_pairs() {
    let (fare, carrier) = (Table::named("fare"), Table::named("restrict_carrier"));
    let airline = Table::named("airline");
    let airlines: BTreeSet<&str> = airline.texts("airline_code").into_iter().collect();
    let fares = count(fare.texts("restrict_code"));
    let carriers = count(carrier.texts("restrict_code"));
    assert_eq!(fares[""], 297);
    assert_eq!(fares.len(), RESTRICTED.len() + 1);
    for (code, of_fares, of_carriers) in RESTRICTED {
        assert_eq!((fares[code], carriers[code]), (of_fares, of_carriers), "{code}");
    }
    let pairs = |code: &str| fares.get(code).copied().unwrap_or(0);
    let known: Vec<&str> = carrier
        .select(["restrict_code", "airline_code"])
        .into_iter()
        .filter(|[_, airline]| airlines.contains(text(airline)))
        .map(|[code, _]| text(code))
        .collect();
    assert_eq!(known.len(), 603);
    assert_eq!(carrier.texts("restrict_code").into_iter().map(pairs).sum::<usize>(), 5754);
    assert_eq!(known.into_iter().map(pairs).sum::<usize>(), 5692);
}

#[test]
fn ten_of_the_twelve_fares_from_sfo_to_dfw_cost_between_280_and_825() {
    let fare = Table::named("fare");
    let costs: Vec<i64> = fare
        .select(["from_airport", "to_airport", "one_way_cost"])
        .into_iter()
        .filter(|[from, to, _]| (text(from), text(to)) == ("SFO", "DFW"))
        .map(|[.., cost]| number(cost))
        .collect();
    assert_eq!(costs.len(), 12);
    assert_eq!(costs.iter().filter(|cost| (28_000..=82_500).contains(*cost)).count(), 10);
}

#[test]
fn classes_of_fares_and_flights_are_compound_classes_and_those_have_classes_of_service() {
    let compound = Table::named("compound_class");
    let known: BTreeSet<&str> = compound.texts("fare_class").into_iter().collect();
    for table in ["fare", "flight_class"] {
        assert!(Table::named(table).texts("fare_class").iter().all(|class| known.contains(class)));
    }
    let service = Table::named("class_of_service");
    let known: BTreeSet<&str> = service.texts("class_code").into_iter().collect();
    assert!(compound.texts("base_class").iter().all(|class| known.contains(class)));
}

#[test]
fn flights_are_sold_at_1_to_11_fares_of_their_route() {
    let (flight, fare) = (Table::named("flight"), Table::named("fare"));
    let routes: BTreeMap<i64, _> = flight
        .select(["flight_code", "from_airport", "to_airport"])
        .into_iter()
        .map(|[code, from, to]| (number(code), (from, to)))
        .collect();
    let fares: BTreeMap<&str, _> = fare
        .select(["fare_code", "from_airport", "to_airport"])
        .into_iter()
        .map(|[code, from, to]| (text(code), (from, to)))
        .collect();
    let sold = Table::named("flight_fare");
    for [flight, fare] in sold.select(["flight_code", "fare_code"]) {
        assert_eq!(routes[&number(flight)], fares[text(fare)]);
    }
    let counts = count(sold.numbers("flight_code"));
    assert_eq!(counts.len(), 579);
    assert_eq!((counts.values().min(), counts.values().max()), (Some(&1), Some(&11)));
}
