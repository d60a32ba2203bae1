//! The first process of a guest: prepares the machine as its configuration says, serves, powers off.
//!
//! The kernel starts it (`init=` or, in an initial RAM disk, `rdinit=`) with the words behind `--`
//! of the kernel's command line: `mydyno-agent init CONFIG`. The order: /proc, /sys and /dev; kernel
//! modules; the root file system, when it is another than the one that the kernel has mounted;
//! tmpfs on /run, /tmp and /var/tmp; shared folders; the loopback network; the channel.

mod channel;
mod config;
mod machine;
mod modules;
mod mounts;

use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::ExitCode;

use crate::server::{Ending, Limits, serve};
use config::Config;

/// Never returns in a guest: it powers off, whatever happens, with the reason on the console.
pub fn run(config: &Path) -> ExitCode {
    if !rustix::process::getpid().is_init() {
        eprintln!("mydyno-agent: init is for the first process of a guest; this is none");
        return ExitCode::FAILURE;
    }
    let shares = match prepare(config) {
        Ok((config, channel)) => {
            let limits = Limits { window: config.channel.window(), ..Limits::default() };
            match serve(&channel, &channel, limits) {
                Ok(Ending::Closed | Ending::PowerOff | Ending::Silent) => {}
                Ok(Ending::Malformed(what)) => eprintln!("mydyno-agent: malformed: {what}"),
                Err(error) => eprintln!("mydyno-agent: {error}"),
            }
            config.shares
        }
        Err(problem) => {
            eprintln!("mydyno-agent: {problem}");
            Vec::new()
        }
    };
    for share in &shares {
        mounts::write_back(&share.target);
    }
    let problem = machine::power_off();
    eprintln!("mydyno-agent: the guest does not power off: {problem}");
    ExitCode::FAILURE
}

fn prepare(path: &Path) -> Result<(Config, OwnedFd), String> {
    rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o022));
    let config = config::read(path)?;
    mounts::kernel_file_systems()?;
    for module in &config.modules {
        modules::load(module)?;
    }
    let programs = match &config.programs {
        Some(programs) => Some((mounts::take_up(programs)?, programs)),
        None => None,
    };
    match &config.root {
        Some(root) => mounts::move_into(root)?,
        None => mounts::without_setuid("/")?,
    }
    mounts::temporary_folders()?;
    if let Some((folder, programs)) = programs {
        mounts::put_down(&folder, programs)?;
    }
    for share in &config.shares {
        mounts::share(share)?;
    }
    machine::bring_loopback_up().map_err(|error| format!("lo does not come up: {error}"))?;
    if let Some(name) = &config.hostname {
        rustix::system::sethostname(name.as_bytes())
            .map_err(|error| format!("the host name {name:?} was refused: {error}"))?;
    }
    let channel = channel::open(&config.channel)?;
    Ok((config, channel))
}
