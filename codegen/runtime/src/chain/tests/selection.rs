//! What the operator offers: the list and the instructions hold no more.

use super::*;
use crate::chain::selection::Selection;
use crate::spec::ToolsetSpec;

const LISTING: &str = r#"{"name":"a","inputSchema":{},"outputSchema":{},"annotations":{}}"#;

const fn set(name: &'static str, instructions: Option<&'static str>) -> ToolsetSpec {
    ToolsetSpec { name, title: "", description: "", instructions }
}

static SETS: [ToolsetSpec; 3] = [set("work", Some("Work.")), set("proof", None), set("votes", Some("Vote."))];

#[test]
fn a_choice_of_tools_shortens_list_and_instructions() {
    let catalogue = CatalogueSpec { instructions: "Hello.", toolsets: &SETS, ..CATALOGUE_HEAD };
    let [work, votes] = ["work", "votes"].map(|set| ToolSpec { toolset: Some(set), ..tool(set) });
    let single = tool("single");
    let listed = ToolSpec { listing: LISTING, ..tool("a") };

    let all = Selection::All;
    assert!([&work, &votes, &single].into_iter().all(|tool| all.holds(tool)));
    assert_eq!(all.instructions(&catalogue), "Hello.\n\nWork.\n\nVote.");
    assert_eq!(all.listing(&listed), LISTING);

    let mut chain = chain(FaultyStore::sound());
    chain.set_selection(Selection::Only { toolsets: vec!["work", "proof"], tools: vec!["single"] });
    let some = chain.selection();
    assert_eq!([&work, &votes, &single].map(|tool| some.holds(tool)), [true, false, true]);
    assert_eq!(some.instructions(&catalogue), "Hello.\n\nWork.");
    assert_eq!(some.listing(&listed), r#"{"name":"a","inputSchema":{},"annotations":{}}"#);
}
