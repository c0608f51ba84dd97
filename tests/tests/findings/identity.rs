//! A1 to A4: the path leads to the file that the server has open, and restoring has a command.
