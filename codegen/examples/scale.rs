//! How long the gate takes on a large catalogue, and how long its generated code takes to build.
//!
//! ```sh
//! cargo run --release -p colibri-codegen --example scale            # lock and gate, up to 500 tools
//! cargo run --release -p colibri-codegen --example scale -- --build # and builds of 125, 250 and 500 tools
//! ```
//!
//! The catalogue is made up: every tool has its own object types, enums, patterns, a union and an error.
//! It is compared with one in which every tenth tool changed, and with one in which every tool did.

#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use colibri_codegen::catalogue::Catalogue;
use colibri_codegen::{compile, lock};
use colibri_drift::{from_lock, judge};

const TOOLS_PER_DOMAIN: usize = 25;

fn main() -> Result<(), Box<dyn Error>> {
    let work = std::env::temp_dir().join(format!("colibri-codegen-scale-{}", std::process::id()));
    let asked = |flag: &str| std::env::args().any(|argument| argument == flag);
    let measured = measure(&work, asked("--build"), asked("--build-release"));
    if work.exists() {
        fs::remove_dir_all(&work)?;
    }
    measured
}

fn measure(work: &Path, dev: bool, release: bool) -> Result<(), Box<dyn Error>> {
    println!("tools  changed  lock bytes  findings  lock ms  gate ms  compile ms  rust lines");
    for (tools, step) in [(125, 10), (250, 10), (500, 10), (500, 1)] {
        let root = work.join(format!("{tools}"));
        write_catalogue(&root.join("old"), tools, None)?;
        write_catalogue(&root.join("new"), tools, Some(step))?;
        let old = lock(&load(&root.join("old"))?).map_err(|found| format!("{found:?}"))?;
        let began = Instant::now();
        let new = lock(&load(&root.join("new"))?).map_err(|found| format!("{found:?}"))?;
        let read = began.elapsed();
        let began = Instant::now();
        let verdict = judge(&from_lock(&old)?, &from_lock(&new)?, &[], true);
        let gate = began.elapsed();
        let found = verdict.blocking.len() + verdict.listed.len();
        let began = Instant::now();
        let rust = compile(&root.join("new")).map_err(|found| format!("{found:?}"))?.rust;
        let (compiled, bytes, lines) = (began.elapsed(), new.len(), rust.lines().count());
        let [gate, read, compiled] = [gate, read, compiled].map(millis);
        let changed = tools / step;
        println!(
            "{tools:5}  {changed:7}  {bytes:10}  {found:8}  {read:7.0}  {gate:7.0}  {compiled:10.0}  {lines:10}"
        );
        fs::write(root.join("catalogue.rs"), rust)?;
    }
    for (profile, flags, asked) in [("dev", &[][..], dev), ("release", &["--release"], release)] {
        if !asked {
            continue;
        }
        println!("\ntools  build of the generated code, profile {profile}, in seconds");
        for tools in [125, 250, 500] {
            let taken = build_time(&work.join(format!("{tools}")), work, flags)?;
            println!("{tools:5}  {:.1}", taken.as_secs_f64());
        }
    }
    Ok(())
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

fn load(root: &Path) -> Result<Catalogue, String> {
    Catalogue::load(root).map_err(|found| format!("{found:?}"))
}

/// Builds a crate that holds the generated file and what it stands on, and nothing else of its own.
fn build_time(root: &Path, work: &Path, flags: &[&str]) -> Result<Duration, Box<dyn Error>> {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let package = root.join("crate");
    fs::create_dir_all(package.join("src"))?;
    fs::copy(root.join("catalogue.rs"), package.join("src/catalogue.rs"))?;
    fs::copy(here.join("../Cargo.lock"), package.join("Cargo.lock"))?;
    fs::write(package.join("src/lib.rs"), "pub mod catalogue;\n")?;
    let manifest = format!(
        "[package]\nname = \"scale\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[workspace]\n\n[dependencies]\ncolibri-runtime = {{ path = \"{}\" }}\nserde = {{ version = \"1\", features = [\"derive\"] }}\nserde_json = {{ version = \"1\", features = [\"preserve_order\", \"raw_value\"] }}\n",
        here.join("runtime").display()
    );
    fs::write(package.join("Cargo.toml"), manifest)?;
    let cargo = || {
        let mut command = Command::new(env!("CARGO"));
        command.arg("build").arg("--quiet").arg("--offline").args(flags).current_dir(&package);
        command.env("CARGO_TARGET_DIR", work.join("target")).env("CARGO_INCREMENTAL", "0");
        command
    };
    // The dependencies first, which all sizes share; then the crate alone, anew.
    for run in [false, true] {
        if run {
            fs::write(package.join("src/lib.rs"), "//! Anew.\npub mod catalogue;\n")?;
        }
        let began = Instant::now();
        if !cargo().status()?.success() {
            return Err("the generated code does not build".into());
        }
        if run {
            return Ok(began.elapsed());
        }
    }
    Err("no run".into())
}

/// A catalogue of so many tools, before a change, or after one that touches one tool in so many.
fn write_catalogue(root: &Path, tools: usize, step: Option<usize>) -> Result<(), Box<dyn Error>> {
    fs::create_dir_all(root.join("tools"))?;
    let domains: Vec<String> =
        (0..tools.div_ceil(TOOLS_PER_DOMAIN)).map(|index| format!("domain{index}")).collect();
    let head = include_str!("notes/catalogue/catalogue.yaml")
        .replace("domains: [notes]", &format!("domains: [{}]", domains.join(", ")))
        .replace("tools_list_bytes: 8000", "tools_list_bytes: 4000000");
    fs::write(root.join("catalogue.yaml"), head)?;
    for (index, domain) in domains.iter().enumerate() {
        let first = index * TOOLS_PER_DOMAIN;
        let mut text = format!("domain: {domain}\ntitle: Domain {index}\ndescription: Made up.\ntools:\n");
        for number in first..tools.min(first + TOOLS_PER_DOMAIN) {
            write_tool(&mut text, number, step.is_some_and(|step| number % step == 0))?;
        }
        fs::write(root.join(format!("tools/{domain}.yaml")), text)?;
    }
    Ok(())
}

fn write_tool(text: &mut String, number: usize, changed: bool) -> Result<(), std::fmt::Error> {
    let (limit, pattern, extra) = if changed {
        (100, "^[a-z0-9]{1,12}(-[a-z0-9]{1,12})*$", "        added: { type: integer, minimum: 0 }\n")
    } else {
        (200, "^[a-z0-9]+(-[a-z0-9]+)*$", "")
    };
    write!(
        text,
        "  - name: tool_number_{number}
    title: Tool {number}
    description: Make up thing number {number}.
    pattern: B
    runs: store
    mutates: true
    hints: {{ read_only: false, destructive: false, idempotent: false, open_world: false }}
    input:
      type: object
      properties:
        text: {{ type: string, minLength: 1, maxLength: {limit} }}
        slug: {{ type: string, maxLength: 64, pattern: '{pattern}' }}
        kind: {{ type: string, enum: [red, green, blue] }}
        place: {{ anyOf: [{{ type: integer, minimum: 0 }}, {{ type: string, maxLength: 20 }}] }}
        tags: {{ type: array, maxItems: 8, items: {{ type: string, maxLength: 16 }} }}
        nested:
          type: object
          properties:
            width: {{ type: integer, minimum: 0, maximum: {limit} }}
            label: {{ type: string, maxLength: 16 }}
          required: [width]
          additionalProperties: false
{extra}      required: [text]
      additionalProperties: false
    output:
      type: object
      properties:
        id: {{ type: string, pattern: '^[0-9a-f]{{8}}$' }}
        state: {{ type: string, enum: [open, done] }}
        count: {{ type: integer, minimum: 0 }}
      required: [id, state, count]
      additionalProperties: false
    errors:
      - code: ERR_NUMBER_{number}
        message: 'no more than {{count}}'
        when: There is too much of it.
        fields: {{ count: {{ type: integer }} }}
    examples:
      - title: One
        arguments: {{ text: one }}
        reply: {{ ok: true, data: {{ id: 0123abcd, state: open, count: 1 }} }}
    since: 0.1.0
    stability: stable
"
    )
}
