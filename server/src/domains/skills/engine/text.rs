//! The text of a SKILL.md file: its front matter, its body, and why it is refused (skills#parser). Pure: the same
//! text gives the same answer, and no text causes a panic.

use super::frontmatter::Frontmatter;
use super::yaml::read_mapping;

/// The largest file.
pub const MAX_FILE_BYTES: usize = 1024 * 1024;
/// The largest front matter, without its two lines of hyphens.
pub const MAX_FRONTMATTER_BYTES: usize = 64 * 1024;
/// The most characters of a file's own text that a message repeats.
const MAX_SHOWN_CHARACTERS: usize = 60;

/// Why a file is not a skill (skills#parser).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// Missing, unreadable, not a regular file, or a link out of the root.
    ReadFailed,
    /// Larger than a cap.
    TooLarge,
    /// Invalid UTF-8.
    NotUtf8,
    /// Line 1 does not open a front matter.
    MissingFrontmatter,
    /// Line 1 names a language other than YAML.
    UnsupportedFrontmatter,
    /// No line closes the front matter.
    UnterminatedFrontmatter,
    /// Malformed, or uses a refused feature.
    YamlSyntax,
    /// Empty, a scalar or a list.
    NotAMapping,
    /// A key of the front matter breaks its rule.
    SchemaInvalid,
    /// The name is not the directory's.
    NameMismatch,
}

/// Every reason.
pub const REASONS: [Reason; 10] = [
    Reason::ReadFailed,
    Reason::TooLarge,
    Reason::NotUtf8,
    Reason::MissingFrontmatter,
    Reason::UnsupportedFrontmatter,
    Reason::UnterminatedFrontmatter,
    Reason::YamlSyntax,
    Reason::NotAMapping,
    Reason::SchemaInvalid,
    Reason::NameMismatch,
];

impl Reason {
    /// Returns the word for messages.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadFailed => "READ_FAILED",
            Self::TooLarge => "TOO_LARGE",
            Self::NotUtf8 => "NOT_UTF8",
            Self::MissingFrontmatter => "MISSING_FRONTMATTER",
            Self::UnsupportedFrontmatter => "UNSUPPORTED_FRONTMATTER",
            Self::UnterminatedFrontmatter => "UNTERMINATED_FRONTMATTER",
            Self::YamlSyntax => "YAML_SYNTAX",
            Self::NotAMapping => "NOT_A_MAPPING",
            Self::SchemaInvalid => "SCHEMA_INVALID",
            Self::NameMismatch => "NAME_MISMATCH",
        }
    }
}

/// Reason and detail of a refused text; [`super::SkillError`] adds the path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The broken rule.
    pub reason: Reason,
    /// The details, for people.
    pub detail: String,
}

impl Refusal {
    /// Makes a refusal with that detail.
    pub fn new(reason: Reason, detail: impl Into<String>) -> Self {
        Self { reason, detail: detail.into() }
    }
}

/// A skill as written in its file.
#[derive(Debug, Clone, PartialEq)]
pub struct ParsedSkill {
    /// The text between the two lines of hyphens, checked.
    pub frontmatter: Frontmatter,
    /// The text after them, verbatim.
    pub body: String,
}

/// Parses the bytes of a file.
///
/// # Errors
/// Every [`Reason`] except the two about the file's place.
pub fn parse_skill_bytes(bytes: &[u8]) -> Result<ParsedSkill, Refusal> {
    // Checked before UTF-8: a reader that stops at the cap may have split a character.
    within_cap(bytes.len())?;
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let detail = format!("byte {} is not UTF-8; save the file as UTF-8", error.valid_up_to() + 1);
        Refusal::new(Reason::NotUtf8, detail)
    })?;
    parse_skill_text(text)
}

/// Parses the text of a file.
///
/// # Errors
/// As [`parse_skill_bytes`].
pub fn parse_skill_text(text: &str) -> Result<ParsedSkill, Refusal> {
    within_cap(text.len())?;
    let (block, body) = split(text.strip_prefix('\u{FEFF}').unwrap_or(text))?;
    if block.len() > MAX_FRONTMATTER_BYTES {
        let detail = format!("the front matter has {} bytes, over {MAX_FRONTMATTER_BYTES}", block.len());
        return Err(Refusal::new(Reason::TooLarge, detail));
    }
    let frontmatter = Frontmatter::read(read_mapping(block)?)?;
    Ok(ParsedSkill { frontmatter, body: body.to_owned() })
}

fn within_cap(bytes: usize) -> Result<(), Refusal> {
    if bytes <= MAX_FILE_BYTES {
        return Ok(());
    }
    Err(Refusal::new(Reason::TooLarge, format!("the file has over {MAX_FILE_BYTES} bytes")))
}

/// Splits front matter and body.
fn split(text: &str) -> Result<(&str, &str), Refusal> {
    let (first, rest) = cut_line(text);
    match first.strip_prefix("---").map(|suffix| suffix.trim_end_matches([' ', '\t'])) {
        Some("" | "yaml") => {}
        Some(suffix) => {
            let detail =
                format!("line 1 must be `---`, nothing but YAML is read, and {} follows it", shown(suffix));
            return Err(Refusal::new(Reason::UnsupportedFrontmatter, detail));
        }
        None => {
            let detail = "line 1 must be `---`, with the front matter and another `---` below it";
            return Err(Refusal::new(Reason::MissingFrontmatter, detail));
        }
    }
    let mut at = 0;
    while at < rest.len() {
        let (line, after) = cut_line(&rest[at..]);
        if line.strip_prefix("---").is_some_and(|suffix| suffix.trim_end_matches([' ', '\t']).is_empty()) {
            return Ok((&rest[..at], after));
        }
        at = rest.len() - after.len();
    }
    let detail = "no line `---` closes the front matter";
    Err(Refusal::new(Reason::UnterminatedFrontmatter, detail))
}

/// Splits off the first line, without its line end (LF or CRLF).
fn cut_line(text: &str) -> (&str, &str) {
    match text.split_once('\n') {
        Some((line, rest)) => (line.strip_suffix('\r').unwrap_or(line), rest),
        None => (text, ""),
    }
}

/// Formats a file's own text for a message: quoted, escaped, and cut off if it is long.
pub fn shown(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARACTERS) {
        Some((end, _)) => format!("{:?}…", &text[..end]),
        None => format!("{text:?}"),
    }
}
