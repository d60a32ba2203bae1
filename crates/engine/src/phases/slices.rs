//! Several servers driven in turn: in rounds of one slice each, with the connections of all of them open.

use super::Conductor;
use super::watch::Watch;
use crate::clock::nanoseconds;
use crate::job::{Slices, Work};
use crate::load::gate::Window;
use crate::load::recorder::IntervalPart;
use crate::os::usage::{CpuSeconds, Usage};
use crate::report::messages::{Message, ProcessSample, Slice, SliceUsage};
use crate::sample;

/// The slices of the warm-up show how long a server takes to drain: there are two of each at least.
const LEAST_WARMUP_ROUNDS: usize = 2;
/// How many times as long as its drain a slice is, where that leaves rounds enough.
const SLICE_TO_DRAIN: u64 = 4;
/// Fewer say little of how much rounds differ.
const LEAST_ROUNDS: u64 = 5;

/// The rounds of one phase.
pub(super) struct Rounds<'a> {
    conductor: &'a Conductor<'a>,
    slices: &'a Slices,
    warmup_ns: u64,
    measure_ns: u64,
    length_ns: u64,
    warmup: bool,
    round: usize,
    /// Place in the order of the round.
    position: usize,
    /// How long each server has been driven, in the warm-up or measured.
    driven_ns: u64,
    after: Option<usize>,
    under_way: Option<UnderWay>,
    over: bool,
}

/// The slice under way.
struct UnderWay {
    server: usize,
    position: usize,
    window: Window,
    /// When its drain has taken too long; none once its server was aborted for that.
    limit_ns: Option<u64>,
    client_cpu: CpuSeconds,
    /// Of the processes of all servers at its start.
    usage: Vec<Option<ProcessSample>>,
}

impl<'a> Rounds<'a> {
    pub fn new(conductor: &'a Conductor<'a>, slices: &'a Slices, watches: &[Watch<'_>]) -> Self {
        let longest = |seconds: fn(&Work) -> f64| {
            let all = watches.iter().map(|watch| seconds(&watch.plan.phase.work));
            nanoseconds(all.fold(0.0, f64::max))
        };
        Self {
            conductor,
            slices,
            warmup_ns: longest(|work| match work {
                Work::Timed { warmup_s, .. } => *warmup_s,
                _ => 0.0,
            }),
            measure_ns: longest(|work| match work {
                Work::Timed { measure_s, .. } => *measure_s,
                _ => 0.0,
            }),
            length_ns: nanoseconds(slices.slice_s),
            warmup: true,
            round: 0,
            position: 0,
            driven_ns: 0,
            after: None,
            under_way: None,
            over: false,
        }
    }

    /// When the server that is driven must have ended its slice.
    pub fn limit_ns(&self) -> Option<u64> {
        self.under_way.as_ref()?.limit_ns
    }

    /// Ends the slice under way when nothing of it is, and begins the next; after the last one the
    /// servers may close their connections.
    pub fn advance(&mut self, watches: &mut [Watch<'_>]) {
        if self.over || !watches.iter().all(Watch::is_settled) {
            return;
        }
        if let Some(slice) = &mut self.under_way {
            let watch = of_server(watches, slice.server);
            if !slice_is_over(watch) {
                let now = self.conductor.clock.now_ns();
                if slice.limit_ns.take_if(|at_ns| now >= *at_ns).is_some() {
                    let seconds = self.conductor.job.answer_within_s;
                    watch.abort(format!(
                        "events under way at the end of a slice did not end within {seconds} s"
                    ));
                }
                return;
            }
            self.end_slice(watch);
        }
        match self.next_server(watches) {
            Some(server) => self.begin_slice(of_server(watches, server)),
            None => {
                self.over = true;
                watches.iter().for_each(Watch::close);
            }
        }
    }

    fn begin_slice(&mut self, watch: &mut Watch<'_>) {
        let server = watch.plan.server;
        if !self.warmup && watch.sliced.span.is_none() {
            watch.say_measuring();
        }
        watch.sliced.begin();
        let usage = self.usage();
        let from_ns = self.conductor.clock.now_ns();
        let window = Window::slice(from_ns, from_ns + self.length_ns, self.warmup);
        let patience_ns = nanoseconds(self.conductor.job.answer_within_s);
        let limit_ns = Some(window.measured_to_ns + patience_ns);
        let client_cpu = Usage::now().cpu;
        let position = self.position - 1;
        self.under_way = Some(UnderWay { server, position, window, limit_ns, client_cpu, usage });
        watch.open_gate(window);
    }

    fn end_slice(&mut self, watch: &mut Watch<'_>) {
        let Some(slice) = self.under_way.take() else { return };
        let Window { start_ns: from_ns, measured_to_ns, .. } = slice.window;
        let whole = watch.stopped_ns.is_none() && !watch.is_over();
        let to_ns = watch.stopped_ns.map_or(measured_to_ns, |at_ns| at_ns.min(measured_to_ns));
        let sliced = &mut watch.sliced;
        if self.warmup {
            sliced.drains_ns.push(sliced.drained_ns.saturating_sub(to_ns));
        } else {
            sliced.span = Some((sliced.span.map_or(from_ns, |span| span.0), to_ns));
            sliced.measured_ns += to_ns - from_ns;
            sliced.client_cpu = sliced.client_cpu.plus(Usage::now().cpu.since(slice.client_cpu));
        }
        if let Some(part) = sliced.part.take().filter(|_| whole) {
            let message = self.message(&slice, &part, watch);
            watch.say(Message::Slice(Box::new(message)));
        }
        self.after = Some(slice.server);
    }

    fn message(&self, slice: &UnderWay, part: &IntervalPart, watch: &Watch<'_>) -> Slice {
        let latencies = &part.latencies;
        Slice {
            server: slice.server,
            phase: watch.plan.phase_index,
            round: self.round,
            position: slice.position,
            after: self.after,
            warmup: self.warmup,
            from_ns: part.from_ns,
            to_ns: part.to_ns,
            drained_ns: watch.sliced.drained_ns,
            drained_queries: watch.sliced.drained_queries,
            queries: latencies.count(),
            transactions: part.transactions.count(),
            errors: part.errors,
            connections: part.connections,
            parts: part.tenths,
            p50_ns: latencies.quantile_ns(0.5),
            p95_ns: latencies.quantile_ns(0.95),
            p99_ns: latencies.quantile_ns(0.99),
            max_ns: latencies.max_ns(),
            histogram: latencies.encoded_if_any(),
            usage: slice
                .usage
                .iter()
                .zip(self.usage())
                .map(|(from, to)| growth(from, to))
                .collect(),
        }
    }

    /// The server of the next slice; none when all has been measured, or no server is left.
    fn next_server(&mut self, watches: &mut [Watch<'_>]) -> Option<usize> {
        let order = &self.slices.order;
        while watches.iter().any(is_live) {
            let round = &order[self.round % order.len()];
            if self.position == round.len() {
                self.position = 0;
                self.round += 1;
                if self.end_round(watches) {
                    return None;
                }
                continue;
            }
            let server = round[self.position];
            self.position += 1;
            if watches.iter().any(|watch| watch.plan.server == server && is_live(watch)) {
                return Some(server);
            }
        }
        None
    }

    /// Counts a round; gives true after the last one.
    fn end_round(&mut self, watches: &mut [Watch<'_>]) -> bool {
        self.driven_ns += self.length_ns;
        if !self.warmup {
            return self.driven_ns >= self.measure_ns;
        }
        if self.round >= LEAST_WARMUP_ROUNDS && self.driven_ns >= self.warmup_ns {
            let drains = watches.iter_mut().map(|watch| watch.sliced.median_drain_ns());
            let longest_ns = nanoseconds(self.slices.longest_s).min(self.measure_ns / LEAST_ROUNDS);
            let least_ns = SLICE_TO_DRAIN * drains.max().unwrap_or(0);
            self.length_ns = self.length_ns.max(least_ns.min(longest_ns));
            self.warmup = false;
            self.driven_ns = 0;
        }
        false
    }

    /// What the process of each server has used so far.
    fn usage(&self) -> Vec<Option<ProcessSample>> {
        let pid = |sampling: &crate::job::Sampling| sampling.server_pid;
        let servers = self.conductor.servers.iter();
        servers
            .map(|server| server.job.sampling.as_ref().and_then(pid).and_then(sample::process))
            .collect()
    }
}

fn of_server<'a, 'b>(watches: &'a mut [Watch<'b>], server: usize) -> &'a mut Watch<'b> {
    watches.iter_mut().find(|watch| watch.plan.server == server).expect("it takes part")
}

/// The server takes part in the rounds that come.
fn is_live(watch: &Watch<'_>) -> bool {
    watch.stopped_ns.is_none() && !watch.is_over()
}

/// Each reactor has ended the slice, or everything.
fn slice_is_over(watch: &Watch<'_>) -> bool {
    let ended = watch.sliced.over.iter().zip(&watch.finished);
    match watch.stopped_ns {
        Some(_) => watch.is_over(),
        None => ended.into_iter().all(|(over, finished)| *over || finished.is_some()),
    }
}

fn growth(from: &Option<ProcessSample>, to: Option<ProcessSample>) -> Option<SliceUsage> {
    let (from, to) = (from.as_ref()?, to?);
    let bytes = |from: Option<u64>, to: Option<u64>| Some(to?.saturating_sub(from?));
    Some(SliceUsage {
        cpu_s: to.cpu_s - from.cpu_s,
        cpu_user_s: to.cpu_user_s - from.cpu_user_s,
        cpu_system_s: to.cpu_system_s - from.cpu_system_s,
        read_bytes: bytes(from.read_bytes, to.read_bytes),
        write_bytes: bytes(from.write_bytes, to.write_bytes),
    })
}
