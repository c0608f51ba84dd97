//! The MCP wire: lines in, lines out, in both eras (`protocol#eras`).
//!
//! In the order in which a message meets them: [`frame`] cuts the byte stream into lines, [`message`]
//! decodes a line, [`params`] and [`era`] read its parameters and `_meta`, [`protocol`] answers everything
//! but tool calls, [`call`] is what it hands to the chain, [`identity`] who it comes from, [`reply`] and [`fault`] write the answer,
//! [`array`] keeps the answers to one array together, and [`in_flight`] the answers under one id apart. [`flaw`] reads what a decoder refuses.

pub mod array;
pub mod call;
pub mod era;
pub mod fault;
pub mod flaw;
pub mod frame;
pub mod identity;
mod in_flight;
pub mod intake;
pub mod message;
pub mod midline;
pub mod outbox;
pub mod params;
pub mod protocol;
pub mod reply;
pub mod scan;
pub mod stdio;
