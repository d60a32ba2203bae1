//! A program in a private root: what it sees, who it is, and what becomes of it.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(10);
const NOBODY: u32 = 65534;

/// The programs that the tests run inside.
const PROGRAMS: [&str; 3] = ["sh", "cat", "sleep"];

/// A folder with a root in it, and with an agent that every user may execute.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let place = Self(std::env::temp_dir().join(format!("agent-{name}-{}", std::process::id())));
        fs::create_dir(&place.0).unwrap();
        copy(Path::new(env!("CARGO_BIN_EXE_mydyno-agent")), &place.agent());
        place
    }

    /// With a root of programs of this machine and the libraries that they are linked with.
    fn with_root(name: &str) -> Self {
        let place = Self::new(name);
        let root = place.root();
        for folder in ["usr/bin", "usr/lib", "usr/lib64", "etc"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        for link in ["bin", "lib", "lib64"] {
            symlink(format!("usr/{link}"), root.join(link)).unwrap();
        }
        fs::write(root.join("etc/mark"), "private").unwrap();
        for program in PROGRAMS {
            let path = Path::new("/usr/bin").join(program);
            copy(&path, &root.join("usr/bin").join(program));
            for library in libraries(&path) {
                let place = root.join(library.strip_prefix("/").unwrap());
                fs::create_dir_all(place.parent().unwrap()).unwrap();
                copy(&library, &place);
            }
        }
        place
    }

    fn root(&self) -> PathBuf {
        self.0.join("root")
    }

    fn agent(&self) -> PathBuf {
        self.0.join("agent")
    }

    /// The agent that is to become `command`.
    fn within(&self, options: &[&str], command: &[&str]) -> Command {
        let mut agent = Command::new(self.agent());
        agent.arg("within").arg(self.root()).args(options).arg("--").args(command);
        agent
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        fs::remove_dir_all(&self.0).unwrap();
    }
}

/// Copied by a separate process: a descriptor that this one had open for writing would be inherited by what
/// other tests start just then, and a program that a process may write to is not executed (ETXTBSY).
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg(from).arg(to).status().unwrap().success());
}

/// What the loader would map, as ldd(1) prints it.
fn libraries(program: &Path) -> Vec<PathBuf> {
    let output = Command::new("ldd").arg(program).output().unwrap().stdout;
    let output = String::from_utf8(output).unwrap();
    output.split_whitespace().filter(|word| word.starts_with('/')).map(PathBuf::from).collect()
}

fn is_root() -> bool {
    let root = rustix::process::geteuid().is_root();
    if !root {
        eprintln!("skipped: another user can be chosen by root only");
    }
    root
}

/// Whether ordinary users may make namespaces on this machine.
fn ordinary_users_may() -> bool {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-current-user", "--mount", "true"]);
    let may = as_ordinary(&mut unshare).output().is_ok_and(|output| output.status.success());
    if !may {
        eprintln!("skipped: this machine gives ordinary users no namespaces");
    }
    may
}

fn as_ordinary(command: &mut Command) -> &mut Command {
    if rustix::process::geteuid().is_root() { command.uid(NOBODY).gid(NOBODY) } else { command }
}

fn said(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn complaint(output: &Output) -> String {
    assert!(!output.status.success());
    String::from_utf8(output.stderr.clone()).unwrap()
}

const LOOK_AROUND: &str = "cat /etc/mark; test -e /usr/bin/env || echo ' no env'; cat \"$1\"";

#[test]
fn the_program_sees_the_roots_files_and_the_machines_everything_else() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("sees");
    let outside = place.0.join("outside");
    fs::write(&outside, "machine's").unwrap();
    let before = fs::read_to_string("/proc/self/mountinfo").unwrap();
    let mut agent =
        place.within(&[], &["/bin/sh", "-c", LOOK_AROUND, "sh", outside.to_str().unwrap()]);
    assert_eq!(said(&agent.output().unwrap()), "private no env\nmachine's");
    assert_eq!(fs::read_to_string("/proc/self/mountinfo").unwrap(), before);
}

#[test]
fn an_ordinary_user_sees_the_same_and_stays_who_it_is() {
    if !ordinary_users_may() {
        return;
    }
    let place = Place::with_root("ordinary");
    let outside = place.0.join("outside");
    fs::write(&outside, "machine's").unwrap();
    let look = format!("{LOOK_AROUND}; cat /proc/self/status");
    let mut agent =
        place.within(&[], &["/usr/bin/sh", "-c", &look, "sh", outside.to_str().unwrap()]);
    let text = said(&as_ordinary(&mut agent).output().unwrap());
    assert!(text.starts_with("private no env\nmachine's"), "{text}");
    let uid = if rustix::process::geteuid().is_root() {
        NOBODY
    } else {
        rustix::process::geteuid().as_raw()
    };
    assert!(text.contains(&format!("Uid:\t{uid}\t{uid}\t{uid}\t{uid}\n")), "{text}");
    assert!(text.contains("CapEff:\t0000000000000000\n"), "{text}");
}

#[test]
fn the_system_files_of_a_root_cannot_be_written() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("read-only");
    let output = place.within(&[], &["/bin/sh", "-c", "echo x > /etc/mark"]).output().unwrap();
    assert!(complaint(&output).contains("Read-only file system"));
    assert_eq!(fs::read_to_string(place.root().join("etc/mark")).unwrap(), "private");
}

#[test]
fn root_chooses_the_user_and_the_groups_of_root_are_gone() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("user");
    let text = said(
        &place
            .within(&["--user", "65534:65533"], &["/bin/cat", "/proc/self/status"])
            .output()
            .unwrap(),
    );
    for line in
        ["Uid:\t65534\t65534\t65534\t65534\n", "Gid:\t65533\t65533\t65533\t65533\n", "Groups:\t \n"]
    {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn the_root_may_lie_where_that_user_may_not_go() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("closed");
    fs::set_permissions(&place.0, fs::Permissions::from_mode(0o700)).unwrap();
    let output =
        place.within(&["--user", "65534:65534"], &["/bin/cat", "/etc/mark"]).output().unwrap();
    assert_eq!(said(&output), "private");
}

#[test]
fn the_process_is_the_program_and_gets_its_signals() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("signal");
    let mut process =
        place.within(&["--user", "65534:65534"], &["/bin/sleep", "1000"]).spawn().unwrap();
    let name = format!("/proc/{}/comm", process.id());
    let deadline = Instant::now() + PATIENCE;
    while fs::read_to_string(&name).unwrap() != "sleep\n" {
        assert!(Instant::now() < deadline, "it does not become the program");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&process);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(process.wait().unwrap().signal(), Some(libc::SIGTERM));
}

#[test]
fn the_program_dies_with_the_one_that_started_it() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("parent");
    let script = "\"$@\" & echo $!; wait";
    let mut parent = Command::new("sh");
    parent.args(["-c", script, "sh"]).arg(place.agent()).arg("within").arg(place.root());
    parent.args(["--user", "65534:65534", "--", "/bin/sh", "-c", "echo up; exec sleep 1000"]);
    let mut parent = parent.stdout(Stdio::piped()).spawn().unwrap();
    let out = std::io::BufReader::new(parent.stdout.take().unwrap());
    let lines: Vec<String> = std::io::BufRead::lines(out).take(2).map(Result::unwrap).collect();
    let pid = lines.iter().find(|line| *line != "up").unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    let deadline = Instant::now() + PATIENCE;
    while lives(pid) {
        assert!(Instant::now() < deadline, "{pid} lives on");
        std::thread::yield_now();
    }
}

/// A process that has ended and that no process has waited for does not live.
fn lives(pid: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/stat"))
        .is_ok_and(|stat| !stat.rsplit(')').next().unwrap().starts_with(" Z"))
}

#[test]
fn libraries_of_the_machine_are_not_asked_for_inside() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("loader");
    let mut agent =
        place.within(&[], &["/bin/sh", "-c", "echo \"$LD_LIBRARY_PATH$LD_PRELOAD$KEPT\""]);
    let output = agent.env("LD_LIBRARY_PATH", "/opt/lib").env("KEPT", "kept").output().unwrap();
    assert_eq!(said(&output), "kept\n");
}

#[test]
fn a_folder_that_is_no_root_is_refused() {
    let place = Place::new("none");
    let complain = || complaint(&place.within(&[], &["/bin/true"]).output().unwrap());
    assert!(complain().contains("root is not a private root: it has no folder usr"));
    fs::create_dir_all(place.root().join("usr")).unwrap();
    assert!(complain().contains("it has no folder etc"));
    fs::create_dir(place.root().join("etc")).unwrap();
    fs::create_dir(place.root().join("lib")).unwrap();
    assert!(complain().contains("lib is a separate folder there, and not a link to usr/lib"));
}

#[test]
fn a_program_that_is_not_there_or_for_another_processor_is_named() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("program");
    let complain = |program| complaint(&place.within(&[], &[program]).output().unwrap());
    assert!(complain("/usr/sbin/mysqld").contains("/usr/sbin/mysqld in "));
    assert!(
        complain("/usr/sbin/mysqld")
            .contains("it is not there, or the loader that it names is not")
    );
    let mut program = fs::read(place.root().join("usr/bin/cat")).unwrap();
    // e_machine of the ELF header: a processor that does not exist.
    program[18..20].copy_from_slice(&[0xfe, 0xca]);
    fs::write(place.0.join("foreign"), program).unwrap();
    copy(&place.0.join("foreign"), &place.root().join("usr/bin/cat"));
    assert!(complain("/bin/cat").contains("it is not a program for this machine's processor"));
}

#[test]
fn an_ordinary_user_is_shown_when_another_user_is_asked_for() {
    let place = Place::with_root("other-user");
    let mut agent = place.within(&["--user", "0:0"], &["/bin/true"]);
    let text = complaint(&as_ordinary(&mut agent).output().unwrap());
    assert!(text.contains("only root may run a program as another user"), "{text}");
}

/// The kernel gives no user namespace to a process in a changed root (user_namespaces(7)), whatever else
/// it allows.
#[test]
fn an_ordinary_user_is_shown_when_the_kernel_forbids_namespaces() {
    if !is_root() {
        return;
    }
    let place = Place::with_root("forbidden");
    let changed = place.0.join("changed");
    fs::create_dir(&changed).unwrap();
    let script = "mount --rbind / \"$1\" && exec chroot --userspec=65534:65534 \"$1\" \"$2\" within \"$3\" -- /bin/true";
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"]);
    let text =
        complaint(&unshare.arg(changed).arg(place.agent()).arg(place.root()).output().unwrap());
    assert!(text.contains("this machine gives an ordinary user no namespace"), "{text}");
    assert!(text.contains("sysctl user.max_user_namespaces above 0"), "{text}");
}

#[test]
fn words_that_make_no_sense_are_answered_with_the_usage() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_mydyno-agent")).args(["within", "/r"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        complaint(&output).contains("mydyno-agent within ROOT [--user UID:GID] -- PROGRAM ARGS")
    );
}
