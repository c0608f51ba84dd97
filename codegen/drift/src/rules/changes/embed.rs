//! Builds a value of the whole schema from a value of a part.

use serde_json::Value;

use crate::schema::node::Body;
use crate::schema::store::{NodeId, Store};

/// One step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Property(String),
    Item(usize),
}

/// The number of whole values that are tried for one part.
const MAX_WHOLES: usize = 24;

impl Store<'_> {
    /// Values of a node that have `part` at the end of the steps.
    pub(super) fn embedded(&self, node: NodeId, steps: &[Step], part: &Value) -> Vec<Value> {
        let Some((step, rest)) = steps.split_first() else { return vec![part.clone()] };
        if !self.spend(1) {
            return Vec::new();
        }
        let mut wholes = Vec::new();
        for case in &self.normal(node).cases {
            match (&case.body, step) {
                (Body::Object(objects), Step::Property(name)) => {
                    for member in self.embedded(self.child(objects, name), rest, part) {
                        wholes.extend(self.objects_with(objects, &[(name, &member)]));
                    }
                }
                (Body::Array(arrays), Step::Item(index)) => {
                    for item in self.embedded(arrays.item(*index), rest, part) {
                        wholes.extend(self.array_with(arrays, *index, &item));
                    }
                }
                _ => {}
            }
        }
        wholes.truncate(MAX_WHOLES);
        wholes
    }
}
