//! `colibri graph`: which tasks wait for which. Arrows lead from the prerequisite to the task that waits.
//!
//! ```text
//! mermaid, dot   a text for another program to draw
//! svg            an image, drawn here
//! layout         where the image has its boxes
//! ```

mod dot;
mod layout;
mod mermaid;
pub(super) mod svg;

use std::io::Write;

use colibri_visible::printable;
use serde::Serialize;

use super::{Look, Screen};
use crate::cli::Failure;
use crate::cli::arguments::views::Graph as Arguments;
use crate::cli::ids::{Kind, resolve, short};
use crate::cli::output::{print_json, write_to};
use crate::cli::work::Work;
use crate::domains::tasks::shown::graph::{Graph, Wanted, graph};
use crate::domains::tasks::shown::{Group, Node};
use crate::settings::environment::Environment;

/// The most tasks in a picture.
const MOST_SHOWN: usize = 500;

/// What a picture without tasks says.
const EMPTY: &str = "No task waits for another one.";

/// The groups, with the colours of their boxes: the fill and the edge. Black text is readable on each fill.
const COLORS: [(Group, &str, &str); 4] = [
    (Group::Ready, "#d9f2df", "#1f7a3d"),
    (Group::Held, "#fff1c2", "#8a6100"),
    (Group::Blocked, "#fbdcd9", "#b3261e"),
    (Group::Finished, "#e8e8e8", "#6b6b6b"),
];

/// The picture as JSON.
#[derive(Serialize)]
struct Document<'a> {
    nodes: &'a [Node],
    edges: Vec<Edge<'a>>,
    left_out: usize,
}

/// A dependency by whole ids.
#[derive(Serialize)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
}

pub(super) fn run(
    arguments: &Arguments,
    env: &Environment,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> Result<(), Failure> {
    let look = Look::open(&arguments.view, env, Screen::default(), err)?;
    let work = Work::of_product("graph", arguments.out.as_deref(), err);
    let graph = work.settle(read(arguments, &look))?;
    write_to(arguments.out.as_deref(), out, |to| {
        if look.json {
            return work.settle(print_json(to, &document(&graph)).map_err(Failure::from));
        }
        let picture = match arguments {
            Arguments { dot: true, .. } => dot::draw(&graph),
            Arguments { svg: true, .. } => svg::draw(&graph),
            _ => mermaid::draw(&graph),
        };
        work.settle(to.write_all(picture.as_bytes()).map_err(Failure::from))
    })?;
    drop(work);
    if let Some(file) = &arguments.out {
        let (shown, file) = (graph.nodes.len(), file.to_string_lossy());
        let tasks = if shown == 1 { "task" } else { "tasks" };
        writeln!(out, "{shown} {tasks} in {}", printable(&file))?;
    }
    out.flush()?;
    if graph.left_out > 0 {
        // A closed stderr changes nothing about the picture, which says the same.
        let _ = writeln!(err, "colibri: {}; name a task to see what it reaches", left_out(&graph));
    }
    Ok(())
}

fn read(arguments: &Arguments, look: &Look) -> Result<Graph, Failure> {
    let root = arguments.id.as_deref().map(|id| resolve(&look.db, Kind::Task, id)).transpose()?;
    let wanted = Wanted { root, all: arguments.all, limit: MOST_SHOWN };
    Ok(graph(&look.db, &wanted, look.clock.now_ms())?)
}

fn document(graph: &Graph) -> Document<'_> {
    let id = |place: usize| graph.nodes[place].id.as_str();
    let edges = graph.arrows.iter().map(|arrow| Edge { from: id(arrow.from), to: id(arrow.to) });
    Document { nodes: &graph.nodes, edges: edges.collect(), left_out: graph.left_out }
}

/// Says how many tasks the limit has left out.
fn left_out(graph: &Graph) -> String {
    let tasks = if graph.left_out == 1 { "task is" } else { "tasks are" };
    format!("{} more {tasks} left out", graph.left_out)
}

/// Returns what a picture says below its tasks.
fn remark(graph: &Graph) -> Option<String> {
    match graph {
        Graph { left_out: 1.., .. } => Some(left_out(graph)),
        Graph { nodes, .. } if nodes.is_empty() => Some(EMPTY.to_owned()),
        _ => None,
    }
}

/// Returns the two lines of a task's box: what it is called, and how it stands.
fn label(node: &Node) -> (String, String) {
    let state = match node {
        Node { deleted: true, .. } => "deleted".to_owned(),
        Node { group: Group::Finished, .. } => node.status.as_str().to_owned(),
        _ => format!("{}, {}", node.status.as_str(), name(node.group)),
    };
    (printable(&node.title).into_owned(), format!("{} {state}", short(&node.id)))
}

pub(super) fn name(group: Group) -> &'static str {
    match group {
        Group::Ready => "ready",
        Group::Held => "held",
        Group::Blocked => "blocked",
        Group::Finished => "finished",
    }
}
