//! What consensus keeps and what it does not (consensus#persistence): restarts, damage, kills, failed commits, two
//! processes with one key, a database that is only read.

mod commits;
mod damage;
mod key_file;
mod read_only;
mod restart;
mod support;
mod two_processes;
