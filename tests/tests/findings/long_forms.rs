//! A12, D13: the seeds that failed.
