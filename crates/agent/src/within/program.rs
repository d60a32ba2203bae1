//! Executing a program in this very process.

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::io;
use std::iter::once;
use std::os::unix::ffi::OsStringExt;

/// Where a dynamic loader would find the machine's own libraries.
const LOADER_VARIABLES: [&str; 2] = ["LD_LIBRARY_PATH", "LD_PRELOAD"];

/// Becomes the program at the path `program`. Unlike the C library's execvp, which std uses, it never
/// takes a program for another processor for a script of the shell.
#[allow(unsafe_code)]
pub fn execute(program: &str, arguments: &[&str]) -> io::Result<Infallible> {
    let path = CString::new(program)?;
    let argv = once(Ok(path.clone())).chain(arguments.iter().map(|&each| CString::new(each)));
    let argv = argv.collect::<Result<Vec<_>, _>>()?;
    let kept =
        std::env::vars_os().filter(|(name, _)| LOADER_VARIABLES.iter().all(|each| name != each));
    let environment = kept.map(|(name, value)| CString::new(assignment(name, value)));
    let environment = environment.collect::<Result<Vec<_>, _>>()?;
    // SAFETY: both lists end with a null and point to strings that live until the call returns. The
    // signal is one that Rust's start has changed; nothing here handles it.
    unsafe {
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        libc::execve(path.as_ptr(), pointers(&argv).as_ptr(), pointers(&environment).as_ptr());
    }
    Err(io::Error::last_os_error())
}

fn assignment(name: OsString, value: OsString) -> Vec<u8> {
    [name.into_vec(), value.into_vec()].join(&b'=')
}

fn pointers(strings: &[CString]) -> Vec<*const libc::c_char> {
    strings.iter().map(|each| each.as_ptr()).chain(once(std::ptr::null())).collect()
}
