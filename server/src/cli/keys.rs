//! `colibri keys`: the Ed25519 key that signs tree heads (proof#keys), made or shown. The seed never leaves its
//! file; only public values are printed.

use std::io::{self, Write};
use std::path::Path;

use colibri_visible::printable;
use serde::Serialize;

use super::Failure;
use super::arguments::audit::{KeyFile, Keys};
use super::output::{print_json, write_to};
use crate::domains::proof::key_file::read_key_file;
use crate::settings::keys::PROOF_SIGNING_KEY_FILE;
use crate::shell_word::quoted;
use colibri_proof::keys::SigningKey;

/// What the command prints of a key.
#[derive(Serialize)]
struct Shown<'a> {
    file: &'a str,
    public_key: String,
    key_id: String,
}

/// Makes or shows a key.
pub fn run(arguments: &Keys, out: &mut dyn Write) -> Result<(), Failure> {
    match arguments {
        Keys::Generate(to) => {
            let key = generate(&to.file)?;
            show(to, &key, out)?;
            if !to.json {
                advise(&to.file, out)?;
            }
        }
        Keys::Show(from) => {
            let key = read_key_file(&from.file).map_err(|error| Failure::Usage(error.to_string()))?;
            show(from, &key, out)?;
        }
    }
    Ok(out.flush()?)
}

/// Makes a new key and writes it to its new file before printing anything.
///
/// # Errors
/// There is no randomness, or the file is there already or cannot be written.
pub fn generate(path: &Path) -> Result<SigningKey, Failure> {
    let mut random = [0; 32];
    // No fallback, unlike for ids: with a guessable seed anyone could sign.
    getrandom::getrandom(&mut random).map_err(|error| {
        Failure::Failed(format!(
            "no key was made, because the operating system provides no randomness: {error}"
        ))
    })?;
    let key = SigningKey::generate(random);
    write_to(Some(path), &mut io::sink(), |to| Ok(writeln!(to, "{}", key.seed_text().expose())?))?;
    Ok(key)
}

fn show(at: &KeyFile, key: &SigningKey, out: &mut dyn Write) -> Result<(), Failure> {
    let file = at.file.to_string_lossy();
    let shown = Shown { file: &file, public_key: key.public_key().hex(), key_id: key.key_id() };
    if at.json {
        print_json(out, &shown)?;
    } else {
        writeln!(out, "public key  {}\nkey id      {}", shown.public_key, shown.key_id)?;
    }
    Ok(())
}

/// Prints what to do with a new key.
fn advise(path: &Path, out: &mut dyn Write) -> io::Result<()> {
    // The server may start in another directory.
    let place = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let place = quoted(&place.to_string_lossy());
    let variable = PROOF_SIGNING_KEY_FILE.name;
    writeln!(
        out,
        "\nTo sign every seal, set this where the server runs:\n  {variable}={}",
        printable(&place)
    )?;
    writeln!(
        out,
        "Give the public key to your auditors. Anyone who has the file can sign in your name: keep it, and every\n\
         copy of it, apart from the database."
    )
}
