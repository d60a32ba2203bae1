//! What a guest is given, as a JSON file. docs/reference/agent-protocol.md shows one of each kind.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::server::TTY_WINDOW;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Kernel modules to load, in this order; a module that is loaded or built in already is not an error.
    #[serde(default)]
    pub modules: Vec<PathBuf>,
    /// The root to move into; without it the one that the kernel has mounted stays.
    pub root: Option<Root>,
    /// What is to stay reachable in the new root.
    pub programs: Option<Programs>,
    #[serde(default)]
    pub shares: Vec<Share>,
    pub channel: Channel,
    pub hostname: Option<String>,
}

/// A read-only file system on a block device, under a tmpfs that takes all changes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    pub device: PathBuf,
    pub filesystem: String,
}

/// A folder of the first root, where mydyno's own programs came along.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    pub source: PathBuf,
    pub target: PathBuf,
}

/// A folder of the machine that the guest runs on.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// `hostfs` or `9p`.
    pub filesystem: String,
    /// The folder there for hostfs, the mount tag for 9p.
    pub source: String,
    pub target: PathBuf,
    /// Mount data, comma-separated, as mount(2) takes it.
    #[serde(default)]
    pub options: String,
    pub read_only: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Channel {
    /// A terminal, made raw: /dev/ttyS0.
    Tty(PathBuf),
    /// The virtio serial port of this name.
    VirtioPort(String),
}

impl Channel {
    pub fn window(&self) -> Option<usize> {
        match self {
            Self::Tty(_) => Some(TTY_WINDOW),
            Self::VirtioPort(_) => None,
        }
    }
}

pub fn read(path: &Path) -> Result<Config, String> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_slice(&text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_protocol_page_are_read() {
        let page = include_str!("../../../../docs/reference/agent-protocol.md");
        let examples: Vec<&str> = page
            .split("```json guest\n")
            .skip(1)
            .map(|rest| rest.split("```").next().unwrap())
            .collect();
        assert_eq!(examples.len(), 2);
        for example in examples {
            let config: Config = serde_json::from_str(example).unwrap();
            assert!(!config.shares.is_empty());
        }
    }

    #[test]
    fn an_unknown_key_is_refused() {
        let text = r#"{"channel": {"tty": "/dev/ttyS0"}, "swap": true}"#;
        assert!(serde_json::from_str::<Config>(text).unwrap_err().to_string().contains("swap"));
    }
}
