//! A7 to A10: replies that cannot be written, limits of the process, and what an interrupted command leaves.
