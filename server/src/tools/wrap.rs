//! The operations of wrapped servers.

use super::Domains;
use super::cx::Cx;
use crate::catalogue::{
    PinsAcceptError, PinsAcceptInput, PinsNoteError, PinsNoteInput, ToolPin, WrapBeginError, WrapBeginInput,
    WrapRun, WrapTools,
};
use crate::domains::wrap::store::PinRow;
use crate::domains::wrap::{self, Recording, ToolList, published_pin, published_run};
use colibri_runtime::handler::{Fault, Outcome};
use serde_json::Value;

impl WrapTools<Cx> for Domains {
    fn wrap_begin(&mut self, cx: &mut Cx, input: WrapBeginInput) -> Outcome<WrapRun, WrapBeginError> {
        let (run_id, now) = (cx.new_id(), cx.now());
        let call = Recording { boot_id: cx.boot_id(), sequence_no: cx.sequence_no(), now: &now };
        let run = wrap::begin(cx.db()?, &call, run_id, input)?;
        cx.set_subject(&run.run_id);
        Ok(published_run(run).ok_or_else(unpublished)?)
    }

    fn pins_note(&mut self, cx: &mut Cx, input: PinsNoteInput) -> Outcome<ToolPin, PinsNoteError> {
        let PinsNoteInput { run_id, name, instructions, tools } = input;
        let tools = tools.into_iter().map(|tool| Value::Object(tool.into_iter().collect())).collect();
        let (list, now) = (ToolList { instructions, tools }, cx.now());
        let call = Recording { boot_id: cx.boot_id(), sequence_no: cx.sequence_no(), now: &now };
        let pin = wrap::note(cx.db()?, &call, &run_id, &name, &list)?;
        Ok(recorded(cx, pin)?)
    }

    fn pins_accept(&mut self, cx: &mut Cx, input: PinsAcceptInput) -> Outcome<ToolPin, PinsAcceptError> {
        let now = cx.now();
        let call = Recording { boot_id: cx.boot_id(), sequence_no: cx.sequence_no(), now: &now };
        let pin = wrap::accept(cx.db()?, &call, &input.name, &input.list_hash)?;
        Ok(recorded(cx, pin)?)
    }
}

/// Names the row as the call's subject and returns it in the published form.
fn recorded(cx: &mut Cx, pin: PinRow) -> Result<ToolPin, Fault> {
    cx.set_subject(&pin.pin_no.to_string());
    published_pin(pin).ok_or_else(unpublished)
}

fn unpublished() -> Fault {
    Fault::Other("the stored row has no published form".to_owned())
}
