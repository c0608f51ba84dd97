//! For any bytes in a catalogue, loading and linting end, and end without a panic.

use std::fs;
use std::path::Path;

use colibri_codegen::catalogue::{Catalogue, findings};
use colibri_codegen::lint;

use super::{copy_of_base, findings as found};

/// Marsaglia's xorshift64: the same bytes in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("small")
    }
}

const FILES: [&str; 4] = ["catalogue.yaml", "types.yaml", "tools/notes.yaml", "tools/vault.yaml"];

/// Loads, lints and renders. Any result will do, as long as there is one.
fn survives(folder: &Path) {
    let found = found(folder);
    let shown = findings::render(&found);
    assert_eq!(shown.matches("= help: ").count(), found.len());
}

#[test]
fn truncated_catalogues_never_panic() {
    let folder = copy_of_base();
    for file in FILES {
        let path = folder.path().join(file);
        let whole = fs::read(&path).unwrap();
        for end in (0..whole.len()).step_by(17) {
            fs::write(&path, &whole[..end]).unwrap();
            survives(folder.path());
        }
        fs::write(&path, whole).unwrap();
    }
    assert_eq!(found(folder.path()), []);
}

#[test]
fn damaged_catalogues_never_panic() {
    let folder = copy_of_base();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let pieces: [&[u8]; 16] = [
        b"{", b"}", b"[", b"]", b": ", b"- ", b"\n", b"&a ", b"*a", b"!!x ", b"? ", b"| ", b"\xff", b"\"",
        b"$ref: ", b"null",
    ];
    for round in 0..600 {
        let path = folder.path().join(FILES[round % FILES.len()]);
        let whole = fs::read(&path).unwrap();
        let mut bytes = whole.clone();
        for _ in 0..=random.below(3) {
            let at = random.below(bytes.len());
            let end = (at + random.below(12)).min(bytes.len());
            let piece = pieces[random.below(pieces.len())];
            bytes.splice(at..end, piece.iter().copied());
        }
        fs::write(&path, bytes).unwrap();
        survives(folder.path());
        fs::write(&path, whole).unwrap();
    }
}

#[test]
fn random_bytes_never_panic() {
    // Without the other files a load is quick, so that the test can try many.
    let folder = tempfile::tempdir().unwrap();
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let path = folder.path().join("types.yaml");
    for _ in 0..3000 {
        let length = random.below(200);
        let alphabet = b"abT0:- \n\t{}[],\"'#&*!|>?%@`$.~<=\\\x00\xc3\xa9\xff";
        let bytes: Vec<u8> = (0..length).map(|_| alphabet[random.below(alphabet.len())]).collect();
        fs::write(&path, bytes).unwrap();
        survives(folder.path());
    }
}

#[test]
fn own_catalogue_of_the_workspace_is_sound() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../catalogue");
    assert_eq!(found(&folder), []);
}

#[test]
fn findings_name_the_folder_as_it_was_given() {
    let Err(found) = Catalogue::load(Path::new("no/such/catalogue")) else { panic!("there is none") };
    assert_eq!(
        findings::line(&found[0]),
        "no/such/catalogue/catalogue.yaml:1:1: there is no file `catalogue.yaml`; create `catalogue.yaml` in the catalogue's folder"
    );
    assert!(lint::RULES.len() > 30);
}
