//! A trace that is read: its header and footer at once, its records one by one.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use mydyno_digest::recognise::{LOOKED_AT, Recognised, recognise};

use crate::block;
use crate::error::Error;
use crate::frame::{self, Frame, Kind, MAGIC, Trouble};
use crate::header::{FORMAT, Footer, Header};
use crate::record::Record;

/// Bytes of the file in front of its first frame, and behind its last one: the place of the footer.
pub(crate) const BEGINNING_BYTES: u64 = MAGIC.len() as u64 + 4;
pub(crate) const ENDING_BYTES: u64 = 8 + MAGIC.len() as u64;

/// A whole trace.
#[derive(Debug)]
pub struct Trace {
    path: PathBuf,
    header: Header,
    footer: Footer,
    /// Where the first block begins.
    blocks_at: u64,
}

impl Trace {
    /// Reads what the trace says of itself. An error when the file is no trace, or not a whole one.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let mut file = open(&path)?;
        must_be_a_trace(&mut file, &path)?;
        let (header, header_bytes) = read_json(&mut file, &path, BEGINNING_BYTES, 0, Kind::Header)?;
        let bytes = file.seek(SeekFrom::End(0)).map_err(|error| Error::io(&path, error))?;
        let torn = || Error::Torn { path: path.display().to_string(), at: bytes };
        let ending_at = bytes.checked_sub(ENDING_BYTES).ok_or_else(torn)?;
        seek(&mut file, &path, ending_at)?;
        let mut ending = [0; ENDING_BYTES as usize];
        file.read_exact(&mut ending).map_err(|error| Error::io(&path, error))?;
        let (place, magic) = ending.split_at(8);
        let footer_at = u64::from_le_bytes(place.try_into().expect("eight bytes"));
        if magic != MAGIC || footer_at >= ending_at {
            return Err(torn());
        }
        seek(&mut file, &path, footer_at)?;
        let mut number = [0; 5];
        file.read_exact(&mut number).map_err(|error| Error::io(&path, error))?;
        let number = u32::from_le_bytes(number[1..].try_into().expect("four bytes"));
        seek(&mut file, &path, footer_at)?;
        let (footer, _) = read_json(&mut file, &path, footer_at, number, Kind::Footer)?;
        Ok(Self { path, header, footer, blocks_at: BEGINNING_BYTES + header_bytes })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// What it comes to.
    pub fn footer(&self) -> &Footer {
        &self.footer
    }

    /// All records from the beginning on, with one block in memory.
    pub fn records(&self) -> Result<Records, Error> {
        let mut file = open(&self.path)?;
        seek(&mut file, &self.path, self.blocks_at)?;
        Ok(Records {
            path: self.path.clone(),
            file,
            at: self.blocks_at,
            number: 1,
            block: Vec::new().into_iter(),
            is_over: false,
        })
    }
}

/// The records of a trace, in the order of their instants. After an error comes nothing more.
#[derive(Debug)]
pub struct Records {
    path: PathBuf,
    file: BufReader<File>,
    at: u64,
    number: u32,
    block: std::vec::IntoIter<Record>,
    is_over: bool,
}

impl Records {
    fn next_block(&mut self) -> Result<Option<Vec<Record>>, Error> {
        let frame = frame::read(&mut self.file, self.number)
            .map_err(|trouble| of_trouble(trouble, &self.path, self.at))?;
        let at = self.at;
        self.at += frame.bytes;
        self.number += 1;
        match frame.kind {
            Kind::Block => block::read(&frame.payload)
                .map(Some)
                .ok_or_else(|| damaged(&self.path, at, "a block has no records that can be read")),
            Kind::Footer => Ok(None),
            Kind::Header => Err(damaged(&self.path, at, "a second header")),
        }
    }
}

impl Iterator for Records {
    type Item = Result<Record, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.block.next() {
                return Some(Ok(record));
            }
            if self.is_over {
                return None;
            }
            match self.next_block() {
                Ok(Some(records)) => self.block = records.into_iter(),
                Ok(None) => self.is_over = true,
                Err(error) => {
                    self.is_over = true;
                    return Some(Err(error));
                }
            }
        }
    }
}

fn open(path: &Path) -> Result<BufReader<File>, Error> {
    let file = File::open(path).map_err(|error| Error::io(path, error))?;
    Ok(BufReader::with_capacity(256 << 10, file))
}

fn seek(file: &mut BufReader<File>, path: &Path, at: u64) -> Result<(), Error> {
    file.seek(SeekFrom::Start(at)).map(drop).map_err(|error| Error::io(path, error))
}

fn must_be_a_trace(file: &mut BufReader<File>, path: &Path) -> Result<(), Error> {
    let mut head = Vec::new();
    let first = file.by_ref().take(BEGINNING_BYTES).read_to_end(&mut head);
    first.map_err(|error| Error::io(path, error))?;
    let name = || path.display().to_string();
    if !head.starts_with(MAGIC) {
        if !head.is_empty() && MAGIC.starts_with(&head) {
            return Err(Error::Torn { path: name(), at: head.len() as u64 });
        }
        let rest = file.by_ref().take(LOOKED_AT as u64).read_to_end(&mut head);
        rest.map_err(|error| Error::io(path, error))?;
        let what = match recognise(&head) {
            Recognised::SlowLog => "a slow log".to_owned(),
            Recognised::Other(what) => what,
            Recognised::Unclear => "something else".to_owned(),
        };
        return Err(Error::NotATrace { path: name(), what });
    }
    let version = head.get(MAGIC.len()..).and_then(|rest| rest.try_into().ok());
    let torn = Error::Torn { path: name(), at: head.len() as u64 };
    let version = u32::from_le_bytes(version.ok_or(torn)?);
    if version == FORMAT {
        return Ok(());
    }
    Err(Error::Newer { path: name(), version })
}

fn read_json<T: serde::de::DeserializeOwned>(
    file: &mut BufReader<File>,
    path: &Path,
    at: u64,
    number: u32,
    wanted: Kind,
) -> Result<(T, u64), Error> {
    let Frame { kind, payload, bytes } =
        frame::read(file, number).map_err(|trouble| of_trouble(trouble, path, at))?;
    let value = serde_json::from_slice(&payload).ok().filter(|_| kind == wanted);
    let value = value.ok_or_else(|| damaged(path, at, "its header or footer cannot be read"))?;
    Ok((value, bytes))
}

pub(crate) fn of_trouble(trouble: Trouble, path: &Path, at: u64) -> Error {
    match trouble {
        Trouble::Io(error) => Error::io(path, error),
        Trouble::Torn => Error::Torn { path: path.display().to_string(), at },
        Trouble::Damaged(why) => damaged(path, at, why),
    }
}

fn damaged(path: &Path, at: u64, why: &'static str) -> Error {
    Error::Damaged { path: path.display().to_string(), at, why }
}
