//! The forms of configuration values. A rule reads a value, words the refusal, and describes itself for `--help` and
//! the reference page, so that the three cannot disagree.

use colibri_canonical::hex;
use colibri_proof::secret::Secret;
use colibri_visible::first_hidden;
use std::path::PathBuf;

use super::mode::Mode;
use crate::catalogue::CATALOGUE;
use colibri_runtime::chain::selection::Selection;

/// One form of value.
pub trait Rule: Sync {
    /// The parsed value.
    type Value;

    /// Reads a value.
    ///
    /// # Errors
    /// The end of a sentence that begins with the variable's name: `must be …`.
    fn parse(&self, text: &str) -> Result<Self::Value, String>;

    /// Returns the value of an unset variable.
    fn unset(&self) -> Self::Value;

    /// Returns the form in words, for people.
    fn describe(&self) -> String;

    /// Returns the default in words, for people.
    fn default_text(&self) -> String;
}

/// A whole number between two bounds, both allowed.
pub struct Integer {
    /// The smallest value.
    pub min: u32,
    /// The largest value.
    pub max: u32,
    /// The value when unset.
    pub default: u32,
}

impl Rule for Integer {
    type Value = u32;

    fn parse(&self, text: &str) -> Result<u32, String> {
        // Digits only: `+5` and ` 5` are more likely mistakes than intentions.
        let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let value = text.parse().ok().filter(|value| digits && (self.min..=self.max).contains(value));
        value.ok_or_else(|| format!("must be an integer between {} and {}", self.min, self.max))
    }

    fn unset(&self) -> u32 {
        self.default
    }

    fn describe(&self) -> String {
        format!("integer {} to {}", self.min, self.max)
    }

    fn default_text(&self) -> String {
        self.default.to_string()
    }
}

/// One of a few words.
pub struct Words<T: 'static> {
    /// The words and their values, in display order.
    pub words: &'static [(&'static str, T)],
    /// The value of an unset variable; one of `words` has it.
    pub default: T,
    /// Whether upper case is accepted.
    pub fold_case: bool,
}

impl<T: PartialEq> Words<T> {
    /// Returns the word for a value.
    pub fn word(&self, value: &T) -> Option<&'static str> {
        self.words.iter().find(|(_, known)| known == value).map(|(word, _)| *word)
    }
}

impl<T> Words<T> {
    fn names(&self) -> String {
        self.words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    }
}

impl<T: Copy + PartialEq + Sync> Rule for Words<T> {
    type Value = T;

    fn parse(&self, text: &str) -> Result<T, String> {
        let same = |word: &str| if self.fold_case { word.eq_ignore_ascii_case(text) } else { word == text };
        let found = self.words.iter().find(|(word, _)| same(word));
        found.map(|(_, value)| *value).ok_or_else(|| format!("must be one of {}", self.names()))
    }

    fn unset(&self) -> T {
        self.default
    }

    fn describe(&self) -> String {
        self.names() + if self.fold_case { " (any case)" } else { "" }
    }

    fn default_text(&self) -> String {
        self.word(&self.default).unwrap_or_default().to_owned()
    }
}

/// The runtime mode. [`detect_mode`](super::mode::detect_mode) words its refusal.
pub struct ModeName;

impl Rule for ModeName {
    type Value = Mode;

    fn parse(&self, text: &str) -> Result<Mode, String> {
        Mode::parse(text).ok_or_else(|| format!("must be one of {}", self.describe()))
    }

    fn unset(&self) -> Mode {
        Mode::Full
    }

    fn describe(&self) -> String {
        Mode::ALL.map(Mode::as_str).join(", ")
    }

    fn default_text(&self) -> String {
        self.unset().to_string()
    }
}

/// A path that must not be empty. A relative one starts at the working directory.
pub struct Path {
    /// The meaning of an unset variable, in words.
    pub default_text: &'static str,
}

impl Rule for Path {
    type Value = Option<PathBuf>;

    fn parse(&self, text: &str) -> Result<Option<PathBuf>, String> {
        if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(Some(PathBuf::from(text))) }
    }

    fn unset(&self) -> Option<PathBuf> {
        None
    }

    fn describe(&self) -> String {
        "path".to_owned()
    }

    fn default_text(&self) -> String {
        self.default_text.to_owned()
    }
}

/// The URL of a PostgreSQL database. [`Place`](super::place::Place) reads it, since a second setting decides what it may ask for.
pub(crate) struct Url;

impl Rule for Url {
    type Value = Option<Secret>;

    fn parse(&self, text: &str) -> Result<Option<Secret>, String> {
        if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(Some(Secret::new(text))) }
    }

    fn unset(&self) -> Option<Secret> {
        None
    }

    fn describe(&self) -> String {
        "secret, postgres://user:password@host:port/database?parameters".to_owned()
    }

    fn default_text(&self) -> String {
        UNSET.to_owned()
    }
}

/// A label of printable ASCII characters.
pub(crate) struct Label {
    /// The most characters it may have.
    pub max: usize,
}

impl Rule for Label {
    type Value = Option<String>;

    fn parse(&self, text: &str) -> Result<Option<String>, String> {
        let printable = text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
        if (1..=self.max).contains(&text.len()) && printable {
            Ok(Some(text.to_owned()))
        } else {
            Err(format!("must be {}", self.describe()))
        }
    }

    fn unset(&self) -> Option<String> {
        None
    }

    fn describe(&self) -> String {
        format!("1 to {} printable ASCII characters", self.max)
    }

    fn default_text(&self) -> String {
        UNSET.to_owned()
    }
}

/// A name of printable characters.
pub(crate) struct Actor {
    /// The most characters it may have.
    pub max: usize,
}

impl Rule for Actor {
    type Value = Option<String>;

    fn parse(&self, text: &str) -> Result<Option<String>, String> {
        let sound = (1..=self.max).contains(&text.chars().count()) && first_hidden(text).is_none();
        if sound && !text.trim().is_empty() {
            Ok(Some(text.to_owned()))
        } else {
            Err(format!("must be {}; unset it to name none", self.describe()))
        }
    }

    fn unset(&self) -> Option<String> {
        None
    }

    fn describe(&self) -> String {
        format!("1 to {} printable characters, not all of them blank", self.max)
    }

    fn default_text(&self) -> String {
        UNSET.to_owned()
    }
}

/// A list of Ed25519 public keys.
pub struct PublicKeys;

impl Rule for PublicKeys {
    type Value = Vec<[u8; 32]>;

    fn parse(&self, text: &str) -> Result<Vec<[u8; 32]>, String> {
        if text.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Option<Vec<_>> =
            text.split(',').map(|key| hex::decode_array_of_either_case(key.trim())).collect();
        keys.ok_or_else(|| format!("must be {}", self.describe()))
    }

    fn unset(&self) -> Vec<[u8; 32]> {
        Vec::new()
    }

    fn describe(&self) -> String {
        "a comma-separated list of public keys of 64 hex characters each".to_owned()
    }

    fn default_text(&self) -> String {
        "empty".to_owned()
    }
}

/// The source of the router's model candidates (router#candidates).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CandidateSource {
    /// No snapshot.
    Off,
    /// The models whose provider has a key.
    Auto,
    /// The database's table.
    Db,
    /// A JSON file.
    File(PathBuf),
}

/// The form of a [`CandidateSource`].
pub(crate) struct Candidates;

impl Rule for Candidates {
    type Value = CandidateSource;

    fn parse(&self, text: &str) -> Result<CandidateSource, String> {
        match text {
            "" | "off" => Ok(CandidateSource::Off),
            "auto" => Ok(CandidateSource::Auto),
            "db" => Ok(CandidateSource::Db),
            _ => match text.strip_prefix("file:") {
                Some(path) if !path.is_empty() => Ok(CandidateSource::File(PathBuf::from(path))),
                _ => Err(format!("must be one of {}", self.describe())),
            },
        }
    }

    fn unset(&self) -> CandidateSource {
        CandidateSource::Off
    }

    fn describe(&self) -> String {
        "off, auto, db, file:<path>".to_owned()
    }

    fn default_text(&self) -> String {
        "off".to_owned()
    }
}

/// The word that offers every tool.
const EVERYTHING: &str = "all";

/// The tools that clients are offered (chain#toolsets): toolsets and tools, or [`EVERYTHING`].
pub(crate) struct Toolsets;

impl Rule for Toolsets {
    type Value = Selection;

    fn parse(&self, text: &str) -> Result<Selection, String> {
        let (mut toolsets, mut tools) = (Vec::new(), Vec::new());
        let words: Vec<&str> = text.split(',').map(str::trim).collect();
        if words == [EVERYTHING] {
            return Ok(Selection::All);
        }
        for word in words {
            if let Some(set) = CATALOGUE.toolsets.iter().find(|set| set.name == word) {
                toolsets.push(set.name);
            } else if let Some(tool) = CATALOGUE.tools.iter().find(|tool| tool.name == word) {
                tools.push(tool.name);
            } else {
                return Err(unknown(word));
            }
        }
        Ok(Selection::Only { toolsets, tools })
    }

    fn unset(&self) -> Selection {
        Selection::All
    }

    fn describe(&self) -> String {
        format!("{EVERYTHING}, or a comma-separated list of toolsets ({}) and tools", set_names().join(", "))
    }

    fn default_text(&self) -> String {
        EVERYTHING.to_owned()
    }
}

/// Words the refusal of a word that names neither a toolset nor a tool.
fn unknown(word: &str) -> String {
    if word.is_empty() {
        return "has an empty word; write all, or toolsets and tools with a comma between two of them"
            .to_owned();
    }
    if word == EVERYTHING {
        return "has all beside other words; write all alone, or leave it out".to_owned();
    }
    let names = set_names().into_iter().chain(CATALOGUE.tools.iter().map(|tool| tool.name));
    match colibri_suggest::closest(word, names) {
        Some(near) => format!("has the unknown word {word:?}; did you mean {near}?"),
        None => format!("has the unknown word {word:?}; colibri tools lists toolsets and tools"),
    }
}

fn set_names() -> Vec<&'static str> {
    CATALOGUE.toolsets.iter().map(|set| set.name).collect()
}

/// A value whose presence and form are checked by each call that needs it; it never blocks boot.
pub(crate) struct AtCall {
    /// The form in words.
    pub form: &'static str,
    /// The meaning of an unset variable, in words.
    pub default_text: &'static str,
}

impl Rule for AtCall {
    type Value = ();

    fn parse(&self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn unset(&self) {}

    fn describe(&self) -> String {
        format!("{}, checked by each call", self.form)
    }

    fn default_text(&self) -> String {
        self.default_text.to_owned()
    }
}

/// Describes a variable without a default.
pub(crate) const UNSET: &str = "unset";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn integers_are_digits_within_their_bounds() {
        let rule = Integer { min: 1, max: 600_000, default: 30_000 };
        assert_eq!(rule.parse("1"), Ok(1));
        assert_eq!(rule.parse("600000"), Ok(600_000));
        for bad in ["", "0", "600001", "+5", " 5", "5 ", "abc", "1e3", "99999999999999999999"] {
            let refusal = rule.parse(bad).unwrap_err();
            assert_eq!(refusal, "must be an integer between 1 and 600000", "{bad:?}");
        }
    }

    #[test]
    fn public_keys_are_read_whole_or_refused() {
        let key = "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1fFF";
        let keys = PublicKeys.parse(&format!("{key}, {key}")).unwrap();
        assert_eq!(keys.len(), 2);
        assert_eq!((keys[0][0], keys[0][31]), (1, 255));
        for bad in ["zz", &key[1..], &format!("{key},"), &format!("+{}", &key[1..])] {
            assert!(PublicKeys.parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn candidate_sources_have_four_forms() {
        assert_eq!(Candidates.parse(""), Ok(CandidateSource::Off));
        assert_eq!(Candidates.parse("file:a.json"), Ok(CandidateSource::File("a.json".into())));
        for bad in ["bogus", "file:", "DB"] {
            assert_eq!(Candidates.parse(bad), Err("must be one of off, auto, db, file:<path>".to_owned()));
        }
    }

    #[test]
    fn words_are_toolsets_or_tools() {
        assert_eq!(Toolsets.parse("all"), Ok(Selection::All));
        assert_eq!(Toolsets.parse(" all "), Ok(Selection::All));
        let expected = Selection::Only { toolsets: vec!["core", "router"], tools: vec!["vrf_eval"] };
        assert_eq!(Toolsets.parse("core , vrf_eval,router"), Ok(expected));
    }

    #[test]
    fn other_words_are_refused_with_the_nearest_one() {
        for (text, refusal) in [
            ("", "has an empty word; write all, or toolsets and tools with a comma between two of them"),
            (
                "core,,router",
                "has an empty word; write all, or toolsets and tools with a comma between two of them",
            ),
            ("cor", "has the unknown word \"cor\"; did you mean core?"),
            ("core,task_creat", "has the unknown word \"task_creat\"; did you mean task_create?"),
            ("frobnicate", "has the unknown word \"frobnicate\"; colibri tools lists toolsets and tools"),
            ("core,all", "has all beside other words; write all alone, or leave it out"),
            ("CORE", "has the unknown word \"CORE\"; did you mean core?"),
        ] {
            assert_eq!(Toolsets.parse(text).unwrap_err(), refusal, "{text:?}");
        }
    }
}
