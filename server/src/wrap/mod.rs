//! `colibri wrap`: another MCP server runs as a child of this process. Messages pass both ways as they were written, and each
//! `tools/call` leaves a row in the log.
//!
//! In the order in which bytes meet them. The client's: [`request`] cuts its lines and says what each message asks for, and
//! [`flights`] keeps the requests that wait for answers. The server's: [`lines`] holds short lines whole and lets long ones
//! pass but for their last byte, while [`scan`] reads the messages in them. [`limits`] has every limit. All of it is pure; [`crate::relay`] reads and writes.
//!
//! What is decided about tools: [`name`] names the server, [`policy`] says which tools are admitted, [`list`] reads the server's
//! lists and [`listing`] puts pages together, [`pin`] keeps what was seen first, [`watch`] compares the two and decides on calls,
//! [`findings`] says what a difference means, and [`answer`] holds the answers to refused calls. [`extents`] cuts pieces out of lines.

pub mod answer;
pub mod extents;
pub mod findings;
pub mod flights;
pub mod hash;
pub mod limits;
pub mod lines;
pub mod list;
pub mod listing;
pub mod name;
pub mod pin;
pub mod policy;
pub mod request;
pub mod rounds;
pub mod scan;
#[cfg(test)]
mod tests;
mod text;
pub mod watch;
