//! The CPUs that this process may use.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Numbers of the allowed CPUs (taskset, cgroup cpusets), ascending; never empty.
pub fn allowed() -> Vec<usize> {
    let set = sched_getaffinity(None).unwrap_or_else(|_| CpuSet::new());
    let cpus: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect();
    if cpus.is_empty() { vec![0] } else { cpus }
}

/// Keeps the calling thread on one CPU. A refusal is no error: the load runs unpinned.
pub fn pin_to(cpu: usize) -> bool {
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).is_ok()
}
