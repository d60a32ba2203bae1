//! Joint facts of flights, their aircraft, classes, stops and connections.

use std::collections::{BTreeMap, BTreeSet};

use super::{Table, count, falling, number, text};

/// Category, engines and range of every aircraft, by its code.
fn aircraft(table: &Table) -> BTreeMap<&str, (&str, i64, i64)> {
    table
        .select(["aircraft_code", "category", "engines", "range_miles"])
        .into_iter()
        .map(|[code, category, engines, range]| {
            (text(code), (text(category), number(engines), number(range)))
        })
        .collect()
}

#[test]
fn airlines_and_aircraft_have_the_numbers_of_flights_and_44_pairs() {
    let flight = Table::named("flight");
    let known = Table::named("airline");
    let known: BTreeSet<&str> = known.texts("airline_code").into_iter().collect();
    assert!(flight.texts("airline_code").iter().all(|code| known.contains(code)));
    assert_eq!(falling(flight.texts("airline_code")), [155, 154, 91, 67, 62, 32, 12, 4, 2]);
    assert_eq!(
        falling(flight.texts("aircraft_code")),
        [113, 99, 81, 67, 41, 28, 28, 19, 18, 15, 14, 13, 9, 8, 7, 5, 4, 3, 2, 2, 2, 1]
    );
    assert_eq!(count(flight.select(["airline_code", "aircraft_code"])).len(), 44);
}

#[test]
fn routes_and_origins_have_the_numbers_of_flights() {
    let flight = Table::named("flight");
    let routes = flight.select(["from_airport", "to_airport"]);
    assert!(routes.iter().all(|[from, to]| from != to));
    let counts = falling(&routes);
    assert_eq!((counts.len(), counts[0], counts[64]), (65, 25, 1));
    let atlanta_to_boston = routes.iter().filter(|route| route.map(text) == ["ATL", "BOS"]);
    assert_eq!(atlanta_to_boston.count(), 19);
    let origins = count(flight.texts("from_airport"));
    let facts = [
        ("ATL", 99),
        ("BOS", 78),
        ("BWI", 46),
        ("DEN", 68),
        ("DFW", 90),
        ("OAK", 12),
        ("PHL", 76),
        ("PIT", 55),
        ("SFO", 55),
    ];
    assert_eq!(origins, BTreeMap::from(facts));
}

#[test]
fn flights_have_the_stops_dual_carriers_codes_and_ranges_that_queries_filter_by() {
    let (flight, fleet) = (Table::named("flight"), Table::named("aircraft"));
    let aircraft = aircraft(&fleet);
    assert_eq!(count(flight.numbers("stops")), BTreeMap::from([(0, 545), (1, 33), (2, 1)]));
    assert_eq!(count(flight.texts("dual_carrier"))["Y"], 25);
    assert_eq!(flight.numbers("flight_code").iter().filter(|&&code| code >= 112_793).count(), 279);
    assert!(flight.numbers("time_elapsed").iter().all(|&minutes| minutes > 0));
    let unknown_range = |code: &&&str| aircraft[**code].2 == 0;
    assert_eq!(flight.texts("aircraft_code").iter().filter(unknown_range).count(), 106);
    let stopping: Vec<_> = flight
        .select(["stops", "aircraft_code", "from_airport", "to_airport"])
        .into_iter()
        .filter(|[stops, ..]| number(stops) > 0)
        .collect();
    assert!(stopping.iter().all(|[_, code, ..]| aircraft[text(code)].0 == "JET"));
    assert!(stopping.iter().all(|[_, code, ..]| aircraft[text(code)].1 >= 1));
    assert_eq!(count(stopping.iter().map(|[_, code, from, to]| (code, from, to))).len(), 29);
}

#[test]
fn arrivals_follow_from_departures_time_in_the_air_and_time_zones() {
    let zones = Table::named("airport");
    let zones: BTreeMap<&str, i64> = zones
        .select(["airport_code", "time_zone_code"])
        .into_iter()
        .map(|[code, zone]| {
            let hours = ["PST", "MST", "CST", "EST"].iter().position(|known| *known == text(zone));
            (text(code), hours.unwrap() as i64)
        })
        .collect();
    let columns = ["from_airport", "to_airport", "departure_time", "arrival_time", "time_elapsed"];
    for [from, to, departure, arrival, elapsed] in Table::named("flight").select(columns) {
        let minutes = |time| number(time) / 100 * 60 + number(time) % 100;
        let ahead = 60 * (zones[text(to)] - zones[text(from)]);
        let difference = minutes(arrival) - minutes(departure) - number(elapsed);
        assert!(difference == ahead || difference == ahead - 24 * 60, "{from} {to} {difference}");
    }
}

#[test]
fn every_flight_has_five_classes_and_those_with_stops_make_150_groups() {
    let (flight, fleet) = (Table::named("flight"), Table::named("aircraft"));
    let classes = Table::named("flight_class");
    let aircraft = aircraft(&fleet);
    let mut of: BTreeMap<i64, Vec<&str>> = BTreeMap::new();
    for [code, class] in classes.select(["flight_code", "fare_class"]) {
        of.entry(number(code)).or_default().push(text(class));
    }
    assert!(of.values().all(|classes| classes.len() == 5));
    let (mut stopping, mut groups) = (0, BTreeSet::new());
    let columns = ["flight_code", "flight_number", "stops", "aircraft_code", "class_string"];
    for [code, flight_number, stops, plane, string] in flight.select(columns) {
        let classes = &of[&number(code)];
        assert_eq!(classes.concat(), text(string));
        let range = aircraft[text(plane)].2;
        if number(stops) > 0 {
            stopping += classes.len();
            groups.extend(
                classes.iter().filter(|_| range > 0).map(|class| (flight_number, range, *class)),
            );
        }
    }
    assert_eq!((stopping, groups.len()), (170, 150));
}

#[test]
fn stopping_flights_have_one_leg_more_than_stops() {
    let flight = Table::named("flight");
    let legs = count(Table::named("stop1").numbers("flight_code"));
    for [code, stops] in flight.select(["flight_code", "stops"]) {
        let expected = if number(stops) == 0 { None } else { Some(number(stops) as usize + 1) };
        assert_eq!(legs.get(&number(code)).copied(), expected);
    }
}

#[test]
fn connections_have_two_to_four_rows_of_legs_and_legs_are_flights() {
    let legs = Table::named("connect_leg");
    let rows = count(count(legs.numbers("connect_code")).into_values());
    assert_eq!(rows, BTreeMap::from([(2, 142), (3, 21), (4, 1)]));
    let (flight, stop1) = (Table::named("flight"), Table::named("stop1"));
    let known: BTreeSet<i64> = flight.numbers("flight_code").into_iter().collect();
    let used = [legs.numbers("flight_code"), stop1.numbers("stop_flight")].concat();
    assert!(used.iter().all(|code| known.contains(code)));
    let connections = Table::named("fconnection").numbers("connect_code");
    assert_eq!(count(legs.numbers("connect_code")).into_keys().collect::<Vec<_>>(), connections);
}
