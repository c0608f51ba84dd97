//! What the operator offers: the list and the instructions hold no more.

use super::*;
use crate::chain::selection::Selection;
use crate::spec::{Announcement, Teaches, ToolsetSpec};

const LISTING: &str = r#"{"name":"a","inputSchema":{},"outputSchema":{},"annotations":{}}"#;

const fn set(name: &'static str, instructions: Option<&'static str>) -> ToolsetSpec {
    ToolsetSpec { name, title: "", description: "", instructions, reading: None }
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
    assert_eq!(all.instructions(&catalogue, None), "Hello.\n\nWork.\n\nVote.");
    let told = |teaches| {
        let sets = [ToolsetSpec { reading: Some("Read."), ..set("work", Some("Work.")) }];
        let catalogue = CatalogueSpec { toolsets: Box::leak(Box::new(sets)), ..catalogue };
        let announcement = Announcement { setting: "MODE", value: "QUIET", instructions: "Hush.", teaches };
        all.instructions(&catalogue, Some(&announcement))
    };
    assert_eq!(told(Teaches::All), "Hush.\n\nHello.\n\nWork.\n\nRead.");
    assert_eq!(told(Teaches::Reading), "Hush.\n\nHello.\n\nRead.");
    assert_eq!(told(Teaches::Nothing), "Hush.");
    assert_eq!(all.listing(&listed), LISTING);

    let mut chain = chain(FaultyStore::sound());
    chain.set_selection(Selection::Only { toolsets: vec!["work", "proof"], tools: vec!["single"] });
    let some = chain.selection();
    assert_eq!([&work, &votes, &single].map(|tool| some.holds(tool)), [true, false, true]);
    assert_eq!(some.instructions(&catalogue, None), "Hello.\n\nWork.");
    assert_eq!(some.listing(&listed), r#"{"name":"a","inputSchema":{},"annotations":{}}"#);
}
