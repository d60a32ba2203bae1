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
}

/// Counters of this process over all its threads, ended ones included.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    pub cpu: CpuSeconds,
    /// Largest resident memory so far.
    pub peak_rss_bytes: u64,
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
            peak_rss_bytes: usage.ru_maxrss as u64 * 1024,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        }
    }
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}
