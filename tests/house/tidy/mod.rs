//! What must never be in the work tree (store#borders): rules that the compiler and clippy do not know.
//! A finding is a line `path:line: what`; a rule's test prints all of them.

mod borders;
mod consensus;
mod fronts;
mod graph;
mod names;
mod packages;
mod size;
pub mod source;
mod texts;
pub mod tree;

/// Fails with the findings, if there are any.
pub fn assert_none(findings: &[String]) {
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}
