//! What the workers take turns at: the sources, one after the other, chunk by chunk.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Counters, Job};
use crate::chunk::{Chunk, Chunks};
use crate::context::Context;
use crate::import::Format;
use crate::message::Compression;

use crate::problem::ProblemKind;
use crate::recognise::{Recognised, recognise, server};
use crate::source::repeated::{Identity, Repetition};
use crate::source::{End, Refusal, Source, Trouble};
use crate::stop::Stop;

pub struct Reader<'a> {
    job: &'a Job,
    stop: &'a Stop,
    counters: &'a Counters,
    /// What is known of each source that was begun.
    read: Vec<ReadSource>,
    /// Of each of them that was opened.
    identities: Vec<Option<Identity>>,
    chunks: Option<Chunks<'a>>,
    turns: u64,
    /// What the next chunk takes from those before it.
    context: Option<Receiver<Context>>,
}

/// What reading a source came to, whatever was in it.
#[derive(Debug)]
pub struct ReadSource {
    pub compression: Compression,
    /// What it is an export of, in whose places nobody can look anything up.
    pub format: Option<Format>,
    /// What the server called itself at its beginning.
    pub server: Option<String>,
    /// Unpacked.
    pub bytes: u64,
    /// Whether its beginning looks like a slow log's.
    pub is_recognised: bool,
    /// Why its end was not reached, or nothing was read.
    pub problem: Option<(ProblemKind, String)>,
}

/// One chunk to work on, in the buffer that was given for it.
pub struct Turn {
    /// From 0 on, over all sources.
    pub number: u64,
    pub source: usize,
    pub chunk: Chunk,
    pub before: Receiver<Context>,
    pub after: SyncSender<Context>,
}

impl<'a> Reader<'a> {
    pub fn new(job: &'a Job, stop: &'a Stop, counters: &'a Counters) -> Self {
        let read = Vec::with_capacity(job.sources.len());
        Self {
            job,
            stop,
            counters,
            read,
            identities: Vec::new(),
            chunks: None,
            turns: 0,
            context: None,
        }
    }

    /// One for each source.
    pub fn into_read(self) -> Vec<ReadSource> {
        self.read
    }

    /// The next chunk of the sources, in `buffer`; None when all are read.
    pub fn take(&mut self, buffer: &mut Vec<u8>) -> Option<Turn> {
        loop {
            let Some(chunks) = &mut self.chunks else {
                let name = self.job.sources.get(self.read.len())?;
                self.begin(name);
                continue;
            };
            let Some(chunk) = chunks.next(buffer, self.stop) else {
                self.chunks = None;
                continue;
            };
            let source = self.read.len() - 1;
            let read = &mut self.read[source];
            read.bytes += chunk.bytes as u64 + chunk.beyond.bytes;
            if let Some(End::Before(trouble)) = &chunk.end {
                read.problem = Some(problem_of(trouble));
            }
            let (after, next_before) = sync_channel(1);
            let before =
                self.context.replace(next_before).expect("a source that was begun has one");
            let number = self.turns;
            self.turns += 1;
            return Some(Turn { number, source, chunk, before, after });
        }
    }

    fn begin(&mut self, name: &str) {
        let mut read = ReadSource {
            compression: Compression::None,
            format: None,
            server: None,
            bytes: 0,
            is_recognised: false,
            problem: None,
        };
        let mut identity = None;
        match Source::open(name, self.stop, &self.counters.read_bytes) {
            Ok(source) => {
                read.compression = source.compression;
                read.format = source.format;
                read.server = server(source.head());
                match recognise(source.head()) {
                    Recognised::Other(_) if read.format.is_some() => {
                        let says = "an export without an entry of a slow log".to_owned();
                        read.problem = Some((ProblemKind::NotASlowLog, says));
                    }
                    Recognised::Other(what) => {
                        read.problem = Some((ProblemKind::NotASlowLog, what))
                    }
                    recognised => {
                        read.is_recognised = matches!(recognised, Recognised::SlowLog);
                        let this = Identity::new(&source, read.is_recognised);
                        let repeated = self.repeated(name, &this);
                        identity = Some(this);
                        if let Some(says) = repeated {
                            read.problem = Some((ProblemKind::ReadTwice, says));
                            self.read.push(read);
                            self.identities.push(None);
                            return;
                        }
                        self.chunks = Some(Chunks::new(source, self.job.sizes));
                        let (first, context) = sync_channel(1);
                        first.send(Context::default()).expect("its receiver is here");
                        self.context = Some(context);
                    }
                }
            }
            Err(refusal) => read.problem = Some(refused(refusal)),
        }
        self.read.push(read);
        self.identities.push(identity);
    }

    /// Which source before holds the same, in words.
    fn repeated(&self, name: &str, identity: &Identity) -> Option<String> {
        let before = self.job.sources.iter().zip(&self.identities);
        before.filter_map(|(other, known)| Some((other, known.as_ref()?))).find_map(
            |(other, known)| {
                Some(match identity.repeats(name, known, other, self.stop)? {
                    Repetition::SameFile => format!("it is the same file as {other}: counted once"),
                    Repetition::SameContent => {
                        format!("it holds the same as {other}: counted once")
                    }
                })
            },
        )
    }
}

fn refused(refusal: Refusal) -> (ProblemKind, String) {
    match refusal {
        Refusal::Empty => (ProblemKind::Empty, "it is empty: nothing was logged".to_owned()),
        Refusal::NotASlowLog(what) => (ProblemKind::NotASlowLog, what.to_owned()),
        Refusal::Trouble(trouble) => problem_of(&trouble),
    }
}

fn problem_of(trouble: &Trouble) -> (ProblemKind, String) {
    match trouble {
        Trouble::Unreadable(why) => (ProblemKind::Unreadable, why.clone()),
        Trouble::Broken(how) => {
            (ProblemKind::BrokenCompression, format!("{how}; all before that was read"))
        }
        Trouble::Interrupted => (
            ProblemKind::Interrupted,
            "the reading was interrupted here; all before that was read".to_owned(),
        ),
    }
}
