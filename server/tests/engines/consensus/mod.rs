//! The engine of consensus, with the chapter's golden data (theta §3 to §8, cases 38 to 50 and 54).
mod cache;
mod codec;
mod equivocation;
mod finality;
mod golden;
mod properties;
mod quorum;
mod reference;
mod support;
mod time;
