//! Unpacking, a step at a time, so that all before a damaged place is had.

use zlib_rs::{Inflate, InflateFlush, Status};
use zstd::stream::raw::{InBuffer, Operation, OutBuffer};

use crate::message::Compression;

/// The window of RFC 1951, and 16 for gzip's header instead of zlib's (inflateInit2 in zlib's manual).
const WINDOW_BITS: u8 = 15 + 16;

/// What one step came to.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Step {
    pub taken: usize,
    pub given: usize,
    /// What is wrong with the data after what was given.
    pub damage: Option<String>,
}

pub enum Unpacker {
    Plain,
    Gzip {
        inflate: Box<Inflate>,
        /// Between two members, where the data may end.
        is_between: bool,
        has_ended_one: bool,
    },
    Zstd {
        decoder: Box<zstd::stream::raw::Decoder<'static>>,
        /// Between two frames, where the data may end.
        is_between: bool,
    },
}

impl Unpacker {
    pub fn new(compression: Compression) -> std::io::Result<Self> {
        Ok(match compression {
            Compression::None => Self::Plain,
            Compression::Gzip => {
                let inflate = Box::new(Inflate::new(true, WINDOW_BITS));
                Self::Gzip { inflate, is_between: false, has_ended_one: false }
            }
            Compression::Zstd => {
                let decoder = Box::new(zstd::stream::raw::Decoder::new()?);
                Self::Zstd { decoder, is_between: false }
            }
        })
    }

    /// Whether the data may end here.
    pub fn may_end(&self) -> bool {
        match self {
            Self::Plain => true,
            Self::Gzip { is_between, .. } | Self::Zstd { is_between, .. } => *is_between,
        }
    }

    /// Unpacks some of `input`, which is not empty, into `output`. A step that neither takes nor gives
    /// needs more input.
    pub fn step(&mut self, input: &[u8], output: &mut [u8]) -> Step {
        match self {
            Self::Plain => {
                let count = input.len().min(output.len());
                output[..count].copy_from_slice(&input[..count]);
                Step { taken: count, given: count, damage: None }
            }
            Self::Gzip { inflate, is_between, has_ended_one } => {
                if *is_between {
                    if *has_ended_one && input[0] != 0x1f {
                        return after_last_member(input);
                    }
                    **inflate = Inflate::new(true, WINDOW_BITS);
                    *is_between = false;
                }
                let (taken, given) = (inflate.total_in(), inflate.total_out());
                let result = inflate.decompress(input, output, InflateFlush::NoFlush);
                if matches!(result, Ok(Status::StreamEnd)) {
                    (*is_between, *has_ended_one) = (true, true);
                }
                Step {
                    taken: (inflate.total_in() - taken) as usize,
                    given: (inflate.total_out() - given) as usize,
                    damage: result.err().map(|_| {
                        let why = inflate.error_message().unwrap_or("unknown");
                        format!("the gzip data are damaged ({why})")
                    }),
                }
            }
            Self::Zstd { decoder, is_between } => {
                let mut input = InBuffer::around(input);
                let mut output = OutBuffer::around(output);
                let result = decoder.run(&mut input, &mut output);
                *is_between = matches!(result, Ok(0));
                Step {
                    taken: input.pos(),
                    given: output.pos(),
                    damage: result
                        .err()
                        .map(|error| format!("the zstd data are damaged ({error})")),
                }
            }
        }
    }
}

/// Zeros after the last member are padding, as of a tape (gzip's manual, "Tapes").
fn after_last_member(input: &[u8]) -> Step {
    let padding = input.iter().take_while(|&&byte| byte == 0).count();
    let damage =
        (padding < input.len()).then(|| "after the gzip data something else follows".to_owned());
    Step { taken: padding, given: 0, damage }
}
