//! A5: a frozen server holds up no other.

mod freezes;
mod held;
