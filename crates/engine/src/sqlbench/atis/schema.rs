//! The 28 tables of ATIS: columns, widths and keys of sql-bench 2.15, in the order of loading.
//!
//! Display widths are the original's; servers ignore them. `rank` is quoted: MySQL 8 reserves it.

/// How one table is declared.
pub struct Schema {
    pub name: &'static str,
    /// What stands between the brackets of CREATE TABLE: the columns as rows give their values, keys.
    pub definition: &'static str,
}

pub const SCHEMAS: [Schema; 28] = [
    Schema {
        name: "aircraft",
        definition: "\
            aircraft_code char(3) NOT NULL, aircraft_type char(64) NOT NULL, \
            engines tinyint(1) NOT NULL, category char(10) NOT NULL, wide_body char(3) NOT NULL, \
            wing_span float(6,2) NOT NULL, length1 float(6,2) NOT NULL, weight int(7) NOT NULL, \
            capacity smallint(3) NOT NULL, pay_load int(7) NOT NULL, \
            cruising_speed mediumint(5) NOT NULL, range_miles mediumint(5) NOT NULL, \
            pressurized char(3) NOT NULL, PRIMARY KEY (aircraft_code)",
    },
    Schema {
        name: "airline",
        definition: "\
            airline_code char(2) NOT NULL, airline_name char(64) NOT NULL, \
            notes char(38) NOT NULL, PRIMARY KEY (airline_code)",
    },
    Schema {
        name: "airport",
        definition: "\
            airport_code char(3) NOT NULL, airport_name char(40) NOT NULL, \
            location char(36) NOT NULL, state_code char(2) NOT NULL, \
            country_name char(25) NOT NULL, time_zone_code char(3) NOT NULL, \
            PRIMARY KEY (airport_code)",
    },
    Schema {
        name: "airport_service",
        definition: "\
            city_code char(4) NOT NULL, airport_code char(3) NOT NULL, \
            miles_distant float(4,1) NOT NULL, direction char(3) NOT NULL, \
            minutes_distant smallint(3) NOT NULL, PRIMARY KEY (city_code, airport_code)",
    },
    Schema {
        name: "city",
        definition: "\
            city_code char(4) NOT NULL, city_name char(25) NOT NULL, \
            state_code char(2) NOT NULL, country_name char(25) NOT NULL, \
            time_zone_code char(3) NOT NULL, PRIMARY KEY (city_code)",
    },
    Schema {
        name: "class_of_service",
        definition: "\
            class_code char(2) NOT NULL, `rank` tinyint(2) NOT NULL, \
            class_description char(80) NOT NULL, PRIMARY KEY (class_code)",
    },
    Schema {
        name: "code_description",
        definition: "\
            code char(5) NOT NULL, description char(110) NOT NULL, PRIMARY KEY (code)",
    },
    Schema {
        name: "compound_class",
        definition: "\
            fare_class char(3) NOT NULL, base_class char(2) NOT NULL, \
            class_type char(10) NOT NULL, premium char(3) NOT NULL, economy char(3) NOT NULL, \
            discounted char(3) NOT NULL, night char(3) NOT NULL, season_fare char(4) NOT NULL, \
            class_days char(7) NOT NULL, PRIMARY KEY (fare_class)",
    },
    Schema {
        name: "connect_leg",
        definition: "\
            connect_code int(8) NOT NULL, leg_number tinyint(1) NOT NULL, \
            flight_code int(8) NOT NULL, PRIMARY KEY (connect_code, leg_number, flight_code)",
    },
    Schema {
        name: "fconnection",
        definition: "\
            connect_code int(8) NOT NULL, from_airport char(3) NOT NULL, \
            to_airport char(3) NOT NULL, departure_time smallint(4) NOT NULL, \
            arrival_time smallint(4) NOT NULL, flight_days char(7) NOT NULL, \
            stops tinyint(1) NOT NULL, connections tinyint(1) NOT NULL, \
            time_elapsed smallint(4) NOT NULL, PRIMARY KEY (connect_code), \
            INDEX from_airport1 (from_airport), INDEX to_airport1 (to_airport)",
    },
    Schema {
        name: "day_name",
        definition: "\
            day_code tinyint(1) NOT NULL, day_name char(9) NOT NULL, PRIMARY KEY (day_code)",
    },
    Schema {
        name: "dual_carrier",
        definition: "\
            main_airline char(2) NOT NULL, dual_airline char(2) NOT NULL, \
            low_flight smallint(4) NOT NULL, high_flight smallint(4) NOT NULL, \
            fconnection_name char(64) NOT NULL, \
            PRIMARY KEY (main_airline, dual_airline, low_flight), \
            INDEX main_airline1 (main_airline)",
    },
    Schema {
        name: "fare",
        definition: "\
            fare_code char(8) NOT NULL, from_airport char(3) NOT NULL, \
            to_airport char(3) NOT NULL, fare_class char(3) NOT NULL, \
            fare_airline char(2) NOT NULL, restrict_code char(5) NOT NULL, \
            one_way_cost float(7,2) NOT NULL, rnd_trip_cost float(8,2) NOT NULL, \
            PRIMARY KEY (fare_code), INDEX from_airport2 (from_airport), \
            INDEX to_airport2 (to_airport)",
    },
    Schema {
        name: "flight",
        definition: "\
            flight_code int(8) NOT NULL, flight_days char(7) NOT NULL, \
            from_airport char(3) NOT NULL, to_airport char(3) NOT NULL, \
            departure_time smallint(4) NOT NULL, arrival_time smallint(4) NOT NULL, \
            airline_code char(2) NOT NULL, flight_number smallint(4) NOT NULL, \
            class_string char(8) NOT NULL, aircraft_code char(3) NOT NULL, \
            meal_code char(7) NOT NULL, stops tinyint(1) NOT NULL, \
            dual_carrier char(1) NOT NULL, time_elapsed smallint(4) NOT NULL, \
            PRIMARY KEY (flight_code), INDEX from_airport3 (from_airport), \
            INDEX to_airport3 (to_airport)",
    },
    Schema {
        name: "flight_class",
        definition: "\
            flight_code int(8) NOT NULL, fare_class char(3) NOT NULL, \
            PRIMARY KEY (flight_code, fare_class)",
    },
    Schema {
        name: "flight_day",
        definition: "\
            day_mask char(7) NOT NULL, day_code tinyint(1) NOT NULL, day_name char(9) NOT NULL, \
            PRIMARY KEY (day_mask, day_code)",
    },
    Schema {
        name: "flight_fare",
        definition: "\
            flight_code int(8) NOT NULL, fare_code char(8) NOT NULL, \
            PRIMARY KEY (flight_code, fare_code)",
    },
    Schema {
        name: "food_service",
        definition: "\
            meal_code char(4) NOT NULL, meal_number tinyint(1) NOT NULL, \
            meal_class char(10) NOT NULL, meal_description char(10) NOT NULL, \
            PRIMARY KEY (meal_code, meal_number, meal_class)",
    },
    Schema {
        name: "ground_service",
        definition: "\
            city_code char(4) NOT NULL, airport_code char(3) NOT NULL, \
            transport_code char(1) NOT NULL, ground_fare float(6,2) NOT NULL, \
            PRIMARY KEY (city_code, airport_code, transport_code)",
    },
    Schema {
        name: "time_interval",
        definition: "\
            period char(20) NOT NULL, begin_time smallint(4) NOT NULL, \
            end_time smallint(4) NOT NULL, PRIMARY KEY (period, begin_time)",
    },
    Schema {
        name: "month_name",
        definition: "\
            month_number tinyint(2) NOT NULL, month_name char(9) NOT NULL, \
            PRIMARY KEY (month_number)",
    },
    Schema {
        name: "restrict_carrier",
        definition: "\
            restrict_code char(5) NOT NULL, airline_code char(2) NOT NULL, \
            PRIMARY KEY (restrict_code, airline_code)",
    },
    Schema {
        name: "restrict_class",
        definition: "\
            restrict_code char(5) NOT NULL, ex_fare_class char(12) NOT NULL, \
            PRIMARY KEY (restrict_code, ex_fare_class)",
    },
    Schema {
        name: "restriction",
        definition: "\
            restrict_code char(5) NOT NULL, application char(80) NOT NULL, \
            no_discounts char(80) NOT NULL, reserve_ticket smallint(3) NOT NULL, \
            stopovers char(1) NOT NULL, return_min smallint(3) NOT NULL, \
            return_max smallint(3) NOT NULL, PRIMARY KEY (restrict_code)",
    },
    Schema {
        name: "state",
        definition: "\
            state_code char(2) NOT NULL, state_name char(25) NOT NULL, \
            country_name char(25) NOT NULL, PRIMARY KEY (state_code)",
    },
    Schema {
        name: "stop1",
        definition: "\
            flight_code int(8) NOT NULL, stop_number tinyint(1) NOT NULL, \
            stop_flight int(8) NOT NULL, PRIMARY KEY (flight_code, stop_number)",
    },
    Schema {
        name: "time_zone",
        definition: "\
            time_zone_code char(3) NOT NULL, time_zone_name char(32) NOT NULL, \
            PRIMARY KEY (time_zone_code, time_zone_name)",
    },
    Schema {
        name: "transport",
        definition: "\
            transport_code char(1) NOT NULL, transport_desc char(32) NOT NULL, \
            PRIMARY KEY (transport_code)",
    },
];
