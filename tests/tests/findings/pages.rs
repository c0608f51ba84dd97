//! F: the pages say what happens.
