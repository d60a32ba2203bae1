//! Compiles a job's program: names to indices, steps to instructions, SQL to templates.

use super::dictionaries;
use super::expression::{Expression, Shared};
use super::fault::{At, Fault, fault, not_empty};
use super::instruction::{Choice, Instruction};
use super::operators;
use super::program::{MOST_LOOPS, Program};
use super::scope::Scope;
use super::statements::{Statements, lasting};
use super::tables;
use super::unique::Unique;
use super::{CONNECT, Policy};
use crate::failure::Fatal;
use crate::job::program::{End, Expr, Lost, ProgramJob, RepeatJob, Step, TransactionJob, WhenJob};

/// Compiles a program. Dictionaries of queries and columns are empty until they are filled.
///
/// # Errors
/// The first mistake, with the path of the key that is wrong.
pub fn compile(job: &ProgramJob, seed: u64) -> Result<Program, Fatal> {
    let program = Compiler::new(job).compile(seed);
    program.key("workload.program").map_err(Fault::into_fatal)
}

pub(super) struct Compiler<'a> {
    job: &'a ProgramJob,
    pub(super) scope: Scope<'a>,
    pub(super) statements: Statements,
    pub(super) code: Vec<Instruction>,
    /// Of each block under way, the instructions that jump to its end when they read no row.
    blocks: Vec<Vec<usize>>,
    loops: usize,
    /// Names of the transactions so far; the last one is under way.
    transactions: Vec<&'static str>,
    /// Whether the transaction under way does anything but think.
    acts: bool,
}

impl<'a> Compiler<'a> {
    fn new(job: &'a ProgramJob) -> Self {
        Self {
            job,
            scope: Scope::new(job),
            statements: Statements::new(job.prepared),
            code: Vec::new(),
            blocks: Vec::new(),
            loops: 0,
            transactions: Vec::new(),
            acts: false,
        }
    }

    fn compile(mut self, seed: u64) -> Result<Program, Fault> {
        let job = self.job;
        let dictionaries = dictionaries::compile(job, &mut self.scope)?;
        let (sources, words): (Vec<_>, Vec<_>) = dictionaries.into_iter().unzip();
        let values = self.values().key("values")?;
        self.scope.enter_steps();
        self.transactions().key("transactions")?;
        let tables = job.tables.iter().enumerate().map(|(number, table)| {
            let maker = tables::compile(job, number, &mut self.scope).index(number)?;
            Ok((table.clone(), maker))
        });
        let tables = tables.collect::<Result<_, Fault>>().key("tables")?;
        for (number, check) in job.checks.iter().enumerate() {
            not_empty(&check.sql).key("sql").index(number).key("checks")?;
        }
        if self.code.iter().any(|instruction| matches!(instruction, Instruction::Reconnect)) {
            self.statements.kind(CONNECT);
        }
        let (kinds, statements) = self.statements.finish();
        Ok(Program {
            kinds,
            transactions: self.transactions,
            statements,
            code: self.code,
            registers: self.scope.register_count(),
            shared: Shared {
                values,
                dictionaries: words,
                counters: self.scope.into_counters(),
                unique: Unique::new(seed),
            },
            policy: Policy {
                open: job.open,
                reopen: job.lost == Lost::Reopen,
                retry: job.retry.clone(),
                session: job.session.clone(),
            },
            prepared: job.prepared,
            sources: job.dictionaries.keys().cloned().zip(sources).collect(),
            tables,
            checks: job.checks.clone(),
        })
    }

    fn values(&mut self) -> Result<Vec<Expression>, Fault> {
        for name in self.job.values.keys() {
            let mut path = Vec::new();
            if self.draws_itself(name, &mut path) {
                let path = path.join("` draws `");
                return fault(format!("draws itself: `{path}`")).key(name);
            }
        }
        let values = self.job.values.iter();
        values.map(|(name, value)| operators::compile(value, &mut self.scope).key(name)).collect()
    }

    /// Whether drawing this value comes back to a value that is being drawn; `path` is how.
    fn draws_itself(&self, name: &'a str, path: &mut Vec<&'a str>) -> bool {
        let seen = path.contains(&name);
        path.push(name);
        if seen {
            return true;
        }
        let mut drawn = Vec::new();
        if let Some(value) = self.job.values.get(name) {
            note_draws(value, &mut drawn);
        }
        if drawn.into_iter().any(|inner| self.draws_itself(inner, path)) {
            return true;
        }
        path.pop();
        false
    }

    fn transactions(&mut self) -> Result<(), Fault> {
        let transactions = &self.job.transactions;
        if transactions.is_empty() {
            return Ok(());
        }
        let cumulative = cumulative(transactions.iter().map(|one| one.weight))?;
        self.code.push(Instruction::Begin(Choice { cumulative, targets: Vec::new() }));
        let mut targets = Vec::new();
        for (number, transaction) in transactions.iter().enumerate() {
            targets.push(self.code.len());
            self.transaction(transaction).index(number)?;
        }
        let Instruction::Begin(choice) = &mut self.code[0] else { unreachable!("just pushed") };
        choice.targets = targets;
        Ok(())
    }

    fn transaction(&mut self, transaction: &'a TransactionJob) -> Result<(), Fault> {
        self.acts = false;
        self.transactions.push(lasting(&transaction.name));
        self.block(&transaction.steps).key("steps")?;
        if !self.acts {
            let name = &transaction.name;
            return fault(format!("the transaction `{name}` sends no statement")).key("steps");
        }
        self.code.push(Instruction::End { counts: Some(self.number()) });
        Ok(())
    }

    /// The number of the transaction under way.
    fn number(&self) -> usize {
        self.transactions.len() - 1
    }

    /// Compiles steps, at whose end those that skip go on.
    fn block(&mut self, steps: &'a [Step]) -> Result<(), Fault> {
        self.blocks.push(Vec::new());
        for (number, step) in steps.iter().enumerate() {
            self.step(step).index(number)?;
        }
        let end = self.code.len();
        for place in self.blocks.pop().into_iter().flatten() {
            if let Instruction::Send(send) = &mut self.code[place]
                && let Some(reading) = &mut send.read
            {
                reading.skip = end;
            }
        }
        Ok(())
    }

    fn step(&mut self, step: &'a Step) -> Result<(), Fault> {
        match step {
            Step::Send(send) => {
                self.acts = true;
                let send = self.statements.send(send, &mut self.scope).key("send")?;
                let block = self.blocks.last_mut().expect("steps are in a block");
                block.push(self.code.len());
                self.code.push(Instruction::Send(Box::new(send)));
            }
            Step::Let(name, value) => {
                let value = operators::compile(value, &mut self.scope).index(1).key("let")?;
                self.code.push(Instruction::Let(self.scope.register(name), value));
            }
            Step::Repeat(repeat) => self.repeat(repeat).key("repeat")?,
            Step::When(when) => self.when(when).key("when")?,
            Step::Mix(branches) => self.mix(branches).key("mix")?,
            Step::Pause(seconds) => {
                self.acts = true;
                let seconds = operators::compile(seconds, &mut self.scope).key("pause_s")?;
                self.code.push(Instruction::Pause(seconds));
            }
            Step::Reconnect => {
                self.acts = true;
                self.code.push(Instruction::Reconnect);
            }
            Step::End(end) => {
                let counts = (*end == End::Done).then(|| self.number());
                self.code.push(Instruction::End { counts });
            }
        }
        Ok(())
    }

    fn repeat(&mut self, repeat: &'a RepeatJob) -> Result<(), Fault> {
        if self.loops == MOST_LOOPS {
            return fault(format!("more than {MOST_LOOPS} loops are inside each other"));
        }
        let times = operators::compile(&repeat.times, &mut self.scope).key("times")?;
        let index = repeat.index.as_deref().map(|name| self.scope.register(name));
        let entry = self.code.len();
        self.code.push(Instruction::Repeat { times, index, end: 0 });
        self.loops += 1;
        self.block(&repeat.steps).key("steps")?;
        self.loops -= 1;
        self.code.push(Instruction::Again { start: entry + 1, index });
        let after = self.code.len();
        if let Instruction::Repeat { end, .. } = &mut self.code[entry] {
            *end = after;
        }
        Ok(())
    }

    fn when(&mut self, when: &'a WhenJob) -> Result<(), Fault> {
        let condition = operators::compile(&when.condition, &mut self.scope).key("if")?;
        let entry = self.code.len();
        self.code.push(Instruction::Unless(condition, 0));
        self.block(&when.steps).key("steps")?;
        if !when.otherwise.is_empty() {
            let leave = self.code.len();
            self.code.push(Instruction::Jump(0));
            self.aim(entry);
            self.block(&when.otherwise).key("else")?;
            self.aim(leave);
        } else {
            self.aim(entry);
        }
        Ok(())
    }

    /// Makes the jump at this place lead to the next instruction.
    fn aim(&mut self, place: usize) {
        let next = self.code.len();
        match &mut self.code[place] {
            Instruction::Unless(_, target) | Instruction::Jump(target) => *target = next,
            other => unreachable!("{other:?} does not jump"),
        }
    }

    fn mix(&mut self, branches: &'a [crate::job::program::BranchJob]) -> Result<(), Fault> {
        let cumulative = cumulative(branches.iter().map(|branch| branch.weight))?;
        let entry = self.code.len();
        self.code.push(Instruction::Choose(Choice { cumulative, targets: Vec::new() }));
        let mut chosen = Vec::new();
        let mut leaves = Vec::new();
        for (number, branch) in branches.iter().enumerate() {
            chosen.push(self.code.len());
            self.block(&branch.steps).key("steps").index(number)?;
            leaves.push(self.code.len());
            self.code.push(Instruction::Jump(0));
        }
        leaves.into_iter().for_each(|leave| self.aim(leave));
        if let Instruction::Choose(choice) = &mut self.code[entry] {
            choice.targets = chosen;
        }
        Ok(())
    }
}

/// Running sums of weights.
fn cumulative(weights: impl Iterator<Item = u64>) -> Result<Vec<u64>, Fault> {
    let mut sum = 0u64;
    let mut sums = Vec::new();
    for weight in weights {
        sum = sum
            .checked_add(weight)
            .filter(|&sum| sum < 1 << 53)
            .ok_or_else(|| Fault::new("the weights add up to more than 2^53"))?;
        sums.push(sum);
    }
    if sum == 0 {
        return fault("the weights add up to 0");
    }
    Ok(sums)
}

fn note_draws<'a>(expression: &'a Expr, drawn: &mut Vec<&'a str>) {
    if let Expr::Call(operator, arguments) = expression {
        match (operator.as_str(), arguments.as_slice()) {
            ("draw", [Expr::Text(name)]) => drawn.push(name),
            _ => arguments.iter().for_each(|argument| note_draws(argument, drawn)),
        }
    }
}
