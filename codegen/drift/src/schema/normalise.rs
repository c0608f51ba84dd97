//! Converts a schema to its normal form: follows references, merges `allOf`, spreads unions out, and
//! reduces equal meanings to one spelling.

use std::rc::Rc;

use serde_json::{Map, Value};

use super::merge::{Unmerged, merge, tidy};
use super::node::{Body, Bound, Case, Normal, Numbers, Residue, TYPES, Texts, Type};
use super::number::{Num, overlap};
use super::store::{NodeId, Site, Store};
use super::text::{is_annotation, is_known};
use super::validate::{count, looks_like_additional, prefix};

/// A schema with more cases than this counts as undecided.
const MAX_CASES: usize = 64;

impl<'a> Store<'a> {
    /// Returns the normal form of a node.
    pub(crate) fn normal(&self, node: NodeId) -> Rc<Normal> {
        if let Some(known) = self.normals.borrow().get(&node) {
            return known.clone();
        }
        let mut cases = TYPES.map(Case::all).to_vec();
        // A schema whose branches are told apart by the schema itself stays undecided there.
        if self.normalising.borrow().contains(&node) {
            for site in &*self.sites(node) {
                cases = cases.into_iter().map(|case| self.with_residue(case, *site, "")).collect();
            }
            return Rc::new(Normal { cases });
        }
        self.normalising.borrow_mut().push(node);
        for site in &*self.sites(node) {
            let next = self.site_cases(*site, &mut Vec::new());
            cases = self.meet(cases, &next, *site, "");
        }
        self.normalising.borrow_mut().pop();
        for case in &mut cases {
            self.keep_fitting(node, case);
        }
        cases.retain(|case| !matches!(&case.body, Body::Values(values) if values.is_empty()));
        let normal = Rc::new(Normal { cases: tidy(cases) });
        self.normals.borrow_mut().insert(node, normal.clone());
        normal
    }

    /// Checks whether the normal form of a node shows directly that no value fits.
    pub(crate) fn is_never(&self, node: NodeId) -> bool {
        node != NodeId::ANY && self.normal(node).cases.is_empty()
    }

    /// Checks single values one by one, so that no residue is left.
    fn keep_fitting(&self, node: NodeId, case: &mut Case) {
        let Body::Values(values) = &mut case.body else { return };
        let mut decided = true;
        values.retain(|value| {
            let fits = self.fits(node, value);
            decided &= fits.is_some();
            fits != Some(false)
        });
        if decided {
            case.residue.retain(|_, residue| residue.is_remark());
        }
    }

    /// Values that fit a case of each; what cannot be merged stays as a residue of the schema at `site`.
    fn meet(&self, cases: Vec<Case>, others: &[Case], site: Site, keyword: &str) -> Vec<Case> {
        let mut met = Vec::new();
        for case in &cases {
            let mut unmerged = false;
            for other in others.iter().filter(|other| other.kind == case.kind) {
                if !self.spend(1) {
                    unmerged = true;
                    break;
                }
                match merge(self, case, other) {
                    Ok(merged) => met.extend(merged),
                    Err(Unmerged) => unmerged = true,
                }
            }
            if unmerged {
                met.push(self.with_residue(case.clone(), site, keyword));
            }
        }
        if met.len() > MAX_CASES {
            return cases.into_iter().map(|case| self.with_residue(case, site, keyword)).collect();
        }
        tidy(met)
    }

    fn with_residue(&self, mut case: Case, site: Site, keyword: &str) -> Case {
        let related: &[&str] = match keyword {
            "" => &[],
            "if" => &["if", "then", "else"],
            "contains" => &["contains", "minContains", "maxContains"],
            "properties" => &["properties", "patternProperties", "additionalProperties"],
            other => &[other],
        };
        let whole = ["", "unevaluatedProperties", "unevaluatedItems"].contains(&keyword);
        let text = if whole { self.text(site) } else { self.text_of(site, related) };
        // Without a text it is equal to nothing but itself.
        let text = text.unwrap_or_else(|| Rc::from(format!("{keyword} of {site:?}")));
        case.residue.insert(text, Residue { site, keyword: Rc::from(keyword) });
        case
    }

    /// Returns the cases of one schema; `open` are the enclosing schemas of the same value.
    fn site_cases(&self, site: Site, open: &mut Vec<Site>) -> Vec<Case> {
        let everything = || TYPES.map(Case::all).to_vec();
        let schema = match self.place(site).schema {
            Value::Bool(true) => return everything(),
            Value::Bool(false) => return Vec::new(),
            Value::Object(schema) => schema,
            _ => return self.undecided(site),
        };
        if let Some(known) = self.site_cases.borrow().get(&site) {
            return known.clone();
        }
        if let Some(at) = open.iter().position(|enclosing| *enclosing == site) {
            self.returned_to.set(self.returned_to.get().min(at));
            return self.undecided(site);
        }
        if !self.spend(1) || self.is_too_deep(open.len()) {
            return self.undecided(site);
        }
        let outside = self.returned_to.replace(usize::MAX);
        open.push(site);
        let mut cases = everything();
        if !(schema.contains_key("$ref") && self.reference_stands_alone(site)) {
            cases = self.own(site, schema);
            cases = self.unions(site, schema, cases, open);
        }
        if let Some(reference) = schema.get("$ref") {
            match reference.as_str().and_then(|reference| self.target(site, reference)) {
                Some(target) => cases = self.meet(cases, &self.site_cases(target, open), target, ""),
                None => {
                    cases = cases.into_iter().map(|case| self.with_residue(case, site, "$ref")).collect();
                }
            }
        }
        open.pop();
        // Schemas whose references lead out of this one have other cases inside another schema.
        let inside = self.returned_to.get();
        if inside >= open.len() {
            self.site_cases.borrow_mut().insert(site, cases.clone());
            self.returned_to.set(outside);
        } else {
            self.returned_to.set(inside.min(outside));
        }
        cases
    }

    /// Everything, of which the schema at `site` refuses an unknown part.
    fn undecided(&self, site: Site) -> Vec<Case> {
        TYPES.map(|kind| self.with_residue(Case::all(kind), site, "")).to_vec()
    }

    fn unions(
        &self,
        site: Site,
        schema: &'a Map<String, Value>,
        cases: Vec<Case>,
        open: &mut Vec<Site>,
    ) -> Vec<Case> {
        let mut cases = cases;
        let parts = |keyword| schema.get(keyword).and_then(Value::as_array).into_iter().flatten();
        for part in parts("allOf") {
            let part = self.inner(site, part);
            cases = self.meet(cases, &self.site_cases(part, open), part, "");
        }
        for keyword in ["anyOf", "oneOf"] {
            if !schema.get(keyword).is_some_and(Value::is_array) {
                continue;
            }
            let branches: Vec<Vec<Case>> =
                parts(keyword).map(|part| self.site_cases(self.inner(site, part), open)).collect();
            let exclusive = keyword == "anyOf"
                || schema.get(keyword).is_some_and(|union| self.are_constants(union).is_some())
                || self.are_disjoint(&branches);
            cases = self.meet(cases, &tidy(branches.concat()), site, keyword);
            if !exclusive {
                cases = cases.into_iter().map(|case| self.with_residue(case, site, keyword)).collect();
            }
        }
        cases
    }

    fn are_disjoint(&self, branches: &[Vec<Case>]) -> bool {
        branches.iter().enumerate().all(|(at, branch)| {
            branches[..at]
                .iter()
                .flatten()
                .all(|one| branch.iter().all(|other| self.spend(1) && self.disjoint(one, other)))
        })
    }

    /// Checks whether the two forms show directly that no value fits both.
    pub(crate) fn disjoint(&self, one: &Case, other: &Case) -> bool {
        if one.kind != other.kind {
            return true;
        }
        match (&one.body, &other.body) {
            (Body::Values(one), Body::Values(other)) => !overlap(one, other),
            (Body::Object(one), Body::Object(other)) => {
                one.required.intersection(&other.required).any(|name| {
                    let kinds = |node| self.normal(node).cases.clone();
                    let (one, other) = (self.child(one, name), self.child(other, name));
                    let other = kinds(other);
                    kinds(one).iter().all(|one| {
                        other.iter().all(|other| {
                            one.kind != other.kind
                                || matches!((&one.body, &other.body), (Body::Values(_), Body::Values(_)))
                                    && self.disjoint(one, other)
                        })
                    })
                })
            }
            _ => matches!(merge(self, one, other), Ok(None)),
        }
    }

    /// Returns the cases of a schema without its references and unions.
    fn own(&self, site: Site, schema: &'a Map<String, Value>) -> Vec<Case> {
        let (kinds, whole) = kinds(schema);
        let mut cases: Vec<Case> = kinds.into_iter().map(Case::all).collect();
        if let Some(choices) = choices(schema) {
            for case in &mut cases {
                let fitting =
                    choices.iter().filter(|choice| Type::of(choice) == case.kind).cloned().collect();
                case.body = Body::Values(fitting);
            }
            // Each value is checked against the whole schema later.
            cases.retain(|case| !matches!(&case.body, Body::Values(values) if values.is_empty()));
        }
        for case in &mut cases {
            match &mut case.body {
                Body::Number(numbers) => *numbers = own_numbers(schema, whole),
                Body::Text(texts) => *texts = own_texts(schema),
                Body::Array(_) => case.body = Body::Array(self.own_arrays(site, schema)),
                Body::Object(_) => match self.own_objects(site, schema) {
                    Some(objects) => case.body = Body::Object(objects),
                    None => *case = self.with_residue(case.clone(), site, "properties"),
                },
                Body::Values(_) => {}
            }
        }
        for keyword in schema.keys() {
            let (only, counts) = match keyword.as_str() {
                "format" => (Some(Type::String), true),
                "contains" => (Some(Type::Array), true),
                "unevaluatedItems" => (Some(Type::Array), true),
                "unevaluatedProperties" => (Some(Type::Object), !looks_like_additional(schema)),
                "dependentRequired" | "dependentSchemas" | "dependencies" => (Some(Type::Object), true),
                "not" | "$dynamicRef" | "$recursiveRef" => (None, true),
                "if" => (None, schema.contains_key("then") || schema.contains_key("else")),
                other => (None, !is_known(other) && !is_annotation(other)),
            };
            if counts {
                cases = cases
                    .into_iter()
                    .map(|case| match only {
                        Some(kind) if kind != case.kind => case,
                        _ => self.with_residue(case, site, keyword),
                    })
                    .collect();
            }
        }
        tidy(cases)
    }
}

impl Residue {
    /// A keyword for which no validator refuses a value: a format, or an unknown keyword.
    pub(crate) fn is_remark(&self) -> bool {
        &*self.keyword == "format" || self.is_unknown()
    }

    pub(crate) fn is_unknown(&self) -> bool {
        !self.keyword.is_empty() && !is_known(&self.keyword)
    }
}

fn kinds(schema: &Map<String, Value>) -> (Vec<Type>, bool) {
    let names: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => return (TYPES.to_vec(), false),
    };
    let nullable = schema.get("nullable") == Some(&Value::Bool(true));
    let has = |kind: Type| {
        names.contains(&kind.name())
            || kind == Type::Number && names.contains(&"integer")
            || kind == Type::Null && nullable
    };
    (TYPES.into_iter().filter(|kind| has(*kind)).collect(), !names.contains(&"number"))
}

fn choices(schema: &Map<String, Value>) -> Option<Vec<Value>> {
    let listed = match schema.get("enum") {
        Some(Value::Array(values)) => Some(values.clone()),
        _ => None,
    };
    match schema.get("const") {
        Some(value) => Some(vec![value.clone()]),
        None => listed,
    }
}

fn own_numbers(schema: &Map<String, Value>, whole: bool) -> Numbers {
    let of = |keyword: &str| schema.get(keyword).and_then(Num::of);
    let side = |plain: &str, exclusive: &str| {
        let old_spelling = schema.get(exclusive) == Some(&Value::Bool(true));
        let plain = of(plain).map(|at| Bound { at, open: old_spelling });
        (plain, of(exclusive).map(|at| Bound { at, open: true }))
    };
    let mut numbers = Numbers { whole, steps: of("multipleOf").into_iter().collect(), ..Numbers::default() };
    let (one, other) = side("minimum", "exclusiveMinimum");
    one.into_iter().chain(other).for_each(|bound| numbers.raise(bound));
    let (one, other) = side("maximum", "exclusiveMaximum");
    one.into_iter().chain(other).for_each(|bound| numbers.lower(bound));
    numbers.fold();
    numbers
}

fn own_texts(schema: &Map<String, Value>) -> Texts {
    Texts {
        least: schema.get("minLength").and_then(count).unwrap_or(0),
        most: schema.get("maxLength").and_then(count),
        patterns: schema.get("pattern").and_then(Value::as_str).map(str::to_owned).into_iter().collect(),
    }
}

impl<'a> Store<'a> {
    fn part(&self, site: Site, schema: &'a Value) -> NodeId {
        self.node(&[self.inner(site, schema)])
    }

    fn own_arrays(&self, site: Site, schema: &'a Map<String, Value>) -> super::node::Arrays {
        let rest = match schema.get("items") {
            Some(Value::Array(_)) => schema.get("additionalItems"),
            other => other,
        };
        super::node::Arrays {
            prefix: prefix(schema).iter().map(|part| self.part(site, part)).collect(),
            items: rest.map_or(NodeId::ANY, |rest| self.part(site, rest)),
            least: schema.get("minItems").and_then(count).unwrap_or(0),
            most: schema.get("maxItems").and_then(count),
            unique: schema.get("uniqueItems") == Some(&Value::Bool(true)),
        }
    }

    /// `None` if a pattern of property names cannot be read.
    fn own_objects(&self, site: Site, schema: &'a Map<String, Value>) -> Option<super::node::Objects> {
        let parts = |keyword: &str| schema.get(keyword).and_then(Value::as_object).into_iter().flatten();
        let mut patterns: Vec<(String, NodeId)> = parts("patternProperties")
            .map(|(pattern, part)| (pattern.clone(), self.part(site, part)))
            .collect();
        patterns.sort();
        if patterns.iter().any(|(pattern, _)| self.matches(pattern, "").is_none()) {
            return None;
        }
        let additional = schema
            .get("additionalProperties")
            .or_else(|| schema.get("unevaluatedProperties").filter(|_| looks_like_additional(schema)));
        let required = match schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
            _ => Default::default(),
        };
        Some(super::node::Objects {
            properties: parts("properties")
                .map(|(name, part)| (name.clone(), self.part(site, part)))
                .collect(),
            required,
            patterns,
            additional: additional.map_or(NodeId::ANY, |part| self.part(site, part)),
            names: schema.get("propertyNames").map_or(NodeId::ANY, |part| self.part(site, part)),
            least: schema.get("minProperties").and_then(count).unwrap_or(0),
            most: schema.get("maxProperties").and_then(count),
        })
    }
}
