//! Loading kernel modules from plain files: no index, no decompression.

use std::ffi::CStr;
use std::fs::File;
use std::path::Path;

use rustix::io::Errno;

pub fn load(path: &Path) -> Result<(), String> {
    let named = |problem: &dyn std::fmt::Display| format!("module {}: {problem}", path.display());
    let file = File::open(path).map_err(|error| named(&error))?;
    let no_parameters: &CStr = c"";
    match rustix::system::finit_module(&file, no_parameters, 0) {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(named(&error)),
    }
}
