//! Which tools a mode admits (chain#modes, chain#admission), over the whole catalogue.

use colibri::catalogue::{CATALOGUE, ToolId};
use colibri::settings::mode::{Capabilities, Mode, ModeGate, capabilities_for, is_admitted};
use colibri_runtime::chain::admission::Admission;
use colibri_runtime::spec::Runs;
use serde_json::{Value, json};

fn denial(mode: Mode, tool: ToolId) -> Option<(Option<&'static str>, &'static str)> {
    is_admitted(mode, tool.spec()).err().map(|denial| (denial.required_capability, denial.reason))
}

#[test]
fn readonly_denies_what_cannot_work_without_writing() {
    let refused = Some((Some("canWriteDatabase"), "readonly_mode"));
    for tool in ToolId::ALL {
        let expected = if tool.spec().mutates() { refused } else { None };
        assert_eq!(denial(Mode::Readonly, tool), expected, "{}", tool.name());
    }
    assert_eq!(denial(Mode::Readonly, ToolId::TaskCreate), refused);
    assert_eq!(denial(Mode::Readonly, ToolId::TaskList), None);
}

#[test]
fn a_denial_names_tool_mode_capability_and_reason() {
    let gate = ModeGate::new(Mode::Readonly, &CATALOGUE);
    let denial = gate.admit(ToolId::TaskCreate.spec()).expect_err("READONLY admits no writer");
    assert_eq!(denial.code, "TOOL_NOT_ADMITTED");
    assert_eq!(denial.message, "Tool task_create writes, and the server's mode is READONLY");
    let expected = json!({
        "tool": "task_create",
        "mode": "READONLY",
        "required_capability": "canWriteDatabase",
        "reason": "readonly_mode",
        "remedy": CATALOGUE.codes.not_admitted.remedy,
    });
    assert_eq!(Value::Object(denial.details), expected);
    assert!(gate.admit(ToolId::TaskGet.spec()).is_ok());
}

#[test]
fn minimal_admits_the_tools_alone_that_need_no_store() {
    for tool in ToolId::ALL {
        let expected = match tool.spec().runs {
            Runs::Free { .. } => None,
            Runs::Network { .. } => Some((Some("canDispatchExternalIO"), "minimal_mode")),
            _ => Some((None, "minimal_mode")),
        };
        assert_eq!(denial(Mode::Minimal, tool), expected, "{}", tool.name());
    }
}

#[test]
fn full_and_test_admit_everything() {
    for mode in [Mode::Full, Mode::Test] {
        assert!(ToolId::ALL.iter().all(|tool| is_admitted(mode, tool.spec()).is_ok()), "{mode}");
    }
}

#[test]
fn capabilities_are_those_of_the_table() {
    let table = [
        (Mode::Full, [true, true, true, false]),
        (Mode::Readonly, [false, true, false, false]),
        (Mode::Test, [true, true, false, true]),
        (Mode::Minimal, [false, true, false, false]),
    ];
    for (mode, [write_database, accept_mcp_connections, dispatch_external_io, run_integration_tests]) in table
    {
        let expected = Capabilities {
            write_database,
            accept_mcp_connections,
            dispatch_external_io,
            run_integration_tests,
        };
        assert_eq!(capabilities_for(mode), expected, "{mode}");
        assert_eq!(Mode::parse(mode.as_str()), Some(mode));
    }
}
