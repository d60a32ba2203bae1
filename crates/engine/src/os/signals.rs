//! SIGINT and SIGTERM as events, and the parent's death as an end.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::process::{Signal, getppid, set_parent_process_death_signal};

use crate::failure::{Fatal, FatalCode};

/// Set once the run is to stop early.
pub static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Exit status after a second signal, as a shell reports an interrupted program.
const INTERRUPTED_STATUS: i32 = 130;

/// Holds SIGINT and SIGTERM back in this thread and in all that it starts later.
/// Call it before any thread is started.
#[allow(unsafe_code)]
pub fn hold_back() -> libc::sigset_t {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set; the calls only read or fill it.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGINT);
        libc::sigaddset(set.as_mut_ptr(), libc::SIGTERM);
        let set = set.assume_init();
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        set
    }
}

/// Starts the thread that waits for a signal and then calls `notify`. A second signal ends the
/// process at once.
pub fn watch(set: libc::sigset_t, notify: impl Fn() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("signals".into()).spawn(move || {
        wait(&set);
        INTERRUPTED.store(true, Ordering::SeqCst);
        notify();
        wait(&set);
        std::process::exit(INTERRUPTED_STATUS);
    })?;
    Ok(())
}

#[allow(unsafe_code)]
fn wait(set: &libc::sigset_t) {
    let mut signal = 0;
    // SAFETY: both pointers are valid for the call; the set was made by `hold_back`.
    while unsafe { libc::sigwait(set, &mut signal) } != 0 {}
}

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Asks the kernel to kill this process when the thread that started it is gone.
pub fn die_with_parent() -> Result<(), Fatal> {
    let failed = |reason: String| {
        Fatal::new(FatalCode::Internal, format!("cannot follow the parent process: {reason}"))
    };
    let parent = getppid();
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(|e| failed(e.to_string()))?;
    // The parent may have died before the request was in force.
    if getppid() != parent {
        return Err(failed("it has ended".to_owned()));
    }
    Ok(())
}
