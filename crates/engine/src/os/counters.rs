//! Hardware counters of another process: instructions and cache misses in user space, by perf_event_open(2).

use std::fs;
use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;

/// The values of perf_event_open(2); the structure as it was first published (PERF_ATTR_SIZE_VER0).
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_events: u32,
    breakpoint: u32,
    address: u64,
}

const HARDWARE: u32 = 0;
const INSTRUCTIONS: u64 = 1;
const CACHE_MISSES: u64 = 3;
/// How long an event was wanted and how long it was counted come with its value.
const WITH_TIMES: u64 = 1 | 1 << 1;
/// Threads that a counted thread starts later count, too.
const INHERIT: u64 = 1 << 1;
/// Neither kernel nor hypervisor: what any `kernel.perf_event_paranoid` up to 2 allows, and the same everywhere.
const USER_SPACE_ONLY: u64 = 1 << 5 | 1 << 6;

/// What a process has done since counting began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    pub instructions: u64,
    pub cache_misses: u64,
}

/// Counts over all threads of a process until it is dropped, those that end or start meanwhile included.
#[derive(Debug)]
pub struct Counters {
    instructions: Vec<File>,
    cache_misses: Vec<File>,
}

impl Counters {
    /// Begins to count; `None` where the machine has no such counters or perf may not be used.
    pub fn of(pid: u32) -> Option<Self> {
        Some(Self {
            instructions: events(pid, HARDWARE, INSTRUCTIONS)?,
            cache_misses: events(pid, HARDWARE, CACHE_MISSES)?,
        })
    }

    pub fn read(&self) -> Option<Counted> {
        Some(Counted {
            instructions: total(&self.instructions)?,
            cache_misses: total(&self.cache_misses)?,
        })
    }
}

/// An event for each thread that there is; `None` when no thread can be counted.
fn events(pid: u32, kind: u32, config: u64) -> Option<Vec<File>> {
    // All names are read before the first event: a thread that starts later is inherited, and would count
    // twice if it were listed.
    let threads: Vec<i32> = fs::read_dir(format!("/proc/{pid}/task"))
        .ok()?
        .filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    let events: Vec<File> =
        threads.into_iter().filter_map(|thread| event(thread, kind, config)).collect();
    (!events.is_empty()).then_some(events)
}

#[allow(unsafe_code)]
fn event(thread: i32, kind: u32, config: u64) -> Option<File> {
    let attributes = Attributes {
        kind,
        size: size_of::<Attributes>() as u32,
        config,
        sample_period: 0,
        sample_type: 0,
        read_format: WITH_TIMES,
        flags: INHERIT | USER_SPACE_ONLY,
        wakeup_events: 0,
        breakpoint: 0,
        address: 0,
    };
    let (any_cpu, no_group, close_on_exec) = (-1i32, -1i32, 1u64 << 3);
    // SAFETY: the call only reads the structure, whose size is in it, and returns a descriptor that
    // nothing else owns, or -1.
    unsafe {
        let number = libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            any_cpu,
            no_group,
            close_on_exec,
        );
        (number >= 0).then(|| File::from_raw_fd(number as i32))
    }
}

/// The sum over events; of one that shared its counter with others, as far as it was not counted, by proportion.
fn total(events: &[File]) -> Option<u64> {
    events.iter().map(value).sum()
}

fn value(mut event: &File) -> Option<u64> {
    let mut words = [0u8; 24];
    event.read_exact(&mut words).ok()?;
    let [value, wanted, counted] =
        [0, 8, 16].map(|at| u64::from_ne_bytes(words[at..at + 8].try_into().expect("8 bytes")));
    match counted {
        0 => (wanted == 0).then_some(0),
        _ if counted == wanted => Some(value),
        _ => Some((value as f64 * wanted as f64 / counted as f64) as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOFTWARE: u32 = 1;
    const TASK_CLOCK_NS: u64 = 1;

    fn busy() -> u64 {
        (0..20_000_000u64).fold(0, |sum, i| std::hint::black_box(sum ^ i))
    }

    #[test]
    fn threads_that_start_later_count_after_their_end_too() {
        // The kernel counts time wherever it runs; hardware counters most virtual machines lack.
        let Some(events) = events(std::process::id(), SOFTWARE, TASK_CLOCK_NS) else {
            return eprintln!("skipped: perf_event_open is not allowed here");
        };
        let before = total(&events).unwrap();
        let spent = std::thread::spawn(|| {
            let from = crate::os::usage::cpu_clock_s(std::process::id()).unwrap();
            std::hint::black_box(busy());
            crate::os::usage::cpu_clock_s(std::process::id()).unwrap() - from
        });
        spent.join().unwrap();
        assert!(total(&events).unwrap() > before + 1_000_000);
    }

    #[test]
    fn a_process_that_is_not_there_has_no_counters() {
        assert!(Counters::of(u32::MAX >> 2).is_none());
        // Where there are counters they count up.
        if let Some(counters) = Counters::of(std::process::id()) {
            let before = counters.read().unwrap();
            std::hint::black_box(busy());
            assert!(counters.read().unwrap().instructions > before.instructions);
        }
    }
}
