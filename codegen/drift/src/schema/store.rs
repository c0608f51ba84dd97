//! Two schemas side by side: their places, the nodes made of places, and the verdicts so far.
//!
//! A node is a set of places whose schemas must all hold. So `allOf`, `$ref` and properties that
//! several schemas constrain have one form. There are finitely many sets, so recursive schemas
//! end.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use colibri_pattern::{Regex, Steps};
use serde_json::Value;

use super::contain::Verdict;
use super::node::{Case, Normal};
use super::number::Known;
use super::regex::Automaton;
use super::text::ANNOTATIONS;
use super::validate::Checks;

/// A schema somewhere in one of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Site(u32);

/// A set of places whose schemas must all hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NodeId(u32);

impl NodeId {
    /// The empty set: every value.
    pub(crate) const ANY: Self = Self(0);
}

/// Steps that one comparison may take; beyond them everything is undecided.
const MAX_STEPS: u32 = 20_000;

/// What one comparison may spend on schemas that are read, merged, checked or walked through; beyond it everything is undecided. A
/// published schema takes some thousands.
const MAX_WORK: u64 = 200_000;

/// Schemas inside each other, by references; JSON text can nest 64 of them without.
const MAX_NESTED: usize = 128;

/// The reason for an undecided answer when the comparison has spent what it may.
pub(crate) const TOO_COMPLEX: &str = "too complex to compare, a person must look";

pub(crate) struct Store<'a> {
    places: RefCell<Places<'a>>,
    pub(super) normals: RefCell<HashMap<NodeId, Rc<Normal>>>,
    pub(super) texts: RefCell<HashMap<Site, Option<Rc<str>>>>,
    /// Texts of schemas that refer to no schema around them.
    pub(super) closed_texts: RefCell<HashMap<Site, Rc<str>>>,
    pub(super) samples: RefCell<HashMap<NodeId, Rc<Vec<Value>>>>,
    pub(super) sampling: RefCell<Vec<NodeId>>,
    pub(super) verdicts: RefCell<HashMap<(NodeId, NodeId), Verdict>>,
    pub(super) asked: RefCell<Vec<(NodeId, NodeId)>>,
    automata: RefCell<HashMap<String, Option<Rc<Automaton>>>>,
    engines: RefCell<HashMap<String, Option<Rc<Regex>>>>,
    /// Cases of schemas that refer to no schema around them.
    pub(super) site_cases: RefCell<HashMap<Site, Vec<Case>>>,
    /// The outermost enclosing schema to which a reference has led back.
    pub(super) returned_to: Cell<usize>,
    pub(super) normalising: RefCell<Vec<NodeId>>,
    /// Long lists of values, by their place in the document.
    pub(super) choices: RefCell<HashMap<*const Value, Option<Rc<Known>>>>,
    pub(super) checks: Checks,
    steps: Cell<u32>,
    work: Cell<u64>,
    /// Something was left undecided because it is too complex.
    exhausted: Cell<bool>,
    /// Another verdict has assumed one that is not finished yet.
    pub(super) assumed: Cell<bool>,
}

#[derive(Default)]
struct Places<'a> {
    sites: Vec<Place<'a>>,
    site_of: HashMap<usize, Site>,
    nodes: Vec<Rc<[Site]>>,
    node_of: HashMap<Rc<[Site]>, NodeId>,
}

/// A schema and its document.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    pub schema: &'a Value,
    root: &'a Value,
}

impl<'a> Store<'a> {
    pub(crate) fn new() -> Self {
        let any: Rc<[Site]> = Rc::from([]);
        let places = Places {
            nodes: vec![any.clone()],
            node_of: HashMap::from([(any, NodeId::ANY)]),
            ..Places::default()
        };
        Self {
            places: RefCell::new(places),
            normals: RefCell::default(),
            texts: RefCell::default(),
            closed_texts: RefCell::default(),
            samples: RefCell::default(),
            sampling: RefCell::default(),
            verdicts: RefCell::default(),
            asked: RefCell::default(),
            automata: RefCell::default(),
            engines: RefCell::default(),
            site_cases: RefCell::default(),
            returned_to: Cell::new(usize::MAX),
            normalising: RefCell::default(),
            choices: RefCell::default(),
            checks: Checks::default(),
            steps: Cell::new(0),
            work: Cell::new(0),
            exhausted: Cell::new(false),
            assumed: Cell::new(false),
        }
    }

    /// The place of a schema of the document `root`; the same value is always the same place.
    pub(crate) fn site(&self, schema: &'a Value, root: &'a Value) -> Site {
        let mut places = self.places.borrow_mut();
        let next = Site(u32::try_from(places.sites.len()).unwrap_or(u32::MAX));
        let site = *places.site_of.entry(std::ptr::from_ref(schema) as usize).or_insert(next);
        if site == next {
            places.sites.push(Place { schema, root });
        }
        site
    }

    pub(crate) fn place(&self, site: Site) -> Place<'a> {
        self.places.borrow().sites[site.0 as usize]
    }

    /// The place of a schema inside the schema at `site`.
    pub(crate) fn inner(&self, site: Site, schema: &'a Value) -> Site {
        let root = self.place(site).root;
        self.site(schema, root)
    }

    pub(crate) fn node(&self, sites: &[Site]) -> NodeId {
        let mut sites: Vec<Site> = sites.iter().copied().filter(|site| !self.is_any(*site)).collect();
        sites.sort_unstable();
        sites.dedup();
        let key: Rc<[Site]> = sites.into();
        let mut places = self.places.borrow_mut();
        if let Some(node) = places.node_of.get(&key) {
            return *node;
        }
        let node = NodeId(u32::try_from(places.nodes.len()).unwrap_or(u32::MAX));
        places.nodes.push(key.clone());
        places.node_of.insert(key, node);
        node
    }

    fn is_any(&self, site: Site) -> bool {
        match self.place(site).schema {
            Value::Bool(all) => *all,
            Value::Object(keywords) => keywords.is_empty(),
            _ => false,
        }
    }

    pub(crate) fn sites(&self, node: NodeId) -> Rc<[Site]> {
        self.places.borrow().nodes[node.0 as usize].clone()
    }

    /// The node whose values fit both.
    pub(crate) fn both(&self, one: NodeId, other: NodeId) -> NodeId {
        if one == other || other == NodeId::ANY {
            return one;
        }
        if one == NodeId::ANY {
            return other;
        }
        let sites = [self.sites(one), self.sites(other)].concat();
        self.node(&sites)
    }

    /// Returns the target of a `$ref` of the schema at `site`, which must be in the same document.
    pub(crate) fn target(&self, site: Site, reference: &str) -> Option<Site> {
        let root = self.place(site).root;
        let (document, fragment) = reference.split_once('#')?;
        let own = root.get("$id").and_then(Value::as_str).unwrap_or_default();
        if !document.is_empty() && document != own.trim_end_matches('#') {
            return None;
        }
        let fragment = percent_decoded(fragment)?;
        let found = if fragment.is_empty() || fragment.starts_with('/') {
            root.pointer(&fragment)?
        } else {
            anchored(root, &fragment)?
        };
        Some(self.site(found, root))
    }

    /// Follows a schema that only refers to a definition, and says whether a description or another remark accompanies the reference. Any
    /// other node is returned as it is.
    pub(crate) fn definition(&self, node: NodeId) -> (NodeId, bool) {
        let (mut node, mut says) = (node, false);
        // A chain of references may lead back to its beginning.
        for _ in 0..MAX_NESTED {
            let [site] = *self.sites(node) else { break };
            let Value::Object(keywords) = self.place(site).schema else { break };
            if !keywords.keys().all(|keyword| keyword == "$ref" || ANNOTATIONS.contains(&keyword.as_str())) {
                break;
            }
            let reference = keywords.get("$ref").and_then(Value::as_str);
            let Some(target) = reference.and_then(|reference| self.target(site, reference)) else { break };
            node = self.node(&[target]);
            says |= keywords.len() > 1;
        }
        (node, says)
    }

    /// Up to draft 7, keywords beside `$ref` do not count.
    pub(crate) fn reference_stands_alone(&self, site: Site) -> bool {
        let draft = self.place(site).root.get("$schema").and_then(Value::as_str).unwrap_or_default();
        ["draft-03", "draft-04", "draft-06", "draft-07"].iter().any(|old| draft.contains(old))
    }

    /// The automaton of a pattern, unless it is outside the dialect or too large.
    pub(crate) fn automaton(&self, pattern: &str) -> Option<Rc<Automaton>> {
        if let Some(known) = self.automata.borrow().get(pattern) {
            return known.clone();
        }
        let automaton = Automaton::new(pattern).map(Rc::new);
        self.automata.borrow_mut().insert(pattern.to_owned(), automaton.clone());
        automaton
    }

    /// Checks whether a pattern matches in a text; `None` if no engine reads it.
    pub(crate) fn matches(&self, pattern: &str, text: &str) -> Option<bool> {
        if let Some(automaton) = self.automaton(pattern) {
            return Some(automaton.takes(text));
        }
        let known = self.engines.borrow().get(pattern).cloned();
        let engine = known.unwrap_or_else(|| {
            let engine = Regex::new(pattern).or_else(|_| Regex::legacy(pattern)).ok().map(Rc::new);
            self.engines.borrow_mut().insert(pattern.to_owned(), engine.clone());
            engine
        });
        engine?.is_match(text, &Steps::default()).ok()
    }

    /// Takes a step of the budget; false when it is used up.
    pub(crate) fn step(&self) -> bool {
        let steps = self.steps.get();
        self.steps.set(steps.saturating_add(1));
        if steps >= MAX_STEPS {
            self.exhausted.set(true);
        }
        !self.is_exhausted()
    }

    /// Spends some of what the comparison may; false when it is used up.
    pub(crate) fn spend(&self, work: u64) -> bool {
        self.work.set(self.work.get().saturating_add(work));
        if self.work.get() > MAX_WORK {
            self.exhausted.set(true);
        }
        !self.is_exhausted()
    }

    /// What was spent.
    pub(crate) fn spent(&self) -> u64 {
        self.work.get()
    }

    /// Returns whether something was left undecided because it is too complex.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.exhausted.get()
    }

    /// Leaves the comparison undecided from now on.
    pub(crate) fn exhaust(&self) {
        self.exhausted.set(true);
    }

    /// Returns whether schemas are nested so deep that the comparison leaves them undecided.
    pub(super) fn is_too_deep(&self, nested: usize) -> bool {
        if nested > MAX_NESTED {
            self.exhaust();
        }
        nested > MAX_NESTED
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn anchored<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    match schema {
        Value::Object(members) => {
            if members.get("$anchor").and_then(Value::as_str) == Some(name) {
                return Some(schema);
            }
            members.values().find_map(|member| anchored(member, name))
        }
        Value::Array(items) => items.iter().find_map(|item| anchored(item, name)),
        _ => None,
    }
}
