//! The body of a message: its fields, read one after the other. (PostgreSQL manual, "Message Data Types".)

/// The bytes of a message from which fields are read, one after the other. Each read returns `None` if they end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    /// Takes this number of bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// Takes all that is left.
    pub fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    /// Takes a text up to its zero byte, which is dropped.
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let end = self.0.iter().position(|byte| *byte == 0)?;
        let text = self.bytes(end)?;
        self.bytes(1).map(|_| text)
    }

    pub fn u8(&mut self) -> Option<u8> {
        self.bytes(1)?.first().copied()
    }

    pub fn u16(&mut self) -> Option<u16> {
        self.bytes(2)?.try_into().ok().map(u16::from_be_bytes)
    }

    pub fn u32(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_be_bytes)
    }

    /// Returns `None` if anything is left.
    pub fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}
