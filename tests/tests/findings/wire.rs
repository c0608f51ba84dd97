//! D1, D2: revisions and batches.
