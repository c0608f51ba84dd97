//! Parses the portable dialect: literals, classes, groups, alternation, counts and anchors. Reads them as ECMAScript's
//! Unicode mode does (ECMA-262 §22.2.1), and writes them again in the syntax of the automata.
//!
//! Refuses syntax that differs between engines or is beyond regular languages: look-around, back references, word
//! boundaries, properties (`\p`), and what only the old mode allows.

use super::class::Class;

/// Groups that are nested deeper are refused.
const MAX_DEPTH: usize = 50;
/// Greater counts are refused; they make automata too large anyway.
const MAX_COUNT: u32 = 10_000;

/// Translates the pattern to the syntax of `regex-syntax`; `None` outside the dialect.
pub(super) fn translate(pattern: &str) -> Option<String> {
    let mut parser = Parser { rest: pattern, out: String::with_capacity(pattern.len() * 4) };
    parser.alternatives(0)?;
    parser.rest.is_empty().then_some(parser.out)
}

struct Parser<'p> {
    rest: &'p str,
    out: String,
}

impl Parser<'_> {
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

    fn alternatives(&mut self, depth: usize) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        loop {
            while !matches!(self.peek(), None | Some('|' | ')')) {
                self.term(depth)?;
            }
            if !self.eat("|") {
                return Some(());
            }
            self.out.push('|');
        }
    }

    fn term(&mut self, depth: usize) -> Option<()> {
        match self.next()? {
            '^' => {
                self.out.push_str("\\A");
                return (!self.counted()).then_some(());
            }
            '$' => {
                self.out.push_str("\\z");
                return (!self.counted()).then_some(());
            }
            '(' => self.group(depth)?,
            '[' => self.class()?.write(&mut self.out),
            '.' => Class::dot().write(&mut self.out),
            '\\' => self.atom_escape()?.write(&mut self.out),
            '*' | '+' | '?' | '{' | '}' | ']' => return None,
            literal => one(literal).write(&mut self.out),
        }
        self.count()
    }

    fn counted(&self) -> bool {
        matches!(self.peek(), Some('*' | '+' | '?' | '{'))
    }

    fn group(&mut self, depth: usize) -> Option<()> {
        if self.eat("?") && !self.eat(":") {
            if !self.eat("<") || matches!(self.peek(), Some('=' | '!')) {
                return None;
            }
            let end = self.rest.find('>')?;
            let name = &self.rest[..end];
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
            if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || !name.chars().all(plain) {
                return None;
            }
            self.rest = &self.rest[end + 1..];
        }
        self.out.push_str("(?:");
        self.alternatives(depth + 1)?;
        self.out.push(')');
        self.eat(")").then_some(())
    }

    /// Reads a count behind an atom. Whether it is lazy makes no difference to what matches.
    fn count(&mut self) -> Option<()> {
        match self.peek() {
            Some(sign @ ('*' | '+' | '?')) => {
                self.next();
                self.out.push(sign);
            }
            Some('{') => {
                self.next();
                let least = self.digits()?;
                let most = if self.eat(",") {
                    if self.peek() == Some('}') { None } else { Some(self.digits()?) }
                } else {
                    Some(least)
                };
                if !self.eat("}") || most.is_some_and(|most| most < least) {
                    return None;
                }
                let most = most.map_or_else(String::new, |most| most.to_string());
                self.out.push_str(&format!("{{{least},{most}}}"));
            }
            _ => return Some(()),
        }
        self.eat("?");
        (!self.counted()).then_some(())
    }

    fn digits(&mut self) -> Option<u32> {
        let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let number = self.rest[..end].parse().ok().filter(|number| *number <= MAX_COUNT);
        self.rest = &self.rest[end..];
        number
    }

    fn class(&mut self) -> Option<Class> {
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
                _ => return None,
            }
        }
        let class = Class::new(ranges);
        Some(if negated { class.complement() } else { class })
    }

    fn class_atom(&mut self) -> Option<Class> {
        match self.next()? {
            '\\' if self.eat("-") => Some(one('-')),
            '\\' if self.eat("b") => Some(one('\u{8}')),
            '\\' => self.atom_escape(),
            literal => Some(one(literal)),
        }
    }

    fn atom_escape(&mut self) -> Option<Class> {
        let letter = self.next()?;
        let code = match letter {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' => return Class::escape(letter),
            't' => 0x09,
            'n' => 0x0A,
            'v' => 0x0B,
            'f' => 0x0C,
            'r' => 0x0D,
            '0' if !matches!(self.peek(), Some('0'..='9')) => 0,
            'c' => u32::from(self.next().filter(char::is_ascii_alphabetic)?) % 32,
            'x' => self.hexadecimal(2)?,
            'u' if self.eat("{") => {
                let end = self.rest.find('}').filter(|end| (1..=6).contains(end))?;
                let code = self.hexadecimal(end)?;
                self.next();
                code
            }
            'u' => self.unit()?,
            '^' | '$' | '\\' | '.' | '*' | '+' | '?' | '(' | ')' | '[' | ']' | '{' | '}' | '|' | '/' => {
                u32::from(letter)
            }
            _ => return None,
        };
        char::from_u32(code).map(one)
    }

    /// Reads `\uXXXX`; a pair of surrogates is one character.
    fn unit(&mut self) -> Option<u32> {
        let high = self.hexadecimal(4)?;
        if !(0xD800..0xDC00).contains(&high) {
            return Some(high);
        }
        if !self.eat("\\u") {
            return None;
        }
        let low = self.hexadecimal(4).filter(|low| (0xDC00..0xE000).contains(low))?;
        Some(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00))
    }

    fn hexadecimal(&mut self, digits: usize) -> Option<u32> {
        let text =
            self.rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let code = u32::from_str_radix(text, 16).ok()?;
        self.rest = &self.rest[digits..];
        Some(code)
    }
}

fn one(literal: char) -> Class {
    Class::new(vec![(u32::from(literal), u32::from(literal))])
}

#[cfg(test)]
mod tests {
    use super::translate;

    #[test]
    fn dialect_has_edges() {
        for inside in [
            "",
            "a|b",
            "^[a-z][^0-9]$",
            "(?:a){2,}?",
            "(?<year>\\d{4})",
            "[\\w.-]+",
            "\\u{1F600}",
            "\\uD83D\\uDE00",
            "[]",
            "[^]",
            "\\/",
            "a{0}",
            "(|a)*",
            "[\\b\\-]",
            "^$",
        ] {
            assert!(translate(inside).is_some(), "{inside}");
        }
        for outside in [
            "(?=a)", "(?<!a)b", "(a)\\1", "\\bword", "\\p{L}", "a{", "]", "a**", "^*", "[z-a]", "(a", "a)",
            "\\-", "\\a", "[\\d-z]", "\\uD83D", "(?i:a)", "a{2,1}", "\\k<a>", "\\01", "(?<1a>b)",
        ] {
            assert!(translate(outside).is_none(), "{outside}");
        }
    }
}
