//! D4 to D9: what tools, modes and settings say of themselves.
