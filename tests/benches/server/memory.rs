//! Memory of one server over many calls: whether the peak is low, and whether it stays where it was.

use crate::load::{Plan, pipelined};
use crate::options::Options;
use crate::process::{Process, fresh_folder, size_of};
use crate::stats::{load_average, short};
use crate::target::{Setting, Tool};

/// After how many calls it is looked at, as shares of all calls: 10,000, 50,000, 100,000 and 150,000 by default.
const STOPS: [(usize, usize); 4] = [(1, 15), (1, 3), (2, 3), (1, 1)];

/// What is called.
#[derive(Debug, Clone, Copy)]
enum Mix {
    Create,
    All,
}

/// Measures and prints.
pub fn run(options: &Options) {
    for setting in &options.settings {
        for mix in [Mix::Create, Mix::All] {
            measure(options, *setting, mix);
        }
    }
}

fn measure(options: &Options, setting: Setting, mix: Mix) {
    let target = &options.colibri;
    let mut process = Process::start(target, setting, fresh_folder(options.folder(setting)));
    process.prepare(target);
    let folder = process.folder();
    let title = match mix {
        Mix::Create => "`task_create`",
        Mix::All => "`task_create`, `thought_record`, `server_ping`, now and then a list",
    };
    println!("## Memory: {title}; {}, {} in flight\n", setting.title(), options.plan.window);
    println!(
        "| calls | peak KiB | present KiB | – of its own | – of files | – shared | database MiB | log MiB |"
    );
    println!("| --: |{}", " --: |".repeat(7));
    let mut done = 0;
    for (share, of) in STOPS {
        let until = options.plan.calls * share / of;
        while done < until {
            // Small parts, so that the load generator's own memory does not press the server's out.
            let part = done..until.min(done + 5000);
            let first = process.next_id();
            let lines: Vec<String> = part.clone().map(|n| line(&mut process, options, mix, n)).collect();
            let plan = Plan { calls: part.len(), leave_out: 0, ..options.plan };
            pipelined(&mut process, &lines, first, plan);
            done = part.end;
        }
        let kib =
            ["VmHWM", "VmRSS", "RssAnon", "RssFile", "RssShmem"].map(|key| short(process.memory_kib(key)));
        let mib =
            ["colibri.db", "colibri.db-wal"].map(|file| size_of(folder.path(), file) as f64 / 1_048_576.0);
        println!("| {done} | {} | {} | {} |", kib.join(" | "), short(mib[0]), short(mib[1]));
    }
    println!("\nLoad average {}.\n", load_average());
    process.stop();
}

/// A call of the mix. Nothing in it grows with the number of calls but the tables themselves.
fn line(process: &mut Process, options: &Options, mix: Mix, n: usize) -> String {
    let target = &options.colibri;
    let tool = match (mix, n % 500, n % 4) {
        (Mix::Create, ..) => Tool::Task,
        (Mix::All, 0, _) => {
            return process.named_line("thought_record_list", r#"{"task_id":"bench","limit":50}"#);
        }
        (Mix::All, 250, _) => return process.named_line("task_list", r#"{"project_id":"bench","limit":50}"#),
        (Mix::All, _, 0) => Tool::Ping,
        (Mix::All, _, 1) => Tool::Thought,
        (Mix::All, ..) => Tool::Task,
    };
    process.call_line(tool, &target.arguments(tool, n))
}
