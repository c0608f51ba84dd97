//! The process environment, captured once; only this module reads it (chain#configuration).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// All variables of a process, names and values kept byte for byte.
///
/// It has no `Debug`: values may be secrets.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

/// A variable's value is not valid UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotUtf8;

impl Environment {
    /// Reads this process's environment.
    pub fn capture() -> Self {
        Self { variables: std::env::vars_os().collect() }
    }

    /// Returns a copy in which the variable has this value.
    #[must_use]
    pub fn with(&self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        let mut changed = self.clone();
        changed.variables.insert(name.into(), value.into());
        changed
    }

    /// Returns a copy in which the variable is not set.
    #[must_use]
    pub(crate) fn without(&self, name: &str) -> Self {
        let mut changed = self.clone();
        changed.variables.remove(OsStr::new(name));
        changed
    }

    /// Returns the variables for another project's program: without those whose names begin with `own`, but for the ones to keep.
    pub(crate) fn for_another<'a>(
        &'a self,
        own: &'a str,
        kept: &'a [OsString],
    ) -> impl Iterator<Item = (&'a OsStr, &'a OsStr)> {
        let passes = move |name: &OsString| {
            !name.as_encoded_bytes().starts_with(own.as_bytes()) || kept.contains(name)
        };
        self.variables
            .iter()
            .filter(move |(name, _)| passes(name))
            .map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }

    /// Returns the variable's value, if it is set. A host's form leaves a field empty where the person means no value, so an
    /// empty variable counts as one that is not set.
    pub(crate) fn get_os(&self, name: &str) -> Option<&OsStr> {
        self.variables.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }

    /// Returns the variable's value as text, if it is set.
    ///
    /// # Errors
    /// [`NotUtf8`] if its value is not text.
    pub fn get(&self, name: &str) -> Result<Option<&str>, NotUtf8> {
        self.get_os(name).map(|value| value.to_str().ok_or(NotUtf8)).transpose()
    }

    /// Returns the names of set variables that begin with `prefix`, sorted; bytes that are not UTF-8 are shown as U+FFFD.
    pub(crate) fn names_with_prefix(&self, prefix: &str) -> Vec<String> {
        let set = self.variables.iter().filter(|(_, value)| !value.is_empty()).map(|(name, _)| name);
        set.filter(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }
}

impl<K: Into<OsString>, V: Into<OsString>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        Self { variables: pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect() }
    }
}

impl<K: Into<OsString>, V: Into<OsString>, const N: usize> From<[(K, V); N]> for Environment {
    fn from(pairs: [(K, V); N]) -> Self {
        pairs.into_iter().collect()
    }
}
