//! Where the members of an object begin and end, of which only brackets, quotes, commas and colons are looked at.

/// What comes next in an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Key,
    InKey,
    Colon,
    Value,
    InScalar,
    InText,
    InNested,
    /// The comma or the end.
    Behind,
}

/// What a byte is to the members of the object that it stands directly in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// The first byte of a key, its quote.
    KeyBegins,
    /// The last byte of a key.
    KeyEnds,
    /// The first byte of a value.
    ValueBegins,
    /// The last byte of a value.
    ValueEnds,
    /// The first byte behind a value that has no end of its own: a number or a word.
    ValueEnded,
    /// Nothing of these.
    Other,
}

/// The place in one object.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Members(Phase);

impl Members {
    /// A quote that begins a text.
    pub(super) fn text_begins(&mut self) -> Step {
        match self.0 {
            Phase::Key => self.to(Phase::InKey, Step::KeyBegins),
            Phase::Value => self.to(Phase::InText, Step::ValueBegins),
            Phase::InScalar => self.to(Phase::Behind, Step::ValueEnded),
            _ => Step::Other,
        }
    }

    /// The quote that ends it.
    pub(super) fn text_ends(&mut self) -> Step {
        match self.0 {
            Phase::InKey => self.to(Phase::Colon, Step::KeyEnds),
            Phase::InText => self.to(Phase::Behind, Step::ValueEnds),
            _ => Step::Other,
        }
    }

    /// A bracket that opens.
    pub(super) fn nested_begins(&mut self) -> Step {
        match self.0 {
            Phase::Value => self.to(Phase::InNested, Step::ValueBegins),
            Phase::InScalar => self.to(Phase::Behind, Step::ValueEnded),
            _ => Step::Other,
        }
    }

    /// The bracket that closes it.
    pub(super) fn nested_ends(&mut self) -> Step {
        match self.0 {
            Phase::InNested => self.to(Phase::Behind, Step::ValueEnds),
            _ => Step::Other,
        }
    }

    /// The bracket that closes the object itself.
    pub(super) fn object_ends(&mut self) -> Step {
        match self.0 {
            Phase::InScalar => self.to(Phase::Behind, Step::ValueEnded),
            _ => Step::Other,
        }
    }

    /// Any other byte.
    pub(super) fn byte(&mut self, byte: u8) -> Step {
        match (byte, self.0) {
            (b',', Phase::InScalar) => self.to(Phase::Key, Step::ValueEnded),
            (b',', _) => self.to(Phase::Key, Step::Other),
            (b':', Phase::Colon) => self.to(Phase::Value, Step::Other),
            (b' ' | b'\t' | b'\r', Phase::InScalar) => self.to(Phase::Behind, Step::ValueEnded),
            (b' ' | b'\t' | b'\r', _) => Step::Other,
            (_, Phase::Value) => self.to(Phase::InScalar, Step::ValueBegins),
            _ => Step::Other,
        }
    }

    fn to(&mut self, phase: Phase, step: Step) -> Step {
        self.0 = phase;
        step
    }
}
