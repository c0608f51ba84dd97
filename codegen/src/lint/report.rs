//! Where rules put what they find.

use crate::catalogue::{Catalogue, Finding, Location, Place};

/// The findings of one rule.
#[derive(Debug)]
pub struct Report<'a> {
    rule: &'static str,
    catalogue: &'a Catalogue,
    findings: Vec<Finding>,
}

impl<'a> Report<'a> {
    pub(super) fn new(rule: &'static str, catalogue: &'a Catalogue) -> Self {
        Self { rule, catalogue, findings: Vec::new() }
    }

    /// A finding about a value.
    pub fn value(&mut self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        self.push(self.catalogue.locate(place), message.into(), help.into());
    }

    /// A finding about a key, or about a value as a whole.
    pub fn key(&mut self, place: &Place, message: impl Into<String>, help: impl Into<String>) {
        self.push(self.catalogue.locate_key(place), message.into(), help.into());
    }

    fn push(&mut self, at: Location, message: String, help: String) {
        self.findings.push(Finding { at, rule: self.rule, message, help });
    }

    pub(super) fn into_findings(self) -> Vec<Finding> {
        self.findings
    }
}
