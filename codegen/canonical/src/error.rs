//! Why a value has no canonical form, and where in the value.

use std::fmt::Display;

use crate::MAX_DEPTH;

/// A value that cannot be encoded under the chosen number rule. The path starts at `$`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// An integer beyond ±(2^53-1) under rule `Trail`, or one whose digits the parser has rounded
    /// away under rule `Exact`.
    #[error("integer {value} beyond ±9007199254740991 at {path}")]
    UnsafeInteger {
        /// The integer as text.
        value: String,
        /// Where it stands.
        path: String,
    },
    /// A fraction under rule `Exact`.
    #[error("non-integer number {value} at {path}")]
    Fraction {
        /// The number as text.
        value: String,
        /// Where it stands.
        path: String,
    },
    /// Not a number, or infinite.
    #[error("number that is not finite at {path}")]
    NotFinite {
        /// Where it stands.
        path: String,
    },
    /// Nesting beyond [`MAX_DEPTH`].
    #[error("nesting deeper than {MAX_DEPTH} at {path}")]
    TooDeep {
        /// The first array or object that is too deep.
        path: String,
    },
}

impl CanonicalError {
    /// The error's code: `UNSAFE_INTEGER`, `FRACTION`, `NOT_FINITE` or `TOO_DEEP`.
    pub fn code(&self) -> &'static str {
        match self {
            Self::UnsafeInteger { .. } => "UNSAFE_INTEGER",
            Self::Fraction { .. } => "FRACTION",
            Self::NotFinite { .. } => "NOT_FINITE",
            Self::TooDeep { .. } => "TOO_DEEP",
        }
    }

    fn path_mut(&mut self) -> &mut String {
        match self {
            Self::UnsafeInteger { path, .. }
            | Self::Fraction { path, .. }
            | Self::NotFinite { path }
            | Self::TooDeep { path } => path,
        }
    }
}

pub(super) type Canonical = Result<(), Unplaced>;

/// An error on its way up. Each level adds its step, so that success pays nothing for paths.
pub(super) struct Unplaced {
    error: Box<CanonicalError>,
    steps: Vec<String>,
}

impl Unplaced {
    pub(super) fn under_key(mut self, key: &str) -> Self {
        let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        let step = if plain {
            format!(".{key}")
        } else {
            let mut quoted = String::from("[");
            crate::escape::push_string(&mut quoted, key);
            quoted.push(']');
            quoted
        };
        self.steps.push(step);
        self
    }

    pub(super) fn under_index(mut self, index: usize) -> Self {
        self.steps.push(format!("[{index}]"));
        self
    }

    pub(super) fn finish(mut self) -> CanonicalError {
        let path = self.error.path_mut();
        path.push('$');
        path.extend(self.steps.iter().rev().map(String::as_str));
        *self.error
    }
}

fn unplaced(error: CanonicalError) -> Unplaced {
    Unplaced { error: Box::new(error), steps: Vec::new() }
}

pub(super) fn too_deep() -> Unplaced {
    unplaced(CanonicalError::TooDeep { path: String::new() })
}

pub(super) fn not_finite() -> Unplaced {
    unplaced(CanonicalError::NotFinite { path: String::new() })
}

pub(super) fn unsafe_integer(integer: &impl Display) -> Unplaced {
    unplaced(CanonicalError::UnsafeInteger { value: integer.to_string(), path: String::new() })
}

pub(super) fn rounded(float: f64) -> Unplaced {
    let value = ryu_js::Buffer::new().format_finite(float).to_owned();
    unplaced(CanonicalError::UnsafeInteger { value, path: String::new() })
}

pub(super) fn fraction(float: f64) -> Unplaced {
    let value = ryu_js::Buffer::new().format_finite(float).to_owned();
    unplaced(CanonicalError::Fraction { value, path: String::new() })
}
