//! The router over the real binary, without a network: what the tools take, what they answer, and where their
//! candidates come from.

mod call;
mod circuits;
mod registration;
mod score;
mod sources;
mod world;
