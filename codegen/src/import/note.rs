//! What a catalogue cannot express.

/// What became a comment in the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// The tool; `None` for the server.
    pub tool: Option<String>,
    /// What the catalogue cannot express, and why.
    pub text: String,
}
