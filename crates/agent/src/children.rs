//! Processes that were started here: each in a separate process group, none outliving the agent.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};

use crate::request::{Refusal, Start, User};
use crate::streams::never_wait;

pub struct Children {
    numbers: HashMap<i32, u32>,
    /// A variable that every process has in its environment.
    mark: Option<(OsString, OsString)>,
}

/// The agent's ends of a started process's pipes.
#[derive(Default)]
pub struct Pipes {
    pub stdin: Option<OwnedFd>,
    pub stdout: Option<OwnedFd>,
    pub stderr: Option<OwnedFd>,
}

impl Children {
    pub fn marked(mark: Option<(OsString, OsString)>) -> Self {
        Self { numbers: HashMap::new(), mark }
    }

    /// Starts the process of this number; `input` is what its standard input holds when it has no stream.
    ///
    /// To be called from the thread that lives as long as the agent: the kernel kills the process
    /// when the thread that started it ends.
    pub fn start(
        &mut self,
        number: u32,
        start: &Start,
        input: &[u8],
        held: &[BorrowedFd<'_>],
    ) -> Result<(u32, Pipes), Refusal> {
        let Some((program, arguments)) = start.argv.split_first() else {
            return Err(io::Error::from_raw_os_error(libc::EINVAL).into());
        };
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(&start.env).current_dir(&start.cwd);
        command.envs(self.mark.iter().map(|(name, value)| (name, value)));
        let pipes = connect(&mut command, start, input)?;
        prepare(&mut command, start.user, held);
        // The handle is dropped: the server reaps all children by itself.
        let child = command.spawn().map_err(|error| Refusal {
            program: matches!(error.raw_os_error(), Some(libc::ENOENT | libc::EACCES)),
            ..error.into()
        })?;
        self.numbers.insert(child.id() as i32, number);
        Ok((child.id(), pipes))
    }

    pub fn signal(&self, number: u32, signal: i32) -> io::Result<()> {
        let Some((&pid, _)) = self.numbers.iter().find(|&(_, &each)| each == number) else {
            return Ok(());
        };
        send(pid, signal)
    }

    /// Every process that has ended since: its number and its code, negative for a signal. Orphans
    /// that came to this process are reaped and not reported.
    pub fn reap(&mut self) -> Vec<(u32, i32)> {
        let mut ended = Vec::new();
        while let Ok(Some((pid, status))) = rustix::process::wait(WaitOptions::NOHANG) {
            if let Some(number) = self.numbers.remove(&pid.as_raw_nonzero().get()) {
                ended.push((number, code(status)));
            }
        }
        ended
    }
}

/// A file that can be read when a child has ended.
#[allow(unsafe_code)]
pub fn end_signals() -> io::Result<OwnedFd> {
    let mut set = std::mem::MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: sigemptyset initialises the set, the calls only read or fill it; a descriptor that
    // signalfd gives is for no other process.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::pthread_sigmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        let file = libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if file < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(file))
    }
}

fn connect(command: &mut Command, start: &Start, input: &[u8]) -> io::Result<Pipes> {
    let mut pipes = Pipes::default();
    if start.stdin.is_some() {
        let (reader, writer) = pipe()?;
        never_wait(&writer)?;
        pipes.stdin = Some(writer);
        command.stdin(reader);
    } else if start.bytes > 0 {
        command.stdin(spooled(input)?);
    } else {
        command.stdin(Stdio::null());
    }
    if let Some(path) = &start.output {
        let log = OpenOptions::new().append(true).create(true).open(path)?;
        command.stdout(log.try_clone()?).stderr(log);
        return Ok(pipes);
    }
    command.stdout(Stdio::null()).stderr(Stdio::null());
    if start.stdout.is_some() {
        let (reader, writer) = pipe()?;
        never_wait(&reader)?;
        pipes.stdout = Some(reader);
        command.stdout(writer);
    }
    if start.stderr.is_some() {
        let (reader, writer) = pipe()?;
        never_wait(&reader)?;
        pipes.stderr = Some(reader);
        command.stderr(writer);
    }
    Ok(pipes)
}

fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    Ok(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?)
}

/// An anonymous file, read from its beginning.
fn spooled(content: &[u8]) -> io::Result<OwnedFd> {
    let file = hold(content)?;
    rustix::fs::seek(&file, rustix::fs::SeekFrom::Start(0))?;
    Ok(file)
}

/// Content as a file that is on no disk.
pub fn hold(content: &[u8]) -> io::Result<OwnedFd> {
    let file = rustix::fs::memfd_create("held", rustix::fs::MemfdFlags::CLOEXEC)?;
    let mut file = fs::File::from(file);
    file.write_all(content)?;
    Ok(file.into())
}

/// What happens in the child before it becomes the program.
#[allow(unsafe_code)]
fn prepare(command: &mut Command, user: Option<User>, held: &[BorrowedFd<'_>]) {
    let held: Vec<RawFd> = held.iter().map(AsRawFd::as_raw_fd).collect();
    let parent = rustix::process::getpid();
    let become_program = move || {
        // No session: the kernel shares the CPUs out between sessions (sched(7), "The autogroup feature").
        rustix::process::setpgid(None, None)?;
        if let Some(User { uid, gid }) = user {
            change_user(uid, gid)?;
        }
        // A change of user clears this wish, so it comes after; and it says nothing when the agent
        // is dead already.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(parent) {
            return Err(io::Error::from_raw_os_error(libc::ESRCH));
        }
        for &file in &held {
            // SAFETY: the descriptor was open when the child was forked, and only the flag of the
            // child's copy is changed.
            if unsafe { libc::fcntl(file, libc::F_SETFD, 0) } != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: only system calls are made between fork and exec; nothing is allocated.
    unsafe { command.pre_exec(become_program) };
}

/// Supplementary groups are cleared.
#[allow(unsafe_code)]
pub(crate) fn change_user(uid: u32, gid: u32) -> io::Result<()> {
    // SAFETY: system calls without pointers to anything but an empty list.
    let done = unsafe {
        libc::syscall(libc::SYS_setgroups, 0, std::ptr::null::<libc::gid_t>()) == 0
            && libc::syscall(libc::SYS_setresgid, gid, gid, gid) == 0
            && libc::syscall(libc::SYS_setresuid, uid, uid, uid) == 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn send(pid: i32, signal: i32) -> io::Result<()> {
    let unknown = || io::Error::from_raw_os_error(libc::EINVAL);
    let signal = Signal::from_named_raw(signal).ok_or_else(unknown)?;
    let pid = Pid::from_raw(pid).ok_or_else(unknown)?;
    // SIGKILL means the end of what was started, so what it has started goes with it.
    let sent = if signal == Signal::KILL {
        rustix::process::kill_process_group(pid, signal)
    } else {
        rustix::process::kill_process(pid, signal)
    };
    match sent {
        Err(rustix::io::Errno::SRCH) => Ok(()),
        other => Ok(other?),
    }
}

/// Kills every descendant: those of PID 1 are all there are, others come here as their parents go.
pub fn end_all() {
    if rustix::process::getpid().is_init() {
        rustix::process::kill_process_group(Pid::INIT, Signal::KILL).ok();
        kill_everything();
    }
    loop {
        for pid in children_of(rustix::process::getpid()) {
            rustix::process::kill_process_group(pid, Signal::KILL).ok();
            rustix::process::kill_process(pid, Signal::KILL).ok();
        }
        if rustix::process::wait(WaitOptions::empty()).is_err() {
            return;
        }
    }
}

#[allow(unsafe_code)]
fn kill_everything() {
    // SAFETY: a system call on numbers; -1 is every process but this one.
    unsafe { libc::kill(-1, libc::SIGKILL) };
}

fn children_of(parent: Pid) -> Vec<Pid> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .flatten()
        .filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
        .filter(|&pid| parent_of(pid) == Some(parent))
        .collect()
}

/// Field 4 of /proc/PID/stat, behind a name in parentheses that may hold anything.
fn parent_of(pid: Pid) -> Option<Pid> {
    let text = fs::read(format!("/proc/{}/stat", pid.as_raw_nonzero())).ok()?;
    let name_end = text.iter().rposition(|&byte| byte == b')')?;
    let rest = std::str::from_utf8(&text[name_end + 1..]).ok()?;
    Pid::from_raw(rest.split_whitespace().nth(1)?.parse().ok()?)
}

fn code(status: WaitStatus) -> i32 {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => code,
        (None, Some(signal)) => -signal,
        (None, None) => -libc::SIGKILL,
    }
}
