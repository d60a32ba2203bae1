//! Numbers from /proc. A file that cannot be read gives a missing value, never a zero.

use std::collections::BTreeMap;
use std::fs;

use crate::os::usage::{Usage, cpu_clock_s};
use crate::report::messages::{DiskSample, HostCpu, HostSample, ProcessSample};

const SECTOR_BYTES: u64 = 512;

/// Threads of a process whose switches are read: /proc has them for each thread only, and
/// reading a thousand threads would disturb the load.
const MOST_THREADS: u64 = 256;

/// What a process has used but for context switches, or `None` when there is no such process.
pub fn process(pid: u32) -> Option<ProcessSample> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let sample = parse_process(&stat, &io)?;
    Some(ProcessSample { cpu_s: cpu_clock_s(pid).unwrap_or(sample.cpu_s), ..sample })
}

/// The same with context switches, which take a file to read for each thread.
pub fn process_with_switches(pid: u32) -> Option<ProcessSample> {
    let sample = process(pid)?;
    let switches = (sample.threads <= MOST_THREADS).then(|| switches(pid)).flatten();
    Some(ProcessSample {
        voluntary_switches: switches.map(|(voluntary, _)| voluntary),
        involuntary_switches: switches.map(|(_, involuntary)| involuntary),
        ..sample
    })
}

/// Context switches, voluntary and involuntary, of the threads that a process has now. Those of
/// ended threads are missing.
fn switches(pid: u32) -> Option<(u64, u64)> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let statuses = threads
        .filter_map(|thread| fs::read_to_string(thread.ok()?.path().join("status")).ok())
        .filter_map(|status| parse_switches(&status));
    statuses.reduce(|sum, one| (sum.0 + one.0, sum.1 + one.1))
}

fn parse_switches(status: &str) -> Option<(u64, u64)> {
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some((field("voluntary_ctxt_switches:")?, field("nonvoluntary_ctxt_switches:")?))
}

/// The same for this process, with the switches and finer CPU times from getrusage.
pub fn this_process() -> Option<ProcessSample> {
    let usage = Usage::now();
    Some(ProcessSample {
        cpu_s: usage.cpu.user_s + usage.cpu.system_s,
        cpu_user_s: usage.cpu.user_s,
        cpu_system_s: usage.cpu.system_s,
        voluntary_switches: Some(usage.voluntary_switches),
        involuntary_switches: Some(usage.involuntary_switches),
        ..process(std::process::id())?
    })
}

/// What the whole machine has used.
pub fn host() -> HostSample {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let disks = fs::read_to_string("/proc/diskstats").unwrap_or_default();
    let (cpu, context_switches) = parse_stat(&stat, ticks_per_second());
    HostSample { cpu, context_switches, disks: parse_disks(&disks) }
}

/// CPU time of the machine, or `None` where it cannot be read.
pub fn machine_cpu() -> Option<HostCpu> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    Some(parse_stat(&stat, ticks_per_second()).0)
}

fn parse_process(stat: &str, io: &str) -> Option<ProcessSample> {
    // The second field is the command's name in parentheses and may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_ascii_whitespace().collect();
    // proc(5) numbers the fields from 1, and these begin with the third.
    let field = |number: usize| fields.get(number - 3)?.parse::<u64>().ok();
    let ticks = ticks_per_second();
    let io_field = |name: &str| {
        let line = io.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))?;
        line.trim().parse().ok()
    };
    let (cpu_user_s, cpu_system_s) = (field(14)? as f64 / ticks, field(15)? as f64 / ticks);
    Some(ProcessSample {
        cpu_s: cpu_user_s + cpu_system_s,
        cpu_user_s,
        cpu_system_s,
        rss_bytes: field(24)? * rustix::param::page_size() as u64,
        threads: field(20)?,
        voluntary_switches: None,
        involuntary_switches: None,
        instructions: None,
        cache_misses: None,
        read_bytes: io_field("read_bytes"),
        write_bytes: io_field("write_bytes"),
    })
}

fn parse_stat(stat: &str, ticks: f64) -> (HostCpu, u64) {
    let line = |name: &str| stat.lines().find_map(|line| line.strip_prefix(name));
    let numbers: Vec<f64> = line("cpu ")
        .unwrap_or_default()
        .split_ascii_whitespace()
        .map(|number| number.parse::<f64>().unwrap_or(0.0) / ticks)
        .collect();
    let at = |place: usize| numbers.get(place).copied().unwrap_or(0.0);
    let cpu = HostCpu {
        user: at(0),
        nice: at(1),
        system: at(2),
        idle: at(3),
        iowait: at(4),
        irq: at(5),
        softirq: at(6),
        steal: at(7),
    };
    let switches = line("ctxt ").and_then(|text| text.trim().parse().ok()).unwrap_or(0);
    (cpu, switches)
}

/// Whole disks and their partitions; loop and RAM disks that were never used are left out.
fn parse_disks(text: &str) -> BTreeMap<String, DiskSample> {
    text.lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let name = *fields.get(2)?;
            // Documentation/admin-guide/iostats.rst: fields from the fourth on.
            let number = |place: usize| fields.get(place)?.parse::<u64>().ok();
            let disk = DiskSample {
                reads: number(3)?,
                read_bytes: number(5)? * SECTOR_BYTES,
                writes: number(7)?,
                write_bytes: number(9)? * SECTOR_BYTES,
                busy_s: number(12)? as f64 / 1000.0,
            };
            (disk.reads + disk.writes > 0).then(|| (name.to_owned(), disk))
        })
        .collect()
}

fn ticks_per_second() -> f64 {
    rustix::param::clock_ticks_per_second() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_line_is_read_even_with_a_strange_command_name() {
        let stat = "42 (my) (sql d) S 1 2 3 4 5 6 7 8 9 10 250 50 13 14 15 16 33 18 19 20 100 22";
        let io = "rchar: 1\nread_bytes: 4096\nwrite_bytes: 8192\ncancelled_write_bytes: 5\n";
        let sample = parse_process(stat, io).unwrap();
        let ticks = ticks_per_second();
        assert_eq!(sample.cpu_user_s, 250.0 / ticks);
        assert_eq!(sample.cpu_system_s, 50.0 / ticks);
        assert_eq!(sample.threads, 33);
        assert_eq!(sample.rss_bytes, 100 * rustix::param::page_size() as u64);
        assert_eq!((sample.read_bytes, sample.write_bytes), (Some(4096), Some(8192)));
        assert_eq!(parse_process(stat, "").unwrap().read_bytes, None);
        assert!(parse_process("", "").is_none());
    }

    #[test]
    fn the_switches_of_a_process_are_those_of_its_threads() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(parse_switches(status), Some((7, 2)));
        assert_eq!(parse_switches("Name:\tx\n"), None);
        // The switches of a thread go with it, and other tests end theirs at any moment.
        let grows = || {
            let before = switches(std::process::id()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(1));
            switches(std::process::id()).unwrap().0 > before.0
        };
        assert!((0..100).any(|_| grows()));
        assert!(process_with_switches(std::process::id()).unwrap().voluntary_switches.is_some());
    }

    #[test]
    fn the_line_of_all_cpus_is_read_in_seconds() {
        let stat = "cpu  100 2 300 400 5 6 7 8 0 0\ncpu0 1 1 1 1 1 1 1 1 0 0\nctxt 12345\n";
        let (cpu, switches) = parse_stat(stat, 100.0);
        assert_eq!((cpu.user, cpu.system, cpu.steal), (1.0, 3.0, 0.08));
        assert_eq!(switches, 12345);
    }

    #[test]
    fn disks_are_read_in_bytes_and_seconds_and_unused_ones_left_out() {
        let text = "   8       0 sda 10 1 16 5 20 2 32 6 0 1500 11\n\
                    7 0 loop0 0 0 0 0 0 0 0 0 0 0 0\n";
        let disks = parse_disks(text);
        assert_eq!(disks.len(), 1);
        let expected = DiskSample {
            reads: 10,
            read_bytes: 16 * 512,
            writes: 20,
            write_bytes: 32 * 512,
            busy_s: 1.5,
        };
        assert_eq!(disks["sda"], expected);
    }

    #[test]
    fn this_machine_and_this_process_can_be_read() {
        let host = host();
        assert!(host.cpu.idle + host.cpu.user > 0.0 && host.context_switches > 0);
        let client = this_process().unwrap();
        assert!(client.rss_bytes > 0 && client.threads > 0 && client.voluntary_switches.is_some());
        assert!(process(u32::MAX).is_none());
    }
}
