//! Where in a statement the names of tables stand, token by token.
//!
//! It is not a parser: a name is a table's behind FROM, JOIN, INTO, UPDATE, TABLE and behind commas that go on with
//! such a list. FROM in brackets counts only behind a SELECT in the same brackets, since functions have it too
//! (`extract(year from t)`). Names of common table expressions are none.

use super::token::Symbol;

/// Brackets whose SELECTs and lists are distinguished; deeper ones are taken as this one.
const MOST_DEPTH: u32 = 63;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Next {
    #[default]
    Other,
    /// A table's name, or the database in front of it.
    Table,
    /// The dot behind such a name.
    Dot,
    /// The name behind that dot.
    AfterDot,
    /// A name that WITH defines.
    Expression,
}

/// What a word is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Other,
    /// A table, unless a dot follows; then its database.
    Table,
    /// The table behind its database.
    TableOfDatabase,
}

#[derive(Default)]
pub struct Finder {
    next: Next,
    depth: u32,
    /// One bit a depth: a SELECT was met there.
    selects: u64,
    /// The same: a comma goes on with a list of tables.
    lists: u64,
    has_begun: bool,
    is_show: bool,
    /// Behind ON, FOR or KEY, UPDATE changes no table and JOIN reads none.
    is_clause: bool,
    /// Between WITH and the statement itself.
    in_with: bool,
    expressions: Vec<Vec<u8>>,
}

impl Finder {
    /// What this word is, of whatever case.
    pub fn word(&mut self, word: &[u8]) -> Role {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let is_clause = std::mem::take(&mut self.is_clause);
        let mut lower = [0; 16];
        let Some(lower) = lower.get_mut(..word.len()) else { return self.name(word) };
        lower.copy_from_slice(word);
        lower.make_ascii_lowercase();
        if matches!(self.next, Next::AfterDot) {
            return self.name(word);
        }
        match &*lower {
            b"select" => {
                self.selects |= self.bit();
                self.end_list();
            }
            b"from" if !self.is_show && (self.depth == 0 || self.selects & self.bit() != 0) => {
                self.expect();
            }
            b"show" if is_first => self.is_show = true,
            b"with" if is_first || self.depth > 0 => {
                (self.next, self.in_with) = (Next::Expression, true);
            }
            b"recursive" if self.next == Next::Expression => {}
            b"join" | b"straight_join" if !is_clause => self.expect(),
            b"insert" | b"replace" if is_first => self.expect(),
            b"into" | b"table" | b"tables" if !self.is_show => self.expect(),
            b"update" if !is_clause => self.expect(),
            b"for" | b"on" | b"key" => {
                self.is_clause = true;
                if &*lower != b"on" {
                    self.end_list();
                }
                self.next = Next::Other;
            }
            b"low_priority" | b"high_priority" | b"delayed" | b"ignore" | b"quick" | b"if"
            | b"not" | b"exists" | b"only" | b"lateral"
                if self.next == Next::Table => {}
            b"set" | b"where" | b"value" | b"values" | b"using" | b"group" | b"order"
            | b"having" | b"limit" | b"union" | b"except" | b"intersect" | b"duplicate"
            | b"window" | b"outfile" | b"dumpfile" | b"partition" | b"delete" => self.end_list(),
            b"dual" if self.next == Next::Table => self.next = Next::Other,
            _ => return self.name(word),
        }
        Role::Other
    }

    /// A name in backticks, which is not a keyword.
    pub fn quoted(&mut self, name: &[u8]) -> Role {
        self.has_begun = true;
        self.is_clause = false;
        self.name(name)
    }

    fn name(&mut self, name: &[u8]) -> Role {
        match std::mem::take(&mut self.next) {
            Next::Table => {
                if self.expressions.iter().any(|known| known.eq_ignore_ascii_case(name)) {
                    return Role::Other;
                }
                self.next = Next::Dot;
                Role::Table
            }
            Next::AfterDot => Role::TableOfDatabase,
            Next::Expression => {
                self.expressions.push(name.to_vec());
                Role::Other
            }
            Next::Dot | Next::Other => Role::Other,
        }
    }

    pub fn symbol(&mut self, symbol: Symbol) {
        self.has_begun = true;
        match symbol {
            Symbol::OPEN => {
                self.depth += 1;
                let bit = self.bit();
                self.selects &= !bit;
                self.lists &= !bit;
                if self.next == Next::Table {
                    self.lists |= bit;
                } else {
                    self.next = Next::Other;
                }
            }
            Symbol::CLOSE => {
                self.depth = self.depth.saturating_sub(1);
                self.next = Next::Other;
            }
            Symbol::COMMA if self.lists & self.bit() != 0 => self.next = Next::Table,
            Symbol::COMMA if self.in_with && self.depth == 0 && self.selects & 1 == 0 => {
                self.next = Next::Expression;
            }
            Symbol::DOT if self.next == Next::Dot => self.next = Next::AfterDot,
            _ => self.next = Next::Other,
        }
    }

    pub fn literal(&mut self) {
        self.has_begun = true;
        self.next = Next::Other;
    }

    fn bit(&self) -> u64 {
        1 << self.depth.min(MOST_DEPTH)
    }

    fn expect(&mut self) {
        self.next = Next::Table;
        self.lists |= self.bit();
    }

    fn end_list(&mut self) {
        self.next = Next::Other;
        self.lists &= !self.bit();
    }
}

/// `orders_2024_01` as `orders_$`, `t_0a3f` as `t_$`: what is between underscores and is a number or looks like
/// a hash, and a number of four digits or more at the end. None for a name without any.
pub fn merged(name: &[u8]) -> Option<Vec<u8>> {
    if !name.iter().any(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut merged: Vec<u8> = Vec::with_capacity(name.len());
    let mut is_merged = false;
    for (place, part) in name.split(|&byte| byte == b'_').enumerate() {
        let letters =
            part.len() - part.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let is_numbered = letters > 0 && part.len() - letters >= 4;
        if place > 0 && (is_number(part) || is_hash(part)) {
            is_merged = true;
            if !merged.ends_with(b"_$") {
                merged.extend_from_slice(b"_$");
            }
            continue;
        }
        if place > 0 {
            merged.push(b'_');
        }
        merged.extend_from_slice(if is_numbered { &part[..letters] } else { part });
        if is_numbered {
            is_merged = true;
            merged.push(b'$');
        }
    }
    is_merged.then_some(merged)
}

fn is_number(part: &[u8]) -> bool {
    !part.is_empty() && part.iter().all(u8::is_ascii_digit)
}

/// Hexadecimal digits, four or more with a decimal one among them, or eight or more.
fn is_hash(part: &[u8]) -> bool {
    part.iter().all(u8::is_ascii_hexdigit)
        && (part.len() >= 8 || part.len() >= 4 && part.iter().any(u8::is_ascii_digit))
}
