//! What a dying process, a full disk and a locked file leave behind (design §3, §8; rulings R1, R2).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod dice;
mod full_disk;
mod kill;
mod locked_file;
mod sound;
mod victim;
