//! What a trace is, and what a replay of it would do: `mydyno-engine survey`, one JSON object.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use mydyno_trace::Record as TraceRecord;
use serde::Serialize;

use super::choice::{Reason, choose};
use super::feed::open;
use super::fingerprints::{Described, Fingerprints, Table, lossy};
use crate::failure::Fatal;
use crate::job::ReplayJob;

/// Tables that are listed; a trace that names more has too many to check one by one.
const MOST_TABLES: usize = 20_000;

/// Of the part of a trace that a job names.
#[derive(Debug, Serialize)]
pub struct Survey {
    /// The server that the trace is from, as it calls itself; null where it is not known.
    pub server: Option<String>,
    pub source: mydyno_trace::Source,
    /// Its literals are not those that were sent.
    pub masked: bool,
    pub resolution_us: u64,
    pub start_us: Option<i64>,
    pub statements: u64,
    pub connections: u64,
    /// Most connections that are open at a time.
    pub peak_connections: u32,
    pub length_us: u64,
    /// The length of the whole trace.
    pub trace_length_us: u64,
    pub fingerprints: u64,
    pub schemas: BTreeSet<String>,
    /// Statements without a schema of their own.
    pub without_schema: u64,
    /// Tables as they are named, with the schema that the statement ran in where they name none.
    pub tables: BTreeSet<Table>,
    /// Statements that will be sent, and of the others how many for which reason.
    pub replayed: u64,
    pub skipped: BTreeMap<Reason, u64>,
}

/// Reads the trace once.
pub fn survey(job: &ReplayJob) -> Result<Survey, Fatal> {
    let trace = open(&job.trace)?;
    let header = trace.header().clone();
    let mut survey = Survey {
        server: header.server,
        source: header.source,
        masked: header.masked,
        resolution_us: header.resolution_us,
        start_us: header.start_us,
        statements: 0,
        connections: 0,
        peak_connections: 0,
        length_us: 0,
        trace_length_us: trace.footer().length_us,
        fingerprints: 0,
        schemas: BTreeSet::new(),
        without_schema: 0,
        tables: BTreeSet::new(),
        replayed: 0,
        skipped: BTreeMap::new(),
    };
    let mut reading = Reading::default();
    let (from_us, until_us) = job.part_us();
    for record in trace.records().map_err(|error| super::feed::unread(&error))? {
        let record = record.map_err(|error| super::feed::unread(&error))?;
        if record.at_us() >= until_us {
            break;
        }
        if record.at_us() >= from_us {
            survey.length_us = survey.length_us.max(record.at_us() - from_us);
            reading.take(&record, job, &mut survey);
        }
    }
    survey.fingerprints = reading.fingerprints.count() as u64;
    Ok(survey)
}

#[derive(Default)]
struct Reading {
    fingerprints: Fingerprints,
    /// What a statement's fingerprint and schema make of it has been listed.
    listed: HashSet<(u64, String)>,
    open: BTreeSet<u32>,
}

impl Reading {
    fn take(&mut self, record: &TraceRecord, job: &ReplayJob, survey: &mut Survey) {
        let connection = record.connection();
        match record {
            TraceRecord::Closed(_) => {
                self.open.remove(&connection);
                return;
            }
            TraceRecord::Opened(_) => {}
            TraceRecord::Statement(statement) => {
                let end_us = statement.at_us.saturating_add(statement.duration_us.unwrap_or(0));
                survey.length_us = survey.length_us.max(end_us.saturating_sub(job.part_us().0));
                survey.statements += 1;
                match choose(&statement.sql, job).skip {
                    Some(reason) => *survey.skipped.entry(reason).or_default() += 1,
                    None => {
                        survey.replayed += 1;
                        self.list(statement, job, survey);
                    }
                }
            }
        }
        if self.open.insert(connection) {
            survey.connections += 1;
            survey.peak_connections = survey.peak_connections.max(self.open.len() as u32);
        }
    }

    /// Lists the schema and the tables of a statement that will be sent.
    fn list(&mut self, statement: &mydyno_trace::Statement, job: &ReplayJob, survey: &mut Survey) {
        let (id, described) = self.fingerprints.meet(survey.statements - 1, statement);
        let schema = match statement.schema.is_empty() {
            true => job.schema.clone().unwrap_or_default(),
            false => lossy(&statement.schema),
        };
        survey.without_schema += u64::from(schema.is_empty());
        if described.is_none() && self.listed.contains(&(id, schema.clone())) {
            return;
        }
        self.listed.insert((id, schema.clone()));
        let described: Described =
            described.unwrap_or_else(|| super::fingerprints::describe(id, 0, statement));
        if !schema.is_empty() {
            survey.schemas.insert(schema.clone());
        }
        for table in described.tables {
            if survey.tables.len() < MOST_TABLES {
                let schema = table.schema.or_else(|| (!schema.is_empty()).then(|| schema.clone()));
                survey.tables.insert(Table { schema, name: table.name });
            }
        }
    }
}
