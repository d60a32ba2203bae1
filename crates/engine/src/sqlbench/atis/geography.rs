//! Airports, cities, states, time zones and the ways between city and airport.
//!
//! The names of airports' cities, states, provinces and time zones are facts of the world; their
//! wording and the distances are ours.

use super::cell::{Cell, Row, row};
use super::fill::{self, numbers};

/// Code, name, location, state, time zone.
const AIRPORTS: [(&str, &str, &str, &str, &str); 9] = [
    ("ATL", "ATLANTA HARTSFIELD AIRPORT", "SOUTH OF ATLANTA", "GA", "EST"),
    ("BOS", "BOSTON LOGAN AIRPORT", "NORTH EAST OF BOSTON", "MA", "EST"),
    ("BWI", "BALTIMORE AND WASHINGTON AIRPORT", "SOUTH WEST OF BALTIMORE", "MD", "EST"),
    ("DEN", "DENVER STAPLETON AIRPORT", "NORTH EAST OF DENVER", "CO", "MST"),
    ("DFW", "DALLAS AND FORT WORTH AREA AIRPORT", "NORTH OF DALLAS", "TX", "CST"),
    ("OAK", "OAKLAND BAY AIRPORT", "SOUTH OF OAKLAND", "CA", "PST"),
    ("PHL", "PHILADELPHIA AIRPORT", "SOUTH WEST OF PHILADELPHIA", "PA", "EST"),
    ("PIT", "PITTSBURGH AIRPORT", "WEST OF PITTSBURGH", "PA", "EST"),
    ("SFO", "SAN FRANCISCO AIRPORT", "SOUTH EAST OF SAN FRANCISCO", "CA", "PST"),
];

/// Code, name, state, time zone.
const CITIES: [(&str, &str, &str, &str); 11] = [
    ("MATL", "ATLANTA", "GA", "EST"),
    ("MBAL", "BALTIMORE", "MD", "EST"),
    ("MBOS", "BOSTON", "MA", "EST"),
    ("MDAL", "DALLAS", "TX", "CST"),
    ("MDEN", "DENVER", "CO", "MST"),
    ("MFTW", "FORT WORTH", "TX", "CST"),
    ("MOAK", "OAKLAND", "CA", "PST"),
    ("MPHL", "PHILADELPHIA", "PA", "EST"),
    ("MPIT", "PITTSBURGH", "PA", "EST"),
    ("MSFO", "SAN FRANCISCO", "CA", "PST"),
    ("MWAS", "WASHINGTON", "DC", "EST"),
];

/// City, airport, tenths of miles, direction, minutes. Eleven stay within their state; Washington is
/// served by airports of two other states.
const SERVICES: [(&str, &str, i64, &str, i64); 14] = [
    ("", "", 0, "", 0),
    ("MATL", "ATL", 90, "S", 25),
    ("MBAL", "BWI", 100, "SW", 20),
    ("MBOS", "BOS", 30, "NE", 15),
    ("MDAL", "DFW", 170, "NW", 30),
    ("MDEN", "DEN", 80, "E", 20),
    ("MFTW", "DFW", 180, "NE", 35),
    ("MOAK", "OAK", 90, "S", 12),
    ("MPHL", "PHL", 80, "SW", 25),
    ("MPIT", "PIT", 160, "W", 35),
    ("MSFO", "OAK", 190, "E", 45),
    ("MSFO", "SFO", 140, "SE", 30),
    ("MWAS", "BWI", 280, "NE", 50),
    ("MWAS", "PHL", 320, "NE", 70),
];

const TIME_ZONES: [(&str, &str); 9] = [
    ("AST", "ATLANTIC STANDARD TIME"),
    ("CST", "CENTRAL STANDARD TIME"),
    ("EST", "EASTERN STANDARD TIME"),
    ("HST", "HAWAII STANDARD TIME"),
    ("HST", "HAWAII-ALEUTIAN STANDARD TIME"),
    ("MST", "MOUNTAIN STANDARD TIME"),
    ("NST", "NEWFOUNDLAND STANDARD TIME"),
    ("PST", "PACIFIC STANDARD TIME"),
    ("YST", "YUKON STANDARD TIME"),
];

const TRANSPORTS: [(&str, &str); 4] =
    [("B", "PUBLIC BUS OR TRAM"), ("H", "HIRED CAR"), ("L", "LIMOUSINE"), ("T", "TAXI")];

/// The states of the USA with the District of Columbia: `code name`.
const USA: &str = "AL Alabama,AK Alaska,AZ Arizona,AR Arkansas,CA California,CO Colorado,\
    CT Connecticut,DE Delaware,DC District of Columbia,FL Florida,GA Georgia,HI Hawaii,ID Idaho,\
    IL Illinois,IN Indiana,IA Iowa,KS Kansas,KY Kentucky,LA Louisiana,ME Maine,MD Maryland,\
    MA Massachusetts,MI Michigan,MN Minnesota,MS Mississippi,MO Missouri,MT Montana,NE Nebraska,\
    NV Nevada,NH New Hampshire,NJ New Jersey,NM New Mexico,NY New York,NC North Carolina,\
    ND North Dakota,OH Ohio,OK Oklahoma,OR Oregon,PA Pennsylvania,RI Rhode Island,\
    SC South Carolina,SD South Dakota,TN Tennessee,TX Texas,UT Utah,VT Vermont,VA Virginia,\
    WA Washington,WV West Virginia,WI Wisconsin,WY Wyoming";

/// The provinces and territories of Canada before 1999.
const CANADA: &str = "AB Alberta,BC British Columbia,MB Manitoba,NB New Brunswick,NF Newfoundland,\
    NS Nova Scotia,NT Northwest Territories,ON Ontario,PE Prince Edward Island,PQ Quebec,\
    SK Saskatchewan,YT Yukon";

pub fn airport() -> Vec<Row> {
    AIRPORTS
        .map(|(code, name, location, state, zone)| row![code, name, location, state, "USA", zone])
        .into()
}

pub fn city() -> Vec<Row> {
    CITIES.map(|(code, name, state, zone)| row![code, name, state, "USA", zone]).into()
}

pub fn airport_service() -> Vec<Row> {
    SERVICES
        .map(|(city, airport, miles, direction, minutes)| {
            row![city, airport, Cell::Decimal(miles, 1), direction, minutes]
        })
        .into()
}

pub fn time_zone() -> Vec<Row> {
    TIME_ZONES.map(|(code, name)| row![code, name]).into()
}

pub fn transport() -> Vec<Row> {
    TRANSPORTS.map(|(code, description)| row![code, description]).into()
}

pub fn state() -> Vec<Row> {
    let of = |country: &'static str, list: &'static str| {
        list.split(',').map(move |entry| {
            let (code, name) = entry.split_once(' ').expect("a code and a name");
            row![code, name.to_uppercase(), country]
        })
    };
    of("USA", USA).chain(of("CANADA", CANADA)).collect()
}

/// One row without keys; else up to three transports between a city and its airports, of which the
/// first of each has a fare.
pub fn ground_service() -> Vec<Row> {
    let random = &mut fill::source(1);
    let prices = numbers(random, 13, 9, 24, 0);
    let between = &SERVICES[1..];
    let mut rows = vec![row!["", "", "", Cell::Decimal(0, 2)]];
    for (position, (code, _)) in TRANSPORTS[..3].iter().enumerate() {
        for (service, &(city, airport, ..)) in between.iter().enumerate() {
            // Of the third transport there are six.
            if position < 2 || service % 2 == 0 && service < 12 {
                // Fares are multiples of half a dollar.
                let fare = if position == 0 { prices[service] * 50 } else { 0 };
                rows.push(row![city, airport, *code, Cell::Decimal(fare, 2)]);
            }
        }
    }
    rows
}
