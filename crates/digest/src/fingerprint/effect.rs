//! What a statement does beyond returning rows, decided without the server and in doubt against it.
//!
//! It looks at words, not at grammar: a SELECT is a read where it neither locks nor stores, and where every
//! name in front of a bracket is a function of the servers' own. A stored function behind such a name, or a
//! view that calls one, cannot be seen.

mod functions;

use super::lexer::Lexer;
use super::token::{Literal, Sink, Symbol};

/// What a statement does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Returns rows and changes nothing.
    Read,
    /// Begins, ends or divides a transaction.
    Transaction,
    /// Changes its own session only.
    Session,
    /// Changes the session's schema.
    Use,
    /// Changes data or definitions.
    Write,
    /// Takes locks, or gives them back.
    Lock,
    /// None of these for sure.
    Unknown,
    /// Reads a file that the client sends, or that lies on the server.
    LoadsFile,
    /// Reads or writes a file of the server's machine.
    ServerFile,
    /// Reaches another server, or makes that possible.
    LeavesServer,
    /// Changes the server as a whole, or other sessions.
    Administration,
    /// Changes users, their rights or passwords.
    Account,
    /// A distributed transaction, which can outlive its session.
    Xa,
}

/// Whether a statement reads or writes, as rates are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Read,
    Write,
    Other,
}

/// What became known of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement {
    pub effect: Effect,
    pub direction: Direction,
    /// Has ORDER BY outside of brackets.
    pub is_ordered: bool,
}

/// Looks at a statement.
pub fn effect(statement: &[u8]) -> Statement {
    let found = Lexer::new(statement, Words::default()).run();
    let mut effect = found.effect();
    if matches!(found.verb(), b"prepare" | b"execute")
        && let Some(inner) = quoted_text(statement)
    {
        // What is refused is not let in by the back door.
        let inner = self::effect(&inner).effect;
        if inner.is_refused() {
            effect = inner;
        }
    }
    Statement { effect, direction: found.direction(), is_ordered: found.is_ordered }
}

impl Effect {
    /// Not to be carried out on behalf of somebody else, on whatever server.
    pub fn is_refused(self) -> bool {
        use Effect::{Account, Administration, LeavesServer, LoadsFile, ServerFile, Xa};
        matches!(self, LoadsFile | ServerFile | LeavesServer | Administration | Account | Xa)
    }
}

/// Longer words are none that matter.
const LONGEST: usize = 32;

/// A word in lower case.
#[derive(Clone, Copy)]
struct Word {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Default for Word {
    fn default() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }
}

impl Word {
    fn new(word: &[u8]) -> Self {
        let mut own = Self::default();
        if word.len() <= LONGEST {
            own.length = word.len();
            own.bytes[..word.len()].copy_from_slice(word);
            own.bytes.make_ascii_lowercase();
        }
        own
    }

    fn text(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// The token before, where it matters.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    Word,
    /// A name in backticks.
    Name,
    Dot,
    /// A word behind a dot.
    Member,
    /// One `@`.
    At,
    /// The name of a user variable.
    Variable,
}

#[derive(Default)]
struct Words {
    first: [Word; 4],
    count: usize,
    last: Word,
    before: Before,
    depth: usize,
    is_ordered: bool,
    has_into: bool,
    has_end: bool,
    locks: bool,
    changes: bool,
    is_unknown: bool,
    reads_file: bool,
    leaves: bool,
    is_global: bool,
    is_loadable: bool,
    of_users: bool,
}

impl Words {
    fn verb(&self) -> &[u8] {
        self.first[0].text()
    }

    fn effect(&self) -> Effect {
        let second = self.first[1].text();
        if self.reads_file {
            return Effect::ServerFile;
        }
        if self.leaves {
            return Effect::LeavesServer;
        }
        match self.verb() {
            b"select" | b"with" | b"table" | b"values" | b"show" | b"help" | b"checksum" => {
                self.of_read()
            }
            b"explain" | b"describe" | b"desc" if second == b"analyze" => Effect::Unknown,
            b"explain" | b"describe" | b"desc" => self.of_read(),
            b"begin" if second == b"not" => Effect::Unknown,
            b"start" | b"stop" | b"change" if second != b"transaction" => Effect::LeavesServer,
            b"begin" | b"start" | b"commit" | b"rollback" | b"savepoint" | b"release" => {
                self.unless_doubtful(Effect::Transaction)
            }
            b"set" => self.of_set(),
            b"use" => self.unless_doubtful(Effect::Use),
            b"insert" | b"update" | b"delete" | b"replace" | b"truncate" | b"optimize"
            | b"analyze" | b"repair" => Effect::Write,
            b"create" | b"alter" | b"drop" | b"rename" => self.of_definition(),
            b"load" if second == b"index" => Effect::Administration,
            b"load" => Effect::LoadsFile,
            b"import" => Effect::ServerFile,
            b"lock" if second == b"instance" => Effect::Administration,
            b"lock" | b"unlock" => Effect::Lock,
            b"grant" | b"revoke" => Effect::Account,
            b"reset" if matches!(second, b"slave" | b"replica") => Effect::LeavesServer,
            b"reset" | b"purge" | b"flush" | b"kill" | b"shutdown" | b"restart" | b"install"
            | b"uninstall" | b"clone" | b"binlog" | b"cache" | b"backup" => Effect::Administration,
            b"xa" => Effect::Xa,
            _ => Effect::Unknown,
        }
    }

    fn unless_doubtful(&self, effect: Effect) -> Effect {
        if self.is_unknown || self.has_end { Effect::Unknown } else { effect }
    }

    fn of_read(&self) -> Effect {
        if self.changes {
            Effect::Write
        } else if self.locks {
            Effect::Lock
        } else if self.has_into {
            Effect::Unknown
        } else {
            self.unless_doubtful(Effect::Read)
        }
    }

    fn of_set(&self) -> Effect {
        match self.first[1].text() {
            b"password" | b"role" => Effect::Account,
            b"default" if self.first[2].text() == b"role" => Effect::Account,
            // MariaDB: SET STATEMENT ... FOR another statement.
            b"statement" => Effect::Unknown,
            _ if self.is_global => Effect::Administration,
            _ if self.locks || self.changes => Effect::Unknown,
            _ => self.unless_doubtful(Effect::Session),
        }
    }

    fn of_definition(&self) -> Effect {
        let kind = match self.first[1].text() {
            // CREATE OR REPLACE x.
            b"or" => self.first[3].text(),
            other => other,
        };
        match kind {
            _ if self.is_loadable => Effect::Administration,
            b"user" | b"role" => Effect::Account,
            b"server" => Effect::LeavesServer,
            b"instance" | b"tablespace" | b"undo" | b"logfile" | b"resource" | b"plugin" => {
                Effect::Administration
            }
            _ if self.of_users => Effect::Account,
            _ => Effect::Write,
        }
    }

    fn direction(&self) -> Direction {
        match self.verb() {
            b"select" | b"table" | b"values" | b"show" | b"explain" | b"describe" | b"desc"
            | b"checksum" => Direction::Read,
            b"with" if !self.changes => Direction::Read,
            b"insert" | b"update" | b"delete" | b"replace" | b"truncate" | b"create" | b"alter"
            | b"drop" | b"rename" | b"with" | b"load" => Direction::Write,
            _ => Direction::Other,
        }
    }

    /// A word of the statement that is neither a user variable nor behind a dot.
    fn plain(&mut self, word: Word) {
        match (self.last.text(), word.text()) {
            (b"for", b"update" | b"share") | (b"share", b"mode") => self.locks = true,
            (_, b"outfile" | b"dumpfile") => self.reads_file = true,
            (_, b"into") => self.has_into = true,
            (_, b"procedure") if self.verb() == b"select" => self.is_unknown = true,
            (b"next" | b"previous", b"value") => self.changes = true,
            (b"order", b"by") if self.depth == 0 => self.is_ordered = true,
            (_, b"insert" | b"update" | b"delete" | b"replace")
                if self.verb() == b"with" && self.depth == 0 =>
            {
                self.changes = true;
            }
            (b"engine", b"federated" | b"federatedx" | b"connect" | b"spider" | b"s3") => {
                self.leaves = true;
            }
            (_, b"global" | b"persist" | b"persist_only") => self.is_global = true,
            (_, b"soname") => self.is_loadable = true,
            (_, b"identified") => self.of_users = true,
            _ => {}
        }
    }

    /// A bracket opens behind a word: a call, unless the word is a keyword.
    fn call(&mut self) {
        match self.before {
            Before::Word => match self.last.text() {
                b"load_file" => self.reads_file = true,
                b"nextval" | b"setval" => self.changes = true,
                b"get_lock" | b"release_lock" | b"release_all_locks" => self.locks = true,
                b"sys_exec" | b"sys_eval" | b"http_get" | b"http_post" => self.leaves = true,
                known if functions::is_known(known) => {}
                _ => self.is_unknown = true,
            },
            Before::Name | Before::Member => self.is_unknown = true,
            _ => {}
        }
    }

    fn begin_token(&mut self) {
        // Something follows a semicolon: these are several statements.
        self.is_unknown |= self.has_end;
    }
}

impl Sink for Words {
    fn word(&mut self, text: &[u8], first: usize, end: usize) {
        self.begin_token();
        let word = Word::new(&text[first..end]);
        if self.count < self.first.len() {
            self.first[self.count] = word;
        }
        self.count += 1;
        self.before = match self.before {
            Before::Dot => Before::Member,
            Before::At => Before::Variable,
            _ => {
                self.plain(word);
                Before::Word
            }
        };
        self.last = word;
    }

    fn quoted(&mut self, _name: &[u8]) {
        self.begin_token();
        self.before = if self.before == Before::Dot { Before::Member } else { Before::Name };
        self.last = Word::default();
    }

    fn symbol(&mut self, symbol: Symbol) {
        self.begin_token();
        match symbol {
            Symbol::OPEN => {
                self.call();
                self.depth += 1;
            }
            Symbol::CLOSE => self.depth = self.depth.saturating_sub(1),
            Symbol::SEMICOLON => self.has_end = true,
            _ => {}
        }
        self.before = match symbol {
            Symbol::DOT => Before::Dot,
            // A second one is that of a system variable.
            Symbol::AT if self.before != Before::At => Before::At,
            _ => Before::Other,
        };
    }

    fn literal(&mut self, _literal: Literal) {
        self.begin_token();
        self.before = Before::Other;
    }

    fn row(&mut self, _literal: Literal) {
        self.begin_token();
        self.call();
        self.before = Before::Other;
    }
}

/// The text of the first string literal, as far as looking at it needs it.
fn quoted_text(statement: &[u8]) -> Option<Vec<u8>> {
    let first = statement.iter().position(|byte| matches!(byte, b'\'' | b'"'))?;
    let quote = statement[first];
    let mut text = Vec::new();
    let mut rest = statement[first + 1..].iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b'\\' => text.extend(rest.next()),
            byte if byte == quote => match rest.peek() {
                Some(&next) if next == quote => text.extend(rest.next()),
                _ => break,
            },
            byte => text.push(byte),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(statement: &str) -> Effect {
        effect(statement.as_bytes()).effect
    }

    #[test]
    fn reads_are_those_that_neither_store_nor_lock_nor_call_what_is_not_known() {
        for read in [
            "SELECT * FROM t WHERE id IN (1, 2) AND name = concat('a', upper(x))",
            "(SELECT a FROM t) UNION (SELECT b FROM u) ORDER BY 1",
            "WITH x AS (SELECT 1) SELECT * FROM x",
            "select count(*) from `t` use index (`a`) where d > now() - interval 1 day",
            "SELECT CAST(x AS DECIMAL(10,2)), date_format(d, '%Y') FROM t;",
            "SHOW TABLES",
            "EXPLAIN SELECT 1",
            "DESC t",
            "SELECT substring(a FROM 1 FOR 2) FROM t",
            "SELECT @a := @a + 1, @@global.max_connections",
            "SELECT 'INTO OUTFILE', `update` FROM t /* FOR UPDATE */",
        ] {
            assert_eq!(of(read), Effect::Read, "{read}");
        }
    }

    #[test]
    fn what_is_not_known_is_no_read() {
        for (statement, expected) in [
            ("SELECT f(1)", Effect::Unknown),
            ("SELECT db.count(1)", Effect::Unknown),
            ("SELECT `my func`(1)", Effect::Unknown),
            ("SELECT a INTO @x FROM t", Effect::Unknown),
            ("SELECT 1; DELETE FROM t", Effect::Unknown),
            ("CALL p()", Effect::Unknown),
            ("DO sleep(1)", Effect::Unknown),
            ("HANDLER t OPEN", Effect::Unknown),
            ("EXPLAIN ANALYZE SELECT 1", Effect::Unknown),
            ("BEGIN NOT ATOMIC DELETE FROM t; END", Effect::Unknown),
            ("SET STATEMENT max_statement_time = 1 FOR DELETE FROM t", Effect::Unknown),
            ("", Effect::Unknown),
            ("SELECT * FROM t FOR UPDATE", Effect::Lock),
            ("SELECT * FROM t LOCK IN SHARE MODE", Effect::Lock),
            ("SELECT * FROM t FOR SHARE SKIP LOCKED", Effect::Lock),
            ("SELECT get_lock('a', 1)", Effect::Lock),
            ("LOCK TABLES t READ", Effect::Lock),
            ("SELECT nextval(s)", Effect::Write),
            ("SELECT NEXT VALUE FOR s", Effect::Write),
            ("WITH x AS (SELECT 1) DELETE FROM t", Effect::Write),
            ("/*!50000 DELETE */ FROM t", Effect::Write),
            ("INSERT INTO t VALUES (1)", Effect::Write),
            ("ANALYZE TABLE t", Effect::Write),
        ] {
            assert_eq!(of(statement), expected, "{statement}");
        }
    }

    #[test]
    fn what_leaves_the_server_or_its_session_is_refused() {
        for (statement, expected) in [
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", Effect::LoadsFile),
            ("SELECT * FROM t INTO OUTFILE '/tmp/x'", Effect::ServerFile),
            ("SELECT * INTO DUMPFILE '/tmp/x' FROM t", Effect::ServerFile),
            ("INSERT INTO t SELECT load_file('/etc/passwd')", Effect::ServerFile),
            ("CREATE TABLE t (a INT) ENGINE = FEDERATED CONNECTION='x'", Effect::LeavesServer),
            ("ALTER TABLE t engine=CONNECT", Effect::LeavesServer),
            ("CREATE SERVER s FOREIGN DATA WRAPPER mysql", Effect::LeavesServer),
            ("CREATE OR REPLACE SERVER s FOREIGN DATA WRAPPER mysql", Effect::LeavesServer),
            ("CHANGE MASTER TO MASTER_HOST='x'", Effect::LeavesServer),
            ("START SLAVE", Effect::LeavesServer),
            ("SELECT sys_exec('rm')", Effect::LeavesServer),
            ("INSTALL PLUGIN a SONAME 'b'", Effect::Administration),
            ("CREATE FUNCTION f RETURNS STRING SONAME 'b.so'", Effect::Administration),
            ("SHUTDOWN", Effect::Administration),
            ("KILL 3", Effect::Administration),
            ("SET GLOBAL a = 1", Effect::Administration),
            ("SET @@global.a = 1", Effect::Administration),
            ("SET b = 2, PERSIST a = 1", Effect::Administration),
            ("CREATE USER a IDENTIFIED BY 'x'", Effect::Account),
            ("GRANT ALL ON *.* TO a", Effect::Account),
            ("SET PASSWORD = 'x'", Effect::Account),
            ("XA START 'a'", Effect::Xa),
            ("PREPARE s FROM 'GRANT ALL ON *.* TO a'", Effect::Account),
            ("EXECUTE IMMEDIATE \"KILL 3\"", Effect::Administration),
        ] {
            let found = of(statement);
            assert_eq!(found, expected, "{statement}");
            assert!(found.is_refused());
        }
    }

    #[test]
    fn a_session_keeps_its_transactions_and_settings() {
        for (statement, expected) in [
            ("BEGIN", Effect::Transaction),
            ("START TRANSACTION READ ONLY", Effect::Transaction),
            ("COMMIT", Effect::Transaction),
            ("ROLLBACK TO SAVEPOINT a", Effect::Transaction),
            ("SET NAMES utf8mb4", Effect::Session),
            ("SET @global = 1", Effect::Session),
            ("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", Effect::Session),
            ("SET @a = f(1)", Effect::Unknown),
            ("USE shop", Effect::Use),
            ("PREPARE s FROM 'SELECT 1'", Effect::Unknown),
        ] {
            assert_eq!(of(statement), expected, "{statement}");
        }
    }

    #[test]
    fn only_an_order_of_the_whole_result_is_one() {
        let ordered = |text: &str| effect(text.as_bytes()).is_ordered;
        assert!(ordered("SELECT a FROM t ORDER BY a"));
        assert!(!ordered("SELECT a FROM (SELECT a FROM t ORDER BY a) x"));
        assert!(!ordered("SELECT row_number() OVER (ORDER BY a) FROM t"));
    }
}
