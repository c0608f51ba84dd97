//! What judges has colours on a terminal, as the other views have.

use colibri_test_support::client::Launch;
use colibri_test_support::pty::shown;
use serde_json::json;

use super::world::{BINARY, Caller, World};
use crate::people::era::Era;

fn on_terminal(world: &World, arguments: &[&str], plain: &str) -> String {
    let launch = Launch::new(BINARY).in_folder(world.folder.clone()).env("TERM", "xterm-256color");
    let launch =
        arguments.iter().fold(launch.env("NO_COLOR", plain), |launch, argument| launch.arg(argument));
    shown(&launch.command(), 100).1
}

#[test]
fn verify_doctor_and_the_demo_have_colours() {
    let world = World::new();
    let mut client = world.serve(Caller { actor: None, client: Some("c"), era: Era::Handshake });
    client.create(json!({ "title": "T" }));
    for (arguments, part) in [
        (&["verify"][..], "\u{1b}[32mSound\u{1b}[0m: everything"),
        (&["doctor"], "\u{1b}[32mok  \u{1b}[0m  "),
        (&["demo"], "\u{1b}[31mNot sound\u{1b}[0m: "),
    ] {
        let colored = on_terminal(&world, arguments, "");
        assert!(colored.contains(part), "{arguments:?}: {colored:?}");
        let plain = on_terminal(&world, arguments, "1");
        assert!(!plain.contains("\u{1b}[32m") && !plain.contains("\u{1b}[31m"), "{arguments:?}: {plain:?}");
    }
    world.sql().tamper("UPDATE tasks SET title = 'x\u{1b}[2Jy' WHERE title = 'T'");
    let broken = on_terminal(&world, &["verify"], "");
    assert!(broken.contains("\u{1b}[31mNot sound\u{1b}[0m") && !broken.contains("\u{1b}[2J"), "{broken:?}");
}
