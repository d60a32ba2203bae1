//! `mydyno-agent within ROOT [--user UID:GID] -- PROGRAM ARGS`: becomes a program that finds the system
//! files of a private root (/usr, /etc) in place of the machine's, and everything else where it was.
//!
//! Nothing is started and nothing stays: the process goes into a separate mount namespace, covers
//! the machine's folders there, changes its user, ties its life to its parent's and executes the
//! program. So its number, its limits and its place in the process tree are the program's.

mod namespace;
mod places;
mod program;

use std::convert::Infallible;
use std::io;
use std::path::Path;

use rustix::process::Signal;

use crate::children::change_user;
use crate::request::User;

/// What the command line asks for.
#[derive(Debug, PartialEq, Eq)]
pub struct Within<'a> {
    root: &'a Path,
    user: Option<User>,
    program: &'a str,
    arguments: &'a [&'a str],
}

/// The words behind `within`; none when they are not as the usage says.
pub fn parse<'a>(words: &'a [&'a str]) -> Option<Within<'a>> {
    let (root, user, command) = match words {
        [root, "--user", user, "--", command @ ..] => (root, Some(parse_user(user)?), command),
        [root, "--", command @ ..] => (root, None, command),
        _ => return None,
    };
    let (program, arguments) = command.split_first()?;
    Some(Within { root: Path::new(root), user, program, arguments })
}

fn parse_user(text: &str) -> Option<User> {
    let (uid, gid) = text.split_once(':')?;
    Some(User { uid: uid.parse().ok()?, gid: gid.parse().ok()? })
}

impl Within<'_> {
    /// Becomes the program; returns only when it cannot, with the reason.
    pub fn become_program(&self) -> Result<Infallible, String> {
        let parent = rustix::process::getppid();
        places::check(self.root)?;
        namespace::enter(self.user)?;
        places::cover(self.root)?;
        // The folder that the process is in may be one of those that are covered.
        rustix::process::chdir("/").map_err(|error| format!("/: {error}"))?;
        if let Some(User { uid, gid }) = self.user {
            change_user(uid, gid).map_err(|error| format!("user {uid}:{gid}: {error}"))?;
        }
        // A change of user or namespace clears this wish, so it comes after; and it says nothing
        // when the parent is dead already.
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| format!("no tie to the parent's life: {error}"))?;
        if rustix::process::getppid() != parent {
            return Err("the program that started it has ended".to_owned());
        }
        program::execute(self.program, self.arguments).map_err(|error| self.refused(&error))
    }

    fn refused(&self, error: &io::Error) -> String {
        let why = match error.raw_os_error() {
            Some(libc::ENOENT) => "it is not there, or the loader that it names is not",
            Some(libc::ENOEXEC) => "it is not a program for this machine's processor",
            Some(libc::EACCES) => {
                "its file, or the file system that the root is on, allows no execution"
            }
            _ => "",
        };
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        format!("{} in {} cannot be executed ({error}){why}", self.program, self.root.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_and_its_arguments_are_what_follows_the_dashes() {
        let words = ["/r", "--", "/usr/sbin/mysqld", "--no-defaults", "--", "--user"];
        let within = parse(&words).unwrap();
        assert_eq!(within.root, Path::new("/r"));
        assert_eq!(within.user, None);
        assert_eq!(within.program, "/usr/sbin/mysqld");
        assert_eq!(within.arguments, ["--no-defaults", "--", "--user"]);
    }

    #[test]
    fn a_user_is_two_numbers() {
        let words = ["/r", "--user", "65534:65533", "--", "true"];
        assert_eq!(parse(&words).unwrap().user, Some(User { uid: 65534, gid: 65533 }));
        for wrong in ["nobody", "1", "1:", ":1", "-1:1", "1:1:1", "4294967296:1"] {
            assert_eq!(parse(&["/r", "--user", wrong, "--", "true"]), None, "{wrong}");
        }
    }

    #[test]
    fn without_a_program_there_is_nothing_to_become() {
        for words in [&["/r", "--"][..], &["/r"], &[], &["/r", "true"], &["--", "true"]] {
            assert_eq!(parse(words), None, "{words:?}");
        }
    }
}
