//! Between which airports flights go, how many, and how long they are in the air.

/// An airport that flights use.
pub struct Airport {
    pub code: &'static str,
    /// Hours from the easternmost zone (0 or negative).
    pub zone: i64,
}

pub const AIRPORTS: [Airport; 9] = [
    Airport { code: "ATL", zone: 0 },
    Airport { code: "BOS", zone: 0 },
    Airport { code: "BWI", zone: 0 },
    Airport { code: "DEN", zone: -2 },
    Airport { code: "DFW", zone: -1 },
    Airport { code: "OAK", zone: -3 },
    Airport { code: "PHL", zone: 0 },
    Airport { code: "PIT", zone: 0 },
    Airport { code: "SFO", zone: -3 },
];

/// From and to, indexes into [`AIRPORTS`].
pub type Route = (usize, usize);

/// The route whose fares a query looks for: SFO to DFW.
pub const FARED_ROUTE: Route = (8, 4);

/// Flights from (row) to (column). The row sums and ATL to BOS are facts of the original data, as are
/// 65 routes with 25 to 1 flights.
const FLIGHTS: [[usize; 9]; 9] = [
    [0, 19, 13, 11, 25, 1, 15, 9, 6],
    [18, 0, 9, 9, 12, 1, 14, 8, 7],
    [13, 9, 0, 6, 9, 0, 3, 3, 3],
    [11, 8, 6, 0, 17, 3, 8, 5, 10],
    [22, 12, 9, 16, 0, 3, 11, 7, 10],
    [0, 1, 0, 4, 5, 0, 0, 0, 2],
    [16, 15, 4, 9, 12, 0, 0, 13, 7],
    [9, 9, 3, 6, 8, 0, 15, 0, 5],
    [6, 8, 4, 11, 12, 2, 8, 4, 0],
];

/// Shortest minutes in the air, for the later airport (row) and the earlier one (column).
const MINUTES: [&[i64]; 9] = [
    &[],
    &[145],
    &[105, 85],
    &[185, 245, 220],
    &[130, 230, 185, 110],
    &[290, 360, 330, 145, 205],
    &[115, 75, 45, 220, 195, 335],
    &[95, 100, 60, 185, 160, 310, 70],
    &[290, 360, 330, 150, 210, 20, 340, 305],
];

/// The routes with their flights.
pub fn routes() -> Vec<(Route, usize)> {
    let mut routes = Vec::new();
    for (from, row) in FLIGHTS.iter().enumerate() {
        for (to, &flights) in row.iter().enumerate() {
            if flights > 0 {
                routes.push(((from, to), flights));
            }
        }
    }
    routes
}

/// Shortest minutes in the air.
pub fn minutes((from, to): Route) -> i64 {
    MINUTES[from.max(to)][from.min(to)]
}

/// The two time zones of a route.
pub fn zones((from, to): Route) -> (i64, i64) {
    (AIRPORTS[from].zone, AIRPORTS[to].zone)
}

/// Minutes by which clocks at the destination are ahead of those at the origin.
pub fn shift(route: Route) -> i64 {
    let (from, to) = zones(route);
    (to - from) * 60
}
