//! Parses patterns as ECMAScript's Unicode mode reads them (ECMA-262 §22.2.1).

use crate::{Class, Refusal};

/// Groups that are nested deeper are refused.
const MAX_DEPTH: usize = 100;
/// Patterns with more bytes are refused.
const MAX_PATTERN: usize = 1 << 16;

/// A part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// One character of a class.
    Class(Class),
    /// `^`: the beginning of the text.
    Start,
    /// `$`: the end of the text.
    End,
    /// `\b`, or `\B` if it must not be a boundary of a word.
    Boundary(bool),
    /// One after the other.
    Sequence(Vec<Node>),
    /// One of several.
    Choice(Vec<Node>),
    /// A count of repetitions; without a greatest one any number.
    Repeat(Box<Node>, u32, Option<u32>),
}

/// Reads a pattern.
///
/// # Errors
/// What it has that no automaton matches, or that is not ECMAScript.
pub fn parse(pattern: &str) -> Result<Node, Refusal> {
    Parser { pattern, rest: pattern, legacy: false }.whole()
}

/// Reads a pattern as engines do without the flag `u` (ECMA-262 annex B): what means nothing else is a literal.
pub(crate) fn parse_legacy(pattern: &str) -> Result<Node, Refusal> {
    Parser { pattern, rest: pattern, legacy: true }.whole()
}

struct Parser<'p> {
    pattern: &'p str,
    rest: &'p str,
    legacy: bool,
}

impl Parser<'_> {
    fn whole(mut self) -> Result<Node, Refusal> {
        if self.pattern.len() > MAX_PATTERN {
            return Err(Refusal::TooLarge);
        }
        let node = self.alternatives(0)?;
        if self.rest.is_empty() { Ok(node) } else { Err(self.unexpected()) }
    }

    fn unexpected(&self) -> Refusal {
        Refusal::Syntax(self.pattern[..self.pattern.len() - self.rest.len()].chars().count() + 1)
    }

    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let found = chars.next();
        self.rest = chars.as_str();
        found
    }

    fn eat(&mut self, text: &str) -> bool {
        let stripped = self.rest.strip_prefix(text);
        self.rest = stripped.unwrap_or(self.rest);
        stripped.is_some()
    }

    fn alternatives(&mut self, depth: usize) -> Result<Node, Refusal> {
        if depth > MAX_DEPTH {
            return Err(Refusal::TooLarge);
        }
        let mut choices = Vec::new();
        loop {
            let mut sequence = Vec::new();
            while !matches!(self.peek(), None | Some('|' | ')')) {
                sequence.push(self.term(depth)?);
            }
            choices.push(Node::Sequence(sequence));
            if !self.eat("|") {
                break;
            }
        }
        match choices.pop() {
            Some(only) if choices.is_empty() => Ok(only),
            last => Ok(Node::Choice(choices.into_iter().chain(last).collect())),
        }
    }

    fn term(&mut self, depth: usize) -> Result<Node, Refusal> {
        let assertions = [
            ("^", Node::Start),
            ("$", Node::End),
            ("\\b", Node::Boundary(true)),
            ("\\B", Node::Boundary(false)),
        ];
        for (written, node) in assertions {
            if self.eat(written) {
                return if self.is_counted() { Err(self.unexpected()) } else { Ok(node) };
            }
        }
        let atom = match self.peek() {
            Some('*' | '+' | '?') | None => return Err(self.unexpected()),
            Some('{' | '}' | ']') if !self.legacy => return Err(self.unexpected()),
            Some('(') => self.group(depth)?,
            Some('[') => Node::Class(self.class()?),
            Some('.') => {
                self.next();
                Node::Class(Class::dot())
            }
            Some('\\') => {
                self.next();
                Node::Class(self.atom_escape()?)
            }
            Some(literal) => {
                self.next();
                Node::Class(Class::one(u32::from(literal)))
            }
        };
        self.count(atom)
    }

    fn is_counted(&self) -> bool {
        matches!(self.peek(), Some('*' | '+' | '?' | '{'))
    }

    fn group(&mut self, depth: usize) -> Result<Node, Refusal> {
        self.next();
        if self.eat("?") {
            match self.rest.as_bytes() {
                [b'=' | b'!', ..] => return Err(Refusal::LookAhead),
                [b'<', b'=' | b'!', ..] => return Err(Refusal::LookBehind),
                [b':', ..] => self.rest = &self.rest[1..],
                [b'<', ..] => self.name()?,
                [b'a'..=b'z' | b'-', ..] => return Err(Refusal::Modifiers),
                _ => return Err(self.unexpected()),
            }
        }
        let inner = self.alternatives(depth + 1)?;
        if self.eat(")") { Ok(inner) } else { Err(self.unexpected()) }
    }

    /// Reads the name of a group, which makes no difference to what matches.
    fn name(&mut self) -> Result<(), Refusal> {
        let end = self.rest.find('>').ok_or_else(|| self.unexpected())?;
        let name = &self.rest[1..end];
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        if name.is_empty() || name.starts_with(char::is_numeric) || !name.chars().all(is_part) {
            return Err(self.unexpected());
        }
        self.rest = &self.rest[end + 1..];
        Ok(())
    }

    /// Reads a count behind an atom. Whether it is lazy makes no difference to what matches.
    fn count(&mut self, atom: Node) -> Result<Node, Refusal> {
        let (least, most) = match self.peek() {
            Some('*') => (0, None),
            Some('+') => (1, None),
            Some('?') => (0, Some(1)),
            Some('{') => {
                let before = self.rest;
                match self.braces() {
                    // Without the flag `u` the brace is a literal.
                    Err(_) if self.legacy => {
                        self.rest = before;
                        return Ok(atom);
                    }
                    found => found?,
                }
            }
            _ => return Ok(atom),
        };
        self.next();
        self.eat("?");
        if self.is_counted() { Err(self.unexpected()) } else { Ok(Node::Repeat(Box::new(atom), least, most)) }
    }

    /// Reads `{least,most` and leaves the brace that closes it.
    fn braces(&mut self) -> Result<(u32, Option<u32>), Refusal> {
        self.next();
        let least = self.digits()?;
        let most = if !self.eat(",") {
            Some(least)
        } else if self.peek() == Some('}') {
            None
        } else {
            Some(self.digits()?)
        };
        if self.peek() != Some('}') || most.is_some_and(|most| most < least) {
            return Err(self.unexpected());
        }
        Ok((least, most))
    }

    fn digits(&mut self) -> Result<u32, Refusal> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.unexpected());
        }
        let number = self.rest[..end].parse().unwrap_or(u32::MAX);
        self.rest = &self.rest[end..];
        Ok(number)
    }

    fn class(&mut self) -> Result<Class, Refusal> {
        self.next();
        let negated = self.eat("^");
        let mut ranges = Vec::new();
        while !self.eat("]") {
            let from = self.class_atom()?;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            if !is_range {
                ranges.extend_from_slice(from.ranges());
                continue;
            }
            self.next();
            let to = self.class_atom()?;
            match (from.ranges(), to.ranges()) {
                (&[(from, one)], &[(other, to)]) if from == one && other == to && from <= to => {
                    ranges.push((from, to));
                }
                // Without the flag `u` the sign is a literal beside a class.
                _ if self.legacy && (from.ranges().len() > 1 || to.ranges().len() > 1) => {
                    ranges.extend(from.ranges().iter().chain(to.ranges()));
                    ranges.push((0x2D, 0x2D));
                }
                _ => return Err(self.unexpected()),
            }
        }
        let class = Class::new(ranges);
        Ok(if negated { class.complement() } else { class })
    }

    fn class_atom(&mut self) -> Result<Class, Refusal> {
        if self.eat("\\-") {
            return Ok(Class::one(u32::from('-')));
        }
        if self.eat("\\b") {
            return Ok(Class::one(0x08));
        }
        match self.next() {
            Some('\\') if matches!(self.peek(), Some('1'..='9' | 'k')) => Err(self.unexpected()),
            Some('\\') => self.atom_escape(),
            Some(literal) => Ok(Class::one(u32::from(literal))),
            None => Err(self.unexpected()),
        }
    }

    fn atom_escape(&mut self) -> Result<Class, Refusal> {
        let refused = self.unexpected();
        let letter = self.next().ok_or_else(|| refused.clone())?;
        let code = match letter {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => return Class::escape(letter).ok_or(refused),
            'p' | 'P' if !self.legacy => return self.property(letter == 'P'),
            '1'..='9' | 'k' => return Err(Refusal::BackReference),
            't' => Some(0x09),
            'n' => Some(0x0A),
            'v' => Some(0x0B),
            'f' => Some(0x0C),
            'r' => Some(0x0D),
            '0' if !matches!(self.peek(), Some('0'..='9')) => Some(0),
            'c' => self.next().filter(char::is_ascii_alphabetic).map(|letter| u32::from(letter) % 32),
            'x' => self.hexadecimal(2),
            'u' if self.eat("{") => self.braced(),
            'u' => self.unit(),
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
                Some(u32::from(letter))
            }
            _ if self.legacy && !matches!(letter, 'x' | 'u' | 'c' | '0') => Some(u32::from(letter)),
            _ => None,
        };
        code.map(Class::one).ok_or(refused)
    }

    /// Reads `{Name}` or `{Name=Value}` behind `\p`.
    fn property(&mut self, negated: bool) -> Result<Class, Refusal> {
        let end =
            self.rest.find('}').filter(|_| self.rest.starts_with('{')).ok_or_else(|| self.unexpected())?;
        let name = &self.rest[1..end];
        let class = Class::property(name).ok_or_else(|| Refusal::Property(name.to_owned()))?;
        self.rest = &self.rest[end + 1..];
        Ok(if negated { class.complement() } else { class })
    }

    fn braced(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_once('}')?;
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let code = u32::from_str_radix(digits, 16).ok().filter(|code| is_number && *code <= 0x10_FFFF)?;
        self.rest = rest;
        Some(code)
    }

    /// Reads `\uXXXX`; a pair of surrogates is one character.
    fn unit(&mut self) -> Option<u32> {
        let high = self.hexadecimal(4)?;
        if (0xD800..0xDC00).contains(&high) {
            let before = self.rest;
            if self.eat("\\u")
                && let Some(low) = self.hexadecimal(4).filter(|low| (0xDC00..0xE000).contains(low))
            {
                return Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            }
            self.rest = before;
        }
        Some(high)
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text =
            self.rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let code = u32::from_str_radix(text, 16).ok()?;
        self.rest = &self.rest[digits..];
        Some(code)
    }
}
