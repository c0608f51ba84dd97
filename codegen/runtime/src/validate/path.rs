//! Where in the arguments an issue is.

use serde_json::Value;

/// One step of an issue's path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathPart {
    /// An object's key.
    Key(String),
    /// An array's index.
    Index(usize),
}

impl PathPart {
    /// Returns it as a member of the issue's `path` array.
    pub fn to_value(&self) -> Value {
        match self {
            Self::Key(key) => Value::String(key.clone()),
            Self::Index(index) => Value::from(*index),
        }
    }
}

impl std::fmt::Display for PathPart {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(key) => f.write_str(key),
            Self::Index(index) => write!(f, "{index}"),
        }
    }
}

/// A path while the tree is walked: a list on the stack, so that sound input allocates nothing.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    parent: Option<&'a Place<'a>>,
    step: Step<'a>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl<'a> Place<'a> {
    pub(super) fn key(parent: Option<&'a Place<'a>>, key: &'a str) -> Self {
        Self { parent, step: Step::Key(key) }
    }

    pub(super) fn index(parent: Option<&'a Place<'a>>, index: usize) -> Self {
        Self { parent, step: Step::Index(index) }
    }
}

/// Returns the owned path of a place; empty for the root.
pub(super) fn parts(place: Option<&Place<'_>>) -> Vec<PathPart> {
    let mut parts = Vec::new();
    let mut next = place;
    while let Some(place) = next {
        parts.push(match place.step {
            Step::Key(key) => PathPart::Key(key.to_owned()),
            Step::Index(index) => PathPart::Index(index),
        });
        next = place.parent;
    }
    parts.reverse();
    parts
}
