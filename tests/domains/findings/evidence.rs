//! B2, B6 to B9: what an auditor is told, and who may read the files made for one.

mod desk;
mod files;
mod histories;
mod signatures;
mod words;
