//! CPU time of the one client thread and of the server's process, finer than a clock tick.

use crate::os::usage::CpuSeconds;
use crate::sample::process;

/// Reads both CPU times; `server_pid` is `None` when the server runs elsewhere.
#[derive(Clone, Copy, Debug)]
pub struct Meter {
    pub server_pid: Option<u32>,
}

/// Both CPU times so far.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    client: CpuSeconds,
    server: Option<Server>,
}

#[derive(Clone, Copy, Debug)]
struct Server {
    /// In clock ticks of mostly 10 ms.
    ticks: CpuSeconds,
    /// User and system time together, exact.
    total_s: f64,
}

impl Meter {
    pub fn read(self) -> Reading {
        Reading { client: this_thread(), server: self.server_pid.and_then(server) }
    }
}

impl Reading {
    /// CPU of the client and of the server since an earlier reading.
    pub fn since(self, earlier: Reading) -> (CpuSeconds, Option<CpuSeconds>) {
        let server = match (self.server, earlier.server) {
            (Some(now), Some(then)) => Some(shared_out(now, then)),
            _ => None,
        };
        (self.client.since(earlier.client), server)
    }
}

/// The exact time, divided into user and system as the ticks of the same stretch are, or as all
/// ticks so far are when the stretch is shorter than one.
fn shared_out(now: Server, then: Server) -> CpuSeconds {
    let total_s = now.total_s - then.total_s;
    let ticks = now.ticks.since(then.ticks);
    let ticks = if ticks.user_s + ticks.system_s > 0.0 { ticks } else { now.ticks };
    let all = ticks.user_s + ticks.system_s;
    let user_share = if all > 0.0 { ticks.user_s / all } else { 1.0 };
    CpuSeconds { user_s: total_s * user_share, system_s: total_s * (1.0 - user_share) }
}

fn server(pid: u32) -> Option<Server> {
    let sample = process(pid)?;
    let ticks = CpuSeconds { user_s: sample.cpu_user_s, system_s: sample.cpu_system_s };
    Some(Server { ticks, total_s: sample.cpu_s })
}

#[allow(unsafe_code)]
fn this_thread() -> CpuSeconds {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: getrusage fills the struct that it is given, and a zeroed rusage is valid anyway.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    CpuSeconds { user_s: seconds(usage.ru_utime), system_s: seconds(usage.ru_stime) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn busy() -> u64 {
        (0..20_000_000u64).fold(0, |sum, i| std::hint::black_box(sum ^ i))
    }

    #[test]
    fn work_of_this_process_shows_in_its_own_clock_and_in_the_threads() {
        let meter = Meter { server_pid: Some(std::process::id()) };
        let before = meter.read();
        std::hint::black_box(busy());
        let (client, server) = meter.read().since(before);
        let server = server.unwrap();
        let client_s = client.user_s + client.system_s;
        assert!(client_s > 0.0);
        // The process has other threads too, and the thread's clock may lag by a scheduler tick.
        assert!(server.user_s + server.system_s > client_s * 0.5, "{server:?} {client:?}");
    }

    #[test]
    fn without_a_process_there_is_no_server_cpu() {
        for server_pid in [None, Some(u32::MAX >> 2)] {
            let meter = Meter { server_pid };
            let before = meter.read();
            assert_eq!(meter.read().since(before).1, None);
        }
    }

    #[test]
    fn time_is_divided_as_the_ticks_are() {
        let reading =
            |user_s, system_s, total_s| Server { ticks: CpuSeconds { user_s, system_s }, total_s };
        let cpu = shared_out(reading(4.0, 2.0, 6.5), reading(1.0, 1.0, 2.5));
        assert_eq!((cpu.user_s, cpu.system_s), (3.0, 1.0));
        let cpu = shared_out(reading(3.0, 1.0, 4.008), reading(3.0, 1.0, 4.0));
        assert!((cpu.user_s - 0.006).abs() < 1e-9, "{cpu:?}");
    }
}
