//! `colibri keys` (proof#keys): the seed stays in its file, and the file stays what it is.

#[test]
fn a_new_key_lies_in_a_new_file_of_its_owner_and_is_shown_by_its_public_half() {
    let shell = super::shell();
    let made = shell.run(&["keys", "generate", "seal.key", "--json"]);
    assert_eq!((made.code, made.err.as_str()), (Some(0), ""));
    let seed = std::fs::read_to_string(shell.path().join("seal.key")).unwrap();
    assert_eq!(seed.len(), 65);
    assert!(seed.trim_end().bytes().all(|byte| byte.is_ascii_hexdigit()) && seed.ends_with('\n'));
    let shown = shell.run(&["keys", "show", "seal.key", "--json"]);
    assert_eq!(shown.json(), made.json());
    assert_eq!(made.json()["public_key"].as_str().unwrap().len(), 64);
    assert_eq!(made.json()["key_id"].as_str().unwrap().len(), 32);
    for run in [&made, &shown, &shell.run(&["keys", "show", "seal.key"])] {
        assert!(!run.out.contains(seed.trim_end()), "the seed is never shown");
    }
    let second = shell.run(&["keys", "generate", "other.key", "--json"]);
    assert_ne!(second.json()["public_key"], made.json()["public_key"]);
}

#[cfg(unix)]
#[test]
fn a_key_file_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let shell = super::shell();
    let run = shell.run(&["keys", "generate", "seal.key"]);
    assert!(run.out.contains("COLIBRI_PROOF_SIGNING_KEY_FILE=/"), "{}", run.out);
    let path = shell.path().join("seal.key");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let exposed = shell.run(&["keys", "show", "seal.key"]);
    assert_eq!((exposed.code, exposed.out.as_str()), (Some(2), ""));
    assert!(exposed.err.contains("chmod 600"), "{}", exposed.err);
}

#[test]
fn an_existing_file_is_never_overwritten() {
    let shell = super::shell();
    std::fs::write(shell.path().join("precious"), "mine").unwrap();
    let run = shell.run(&["keys", "generate", "precious"]);
    assert_eq!((run.code, run.out.as_str()), (Some(2), ""));
    assert_eq!(run.err, "colibri: precious is there already and was not changed; choose another name\n");
    assert_eq!(std::fs::read_to_string(shell.path().join("precious")).unwrap(), "mine");
    let nowhere = shell.run(&["keys", "generate", "no/such/folder/seal.key"]);
    assert_eq!(nowhere.code, Some(2));
}

#[test]
fn what_is_no_key_file_is_refused_without_repeating_it() {
    let shell = super::shell();
    for (name, text) in
        [("short", "00ff\n"), ("words", "correct horse battery staple"), ("long", &"0".repeat(200))]
    {
        std::fs::write(shell.path().join(name), text).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let path = shell.path().join(name);
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let run = shell.run(&["keys", "show", name]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{name}");
        assert!(!run.err.contains(text.trim()), "{}", run.err);
    }
    // Whose file it is, is not known, so no advice on its rights is given.
    std::fs::write(shell.path().join("page"), "text that all may read\n").unwrap();
    let page = shell.run(&["keys", "show", "page"]);
    assert!(page.err.contains("page holds no signing key") && !page.err.contains("chmod"), "{}", page.err);
    assert_eq!(shell.run(&["keys", "show", "none"]).code, Some(2));
    assert_eq!(shell.run(&["keys"]).code, Some(2));
}

#[test]
fn the_golden_seed_shows_the_golden_key() {
    // proof#golden-vectors.
    let shell = super::shell();
    let seed: String = (0..32).map(|byte: u8| format!("{byte:02x}")).collect();
    std::fs::write(shell.path().join("golden"), seed).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let path = shell.path().join("golden");
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).unwrap();
    }
    let shown = shell.run(&["keys", "show", "golden", "--json"]).json();
    assert_eq!(shown["public_key"], "03a107bff3ce10be1d70dd18e74bc09967e4d6309ba50d5f1ddc8664125531b8");
    assert_eq!(shown["key_id"], "56475aa75463474c0285df5dbf2bcab7");
}
