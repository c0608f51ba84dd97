//! A5: a frozen server holds up no other.
