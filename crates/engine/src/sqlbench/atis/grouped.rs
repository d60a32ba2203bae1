//! The 28 grouped queries. Numbers in comments are their places in the list of the original, whose 14th
//! never runs.

use super::query::{Query, query};

/// Minutes by which the clock differs between origin and destination, as the columns of flight have it.
macro_rules! clock_difference {
    () => {
        "(FLOOR(arrival_time / 100) * 60 + MOD(arrival_time, 100) \
          - FLOOR(departure_time / 100) * 60 - MOD(departure_time, 100) - time_elapsed)"
    };
}

/// Airports of a city in the same state, time zone and country; `$order` is how states are ordered.
macro_rules! airports_of_state {
    ($order:literal) => {
        concat!(
            "SELECT airport.country_name, state.state_name, city.city_name, \
             airport_service.direction FROM airport_service, state, airport, city \
             WHERE airport_service.city_code = city.city_code \
             AND airport_service.airport_code = airport.airport_code \
             AND state.state_code = airport.state_code AND state.state_code = city.state_code \
             AND airport.state_code = city.state_code \
             AND airport.country_name = city.country_name \
             AND airport.country_name = state.country_name \
             AND city.time_zone_code = airport.time_zone_code \
             GROUP BY airport.country_name, state.state_name, city.city_name, \
             airport_service.direction ORDER BY state.state_name",
            $order
        )
    };
}

pub const GROUPED: [Query; 28] = [
    // 1 to 4: days and months.
    query(
        7,
        "SELECT day_name.day_name, day_name.day_code, COUNT(*) FROM flight_day, day_name \
         WHERE flight_day.day_code = day_name.day_code \
         GROUP BY day_name.day_name, day_name.day_code ORDER BY day_name.day_code",
    ),
    query(
        7,
        "SELECT day_name.day_name, COUNT(*) FROM flight_day, day_name \
         WHERE flight_day.day_code = day_name.day_code GROUP BY day_name.day_name",
    ),
    query(
        4,
        "SELECT month_name.month_name, day_name.day_name FROM month_name, day_name \
         WHERE month_name.month_number = day_name.day_code AND day_name.day_code > 3 \
         GROUP BY month_name.month_name, day_name.day_name",
    ),
    query(
        7,
        "SELECT day_name.day_name, flight_day.day_code, COUNT(*) FROM flight_day, day_name \
         WHERE flight_day.day_code = day_name.day_code \
         GROUP BY flight_day.day_code, day_name.day_name ORDER BY flight_day.day_code",
    ),
    // 5 to 15: one row each.
    query(1, "SELECT SUM(engines) FROM aircraft"),
    query(1, "SELECT AVG(engines) FROM aircraft"),
    query(1, "SELECT AVG(engines) FROM aircraft WHERE engines > 0"),
    query(1, "SELECT COUNT(*), MIN(pay_load), MAX(pay_load) FROM aircraft WHERE pay_load > 0"),
    query(1, "SELECT MIN(flight_code), MIN(flight_code) FROM flight"),
    query(1, "SELECT MIN(from_airport), MIN(to_airport) FROM flight"),
    query(1, "SELECT COUNT(*) FROM aircraft WHERE pay_load > 10000"),
    query(1, "SELECT COUNT(*) FROM aircraft WHERE pay_load <> 0"),
    query(1, "SELECT COUNT(*) FROM flight WHERE flight_code >= 112793"),
    query(1, "SELECT STD(engines) FROM aircraft"),
    // 16
    query(
        1,
        "SELECT from_airport, to_airport, AVG(time_elapsed) FROM flight \
         WHERE from_airport = 'ATL' AND to_airport = 'BOS' GROUP BY from_airport, to_airport",
    ),
    // 17, 18: ways from city to airport.
    query(
        11,
        "SELECT city_code, AVG(ground_fare) FROM ground_service WHERE ground_fare <> 0 \
         GROUP BY city_code",
    ),
    query(12, "SELECT COUNT(*), city_code FROM ground_service GROUP BY city_code"),
    // 19, 20: categories of aircraft.
    query(
        3,
        "SELECT category, COUNT(*) AS number FROM aircraft WHERE engines = 2 \
         GROUP BY category HAVING number > 4",
    ),
    query(
        3,
        "SELECT category, COUNT(*) FROM aircraft WHERE engines = 2 \
         GROUP BY category HAVING COUNT(*) > 4",
    ),
    // 21: flights with stops.
    query(
        150,
        "SELECT flight.flight_number, aircraft.range_miles, flight_class.fare_class \
         FROM aircraft, flight, flight_class \
         WHERE flight.aircraft_code = aircraft.aircraft_code \
         AND flight.flight_code = flight_class.flight_code AND aircraft.range_miles <> 0 \
         AND (flight.stops = 1 OR flight.stops = 2) \
         GROUP BY flight.flight_number, aircraft.range_miles, flight_class.fare_class",
    ),
    // 22, 23: time zones, in hours of difference. The second takes flights over midnight for what they
    // are.
    query(
        21,
        concat!(
            "SELECT DISTINCT origin.time_zone_code, destination.time_zone_code, ",
            clock_difference!(),
            " / 60 AS difference FROM flight, airport AS origin, airport AS destination \
             WHERE flight.from_airport = origin.airport_code \
             AND flight.to_airport = destination.airport_code \
             GROUP BY origin.time_zone_code, destination.time_zone_code, flight.arrival_time, \
             flight.departure_time, flight.time_elapsed"
        ),
    ),
    query(
        14,
        concat!(
            "SELECT DISTINCT origin.time_zone_code, destination.time_zone_code, \
             MOD(",
            clock_difference!(),
            " / 60 + 36, 24) - 12 AS difference \
             FROM flight, airport AS origin, airport AS destination \
             WHERE flight.from_airport = origin.airport_code \
             AND flight.to_airport = destination.airport_code AND MOD(",
            clock_difference!(),
            " / 60 + 36, 24) - 12 < 10"
        ),
    ),
    // 24
    query(
        409,
        "SELECT flight.from_airport, flight.to_airport, aircraft.range_miles, \
         flight.time_elapsed FROM aircraft, flight \
         WHERE flight.aircraft_code = aircraft.aircraft_code \
         AND flight.to_airport NOT LIKE flight.from_airport \
         AND aircraft.range_miles <> 0 AND flight.time_elapsed <> 0 \
         GROUP BY flight.from_airport, flight.to_airport, aircraft.range_miles, \
         flight.time_elapsed",
    ),
    // 25 to 27
    query(11, airports_of_state!("")),
    query(11, airports_of_state!(" DESC")),
    query(11, airports_of_state!("")),
    // 28
    query(
        10,
        "SELECT fare.from_airport, fare.to_airport, fare.fare_class, compound_class.night, \
         fare.one_way_cost, fare.rnd_trip_cost, compound_class.class_days \
         FROM compound_class, fare WHERE compound_class.fare_class = fare.fare_class \
         AND fare.one_way_cost <= 825 AND fare.one_way_cost >= 280 \
         AND fare.from_airport = 'SFO' AND fare.to_airport = 'DFW' \
         GROUP BY fare.from_airport, fare.to_airport, fare.fare_class, compound_class.night, \
         fare.one_way_cost, fare.rnd_trip_cost, compound_class.class_days \
         ORDER BY fare.one_way_cost",
    ),
    // 29
    query(
        29,
        "SELECT aircraft.engines, aircraft.category, aircraft.cruising_speed, \
         flight.from_airport, flight.to_airport FROM aircraft, flight \
         WHERE flight.aircraft_code = aircraft.aircraft_code AND aircraft.category = 'JET' \
         AND aircraft.engines >= 1 AND flight.stops > 0 \
         AND flight.to_airport NOT LIKE flight.from_airport \
         GROUP BY aircraft.engines, aircraft.category, aircraft.cruising_speed, \
         flight.from_airport, flight.to_airport ORDER BY aircraft.engines DESC",
    ),
];
