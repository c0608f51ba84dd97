//! C1 to C4: keys in foreign text, and foreign text on terminals.
