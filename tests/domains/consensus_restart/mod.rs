//! What consensus keeps and what it does not (theta §13, cases 22 to 27): restarts, damage, kills, failed commits, two
//! processes with one key, a database that is only read.

mod commits;
mod damage;
mod key_file;
mod read_only;
mod restart;
mod support;
mod two_processes;
