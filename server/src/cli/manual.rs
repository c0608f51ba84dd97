//! `colibri completions` and `colibri man`: what shells and manual readers need, from the one definition of the command line.

use std::io::Write;
use std::path::Path;

use clap_complete::Shell;
use clap_mangen::Man;

use super::Failure;
use super::arguments::definition;
use super::output;

/// Prints the completion for a shell.
pub fn completions(shell: Shell, out: &mut dyn Write) -> Result<(), Failure> {
    // In memory first: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut definition(), "colibri", &mut script);
    out.write_all(&script)?;
    Ok(out.flush()?)
}

/// Writes one manual page for each command into a folder, which is made if it is missing. One page that is there already stops all.
pub fn man(folder: &Path, out: &mut dyn Write) -> Result<(), Failure> {
    let mut whole = definition().disable_help_subcommand(true);
    whole.build();
    let mut pages = Vec::new();
    describe(whole, &mut pages)?;
    std::fs::create_dir_all(folder).map_err(|error| {
        Failure::Usage(format!("cannot make the folder {}: {error}; check the path", folder.display()))
    })?;
    if let Some((name, _)) = pages.iter().find(|(name, _)| folder.join(name).symlink_metadata().is_ok()) {
        let path = folder.join(name);
        return Err(Failure::Usage(format!(
            "{} exists already and nothing was written; name a folder without pages of colibri",
            path.display()
        )));
    }
    for (written, (name, page)) in pages.iter().enumerate() {
        output::write_readable(&folder.join(name), page).inspect_err(|_| {
            // The next run refuses a folder that has some of the pages. It names those that cannot be removed here.
            for (name, _) in &pages[..written] {
                let _ = std::fs::remove_file(folder.join(name));
            }
        })?;
    }
    writeln!(
        out,
        "wrote {} pages to {}; man -l {}/colibri.1 shows the first",
        pages.len(),
        folder.display(),
        folder.display()
    )?;
    Ok(out.flush()?)
}

/// Adds the page of a command, and of each below it, with its file's name.
fn describe(command: clap::Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<(), Failure> {
    let below: Vec<_> = command.get_subcommands().filter(|below| !below.is_hide_set()).cloned().collect();
    let page = Man::new(command).source(format!("colibri {}", crate::VERSION)).manual("Colibri");
    let mut text = Vec::new();
    page.render(&mut text)?;
    // The library writes the missing date as nothing, and the version would take its place.
    let text = String::from_utf8_lossy(&text).replacen(" 1  \"", " 1 \"\" \"", 1);
    pages.push((page.get_filename(), text.into_bytes()));
    below.into_iter().try_for_each(|command| describe(command, pages))
}
