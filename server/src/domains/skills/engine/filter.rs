//! The filter of a skill listing (skills#listing). Pure.

/// The wanted skills; all of them if nothing is set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SkillFilter {
    /// A part of the name or the description, ignoring case.
    pub search: Option<String>,
    /// An exact capability.
    pub capability: Option<String>,
}

/// A filter prepared for many rows.
pub(crate) struct Matcher<'a> {
    search: Option<Vec<char>>,
    capability: Option<&'a str>,
}

impl<'a> Matcher<'a> {
    pub(crate) fn of(filter: &'a SkillFilter) -> Self {
        let search = filter.search.as_deref().filter(|search| !search.is_empty());
        Self {
            search: search.map(|search| lower(search).collect()),
            capability: filter.capability.as_deref(),
        }
    }

    pub(crate) fn matches(&self, name: &str, description: &str, capabilities: &[String]) -> bool {
        self.capability.is_none_or(|wanted| capabilities.iter().any(|capability| capability == wanted))
            && self.search.as_deref().is_none_or(|part| contains(name, part) || contains(description, part))
    }
}

fn contains(text: &str, part: &[char]) -> bool {
    let text: Vec<char> = lower(text).collect();
    text.windows(part.len()).any(|window| window == part)
}

/// Lower-cases each character by itself: `str::to_lowercase` would look at a sigma's neighbours.
fn lower(text: &str) -> impl Iterator<Item = char> + '_ {
    text.chars().flat_map(char::to_lowercase)
}
