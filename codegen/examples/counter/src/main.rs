//! A counter behind two tools.

use std::process::ExitCode;

use colibri_runtime::{MemoryCx, Outcome, serve_stdio};

/// The catalogue, compiled.
mod catalogue {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

use catalogue::{
    CATALOGUE, CounterAddError, CounterAddInput, CounterAddOutput, CounterReadError, CounterReadInput,
    CounterReadOutput, CounterTools, Dispatcher, Handlers,
};

/// What the store keeps: the counter's value.
type Cx = MemoryCx<i64>;

struct Server;

impl Handlers<Cx> for Server {}

impl CounterTools<Cx> for Server {
    fn counter_add(
        &mut self,
        cx: &mut Cx,
        input: CounterAddInput,
    ) -> Outcome<CounterAddOutput, CounterAddError> {
        let value = cx.data + input.amount;
        if value > 100 {
            return Err(CounterAddError::OverLimit { value: cx.data }.into());
        }
        cx.data = value;
        Ok(CounterAddOutput { value })
    }

    fn counter_read(
        &mut self,
        cx: &mut Cx,
        _: CounterReadInput,
    ) -> Outcome<CounterReadOutput, CounterReadError> {
        Ok(CounterReadOutput { value: cx.data })
    }
}

fn main() -> ExitCode {
    serve_stdio(&CATALOGUE, Dispatcher(Server))
}
