//! A6, A11: a new database file is whole or not there.
