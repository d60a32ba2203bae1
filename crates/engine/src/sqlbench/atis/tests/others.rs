//! Joint facts of aircraft, places, days.

use std::collections::{BTreeMap, BTreeSet};

use super::{Table, count, number, text};

#[test]
fn categories_of_aircraft_have_their_numbers_with_two_engines_in_all() {
    let aircraft = Table::named("aircraft");
    let mut categories: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for [category, engines] in aircraft.select(["category", "engines"]) {
        let entry = categories.entry(text(category)).or_default();
        entry.0 += 1;
        entry.1 += usize::from(number(engines) == 2);
    }
    let facts = [
        ("", (2, 0)),
        ("AMPHIBIAN", (3, 3)),
        ("HELICOPTER", (7, 4)),
        ("JET", (50, 15)),
        ("PROPELLER", (27, 16)),
        ("TURBOPROP", (46, 32)),
    ];
    assert_eq!(categories, BTreeMap::from(facts));
}

#[test]
fn ranges_and_loads_of_aircraft_pass_the_filters_of_queries() {
    let aircraft = Table::named("aircraft");
    let above = |column: &str, least: i64| {
        aircraft.numbers(column).into_iter().filter(|&value| value > least).count()
    };
    assert_eq!(above("range_miles", 0), 107);
    assert_eq!(above("pay_load", 0), 94);
    assert_eq!(above("pay_load", 10_000), 50);
}

#[test]
fn eleven_ways_from_city_to_airport_stay_in_the_state() {
    let (city, airport) = (Table::named("city"), Table::named("airport"));
    let of = |table: &'static str, code: &'static str| -> BTreeMap<String, String> {
        let table = Table::named(table);
        let pairs = table.select([code, "state_code"]);
        pairs
            .into_iter()
            .map(|[code, state]| (text(code).to_owned(), text(state).to_owned()))
            .collect()
    };
    let (cities, airports) = (of("city", "city_code"), of("airport", "airport_code"));
    let service = Table::named("airport_service");
    let ways = service.select(["city_code", "airport_code"]);
    assert_eq!(ways.iter().filter(|[city, _]| text(city).is_empty()).count(), 1);
    let within = ways
        .iter()
        .filter(|[city, _]| !text(city).is_empty())
        .filter(|[city, airport]| cities[text(city)] == airports[text(airport)])
        .count();
    assert_eq!(within, 11);
    let state = Table::named("state");
    let known: BTreeSet<&str> = state.texts("state_code").into_iter().collect();
    assert!(city.texts("state_code").iter().all(|state| known.contains(state)));
    assert!(airport.texts("state_code").iter().all(|state| known.contains(state)));
    assert_eq!(
        count(state.texts("country_name")).into_keys().collect::<Vec<_>>(),
        ["CANADA", "USA"]
    );
}

#[test]
fn thirteen_ground_services_have_a_fare_and_they_serve_all_cities() {
    let service = Table::named("ground_service");
    let fared: Vec<&str> = service
        .select(["city_code", "ground_fare"])
        .into_iter()
        .filter(|[_, fare]| number(fare) > 0)
        .map(|[city, _]| text(city))
        .collect();
    assert_eq!((fared.len(), count(fared).len()), (13, 11));
    assert_eq!(service.texts("city_code").iter().filter(|city| city.is_empty()).count(), 1);
}

#[test]
fn flight_days_are_all_subsets_of_the_week_with_a_row_for_each_day() {
    let days = Table::named("flight_day");
    let mut subsets: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for [mask, day] in days.select(["day_mask", "day_code"]) {
        subsets.entry(text(mask)).or_default().push(number(day));
    }
    assert_eq!(subsets.values().collect::<BTreeSet<_>>().len(), 127);
    for (mask, days) in &subsets {
        let shown: Vec<i64> =
            mask.chars().filter_map(|day| day.to_digit(10)).map(i64::from).collect();
        assert_eq!(shown, *days);
    }
    let flown = [Table::named("flight"), Table::named("fconnection")];
    let known = |days: &&str| subsets.contains_key(*days);
    assert!(flown.iter().all(|table| table.texts("flight_days").iter().all(known)));
}
