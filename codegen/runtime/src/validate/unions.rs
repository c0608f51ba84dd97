//! `anyOf` and `oneOf`.

use serde_json::Value;

use super::check::{At, Checker};
use super::conforms_within;
use super::issue::issues_to_value;
use crate::schema::{Schema, UnionRule};

impl Checker<'_> {
    pub(super) fn union(&mut self, schema: &Schema, rule: &UnionRule, value: &Value, at: At<'_>) {
        let steps = self.steps();
        let mut fitting = rule.branches.iter().filter(|branch| conforms_within(branch, value, steps));
        let Some(first) = fitting.next() else {
            return self.no_branch(schema, rule, at, |branch, inner| inner.node(branch, value, None));
        };
        if rule.exclusive && fitting.next().is_some() {
            return self.report(Some(schema), at, "invalid_union", || {
                let message = "Invalid input: more than one variant matches".to_owned();
                (message, vec![("errors", Value::Array(Vec::new()))])
            });
        }
        // It fits, so this reports nothing; it finds out whether there is something to normalise.
        self.node(first, value, at);
    }

    pub(super) fn union_missing(&mut self, schema: &Schema, rule: &UnionRule, at: At<'_>) {
        self.no_branch(schema, rule, at, |branch, inner| inner.missing(branch, None));
    }

    /// Reports what each branch had against the value; paths inside start at the union.
    fn no_branch(
        &mut self,
        schema: &Schema,
        rule: &UnionRule,
        at: At<'_>,
        check: impl Fn(&Schema, &mut Checker<'_>),
    ) {
        let steps = self.steps();
        self.report(Some(schema), at, "invalid_union", || {
            let errors = rule.branches.iter().map(|branch| {
                let mut inner = Checker::collecting(steps);
                check(branch, &mut inner);
                issues_to_value(&inner.into_issues())
            });
            ("Invalid input".to_owned(), vec![("errors", errors.collect())])
        });
    }
}
