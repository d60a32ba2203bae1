//! What this process has used so far.

use serde::Serialize;

/// CPU time in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct CpuSeconds {
    pub user_s: f64,
    pub system_s: f64,
}

impl CpuSeconds {
    pub fn since(self, earlier: CpuSeconds) -> CpuSeconds {
        CpuSeconds {
            user_s: self.user_s - earlier.user_s,
            system_s: self.system_s - earlier.system_s,
        }
    }

    pub fn plus(self, other: CpuSeconds) -> CpuSeconds {
        CpuSeconds { user_s: self.user_s + other.user_s, system_s: self.system_s + other.system_s }
    }

    pub fn times(self, factor: f64) -> CpuSeconds {
        CpuSeconds { user_s: self.user_s * factor, system_s: self.system_s * factor }
    }
}

/// Counters of this process over all its threads, ended ones included.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub cpu: CpuSeconds,
    pub voluntary_switches: u64,
    pub involuntary_switches: u64,
}

impl Usage {
    #[allow(unsafe_code)]
    pub fn now() -> Self {
        let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: getrusage fills the struct it is given; RUSAGE_SELF is always valid, and a
        // zeroed rusage is a valid value even if it did not.
        let usage = unsafe {
            libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
            usage.assume_init()
        };
        Self {
            cpu: CpuSeconds { user_s: seconds(usage.ru_utime), system_s: seconds(usage.ru_stime) },
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

/// The largest resident memory of this program so far. getrusage would give the memory of the
/// process that started it when that was larger: its `ru_maxrss` survives exec.
pub fn peak_rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// The CPU clock of any process, user and system time together, in steps of nanoseconds; ended threads included.
#[allow(unsafe_code)]
pub fn cpu_clock_s(pid: u32) -> Option<f64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls only write to the variable that they are given.
    let read = unsafe {
        libc::clock_getcpuclockid(pid as libc::pid_t, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    read.then(|| time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_grows_with_memory_that_is_touched() {
        let before = peak_rss_bytes().unwrap();
        let touched = std::hint::black_box(vec![1u8; 64 << 20]);
        assert!(peak_rss_bytes().unwrap() >= before.max(touched.len() as u64));
    }
}
