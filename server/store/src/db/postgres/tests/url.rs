//! URLs: what is understood, what is refused, and that nothing of them is ever repeated.

use std::path::PathBuf;

use proptest::prelude::*;

use super::super::url::{DatabaseUrl, Place, Roots, Target, TlsMode, TlsPolicy};
use super::parse;

const CANARY: &str = "c4naryPassw0rd";

fn refusal(url: &str) -> String {
    DatabaseUrl::parse(url, TlsPolicy::Verify).expect_err(url).to_string()
}

#[test]
fn every_part_of_a_url_is_understood() {
    let url = parse(
        "postgresql://an%40a:p%3Fss%26%2F@db.example:6432/my%20db?sslmode=verify-full&sslrootcert=/etc/ca.pem\
         &application_name=board&target_session_attrs=read-write&channel_binding=require",
    );
    assert_eq!(url.user.expose(), "an@a");
    assert_eq!(url.password.as_ref().map(|secret| secret.expose()), Some("p?ss&/"));
    assert_eq!(url.database.as_ref().map(|secret| secret.expose()), Some("my db"));
    assert_eq!(url.roots, Roots::File(PathBuf::from("/etc/ca.pem")));
    assert_eq!((url.application_name.as_str(), url.target), ("board", Some(Target::ReadWrite)));
    assert!(url.requires_binding && !url.is_insecure());
    let host = &url.hosts()[0];
    assert!(host.place == Place::Name("db.example".to_owned()) && host.port == 6432);
}

#[test]
fn hosts_are_a_list_of_names_addresses_and_folders() {
    let places = |url: &str| -> Vec<(String, u16)> {
        let shown = |place: &Place| match place {
            Place::Folder(folder) => folder.display().to_string(),
            Place::Name(name) => name.clone(),
        };
        parse(url).hosts().iter().map(|host| (shown(&host.place), host.port)).collect()
    };
    for (url, hosts) in [
        ("postgres://u@a", vec![("a", 5432)]),
        ("postgres://u@a:1,b:2,c/d", vec![("a", 1), ("b", 2), ("c", 5432)]),
        ("postgres://u@[::1]:7,[2001:db8::1]/d", vec![("::1", 7), ("2001:db8::1", 5432)]),
        ("postgres://u@%2Frun%2Fpostgresql:7/d", vec![("/run/postgresql", 7)]),
        ("postgres:///d?host=/run/postgresql&user=u", vec![("/run/postgresql", 5432)]),
        ("postgres://u@/d?host=/a,b&port=7,8", vec![("/a", 7), ("b", 8)]),
        ("postgres://u@a,b/d?port=9", vec![("a", 9), ("b", 9)]),
    ] {
        let hosts: Vec<_> = hosts.into_iter().map(|(host, port)| (host.to_owned(), port)).collect();
        assert_eq!(places(url), hosts, "{url}");
    }
}

#[test]
fn a_host_on_the_network_must_prove_its_name_unless_a_setting_says_otherwise() {
    let modes = |url: &str, policy| -> Result<Vec<TlsMode>, String> {
        let url = DatabaseUrl::parse(url, policy).map_err(|error| error.to_string())?;
        Ok(url.hosts().iter().map(|host| host.tls).collect())
    };
    for (url, mode) in [
        ("postgres://u@db.example/d", TlsMode::VerifyFull),
        ("postgres://u@db.example/d?sslmode=verify-full", TlsMode::VerifyFull),
        ("postgres://u@localhost/d", TlsMode::Disable),
        ("postgres://u@127.8.9.1/d", TlsMode::Disable),
        ("postgres://u@[::1]/d", TlsMode::Disable),
        ("postgres://u@localhost/d?sslmode=prefer", TlsMode::Prefer),
        ("postgres://u@localhost/d?sslmode=require", TlsMode::Require),
        ("postgres://u@/d?host=/run&sslmode=require", TlsMode::Disable),
    ] {
        assert_eq!(modes(url, TlsPolicy::Verify), Ok(vec![mode]), "{url}");
    }
    for mode in ["disable", "prefer", "require", "verify-ca"] {
        let url = format!("postgres://u@localhost,db.example/d?sslmode={mode}");
        let error = modes(&url, TlsPolicy::Verify).expect_err(&url);
        assert!(error.contains("verify-full") && error.contains("COLIBRI_DATABASE_TLS=insecure"), "{error}");
        assert!(modes(&url, TlsPolicy::Insecure).is_ok(), "{url}");
    }
    let insecure = |url: &str| DatabaseUrl::parse(url, TlsPolicy::Insecure).expect(url).is_insecure();
    assert!(insecure("postgres://u@db.example/d?sslmode=require"));
    assert!(!insecure("postgres://u@db.example/d") && !insecure("postgres://u@localhost/d?sslmode=disable"));
}

#[test]
fn a_refused_url_says_what_is_wrong() {
    for (url, what) in [
        ("mysql://u@h/d", "postgres://"),
        ("postgres://u@/d", "no host"),
        ("postgres://h/d", "no user"),
        ("postgres://u@h:0/d", "port"),
        ("postgres://u@h:70000/d", "port"),
        ("postgres://u@a,,b/d", "empty name"),
        ("postgres://u@[::1/d", "without ]"),
        ("postgres://u@[h]/d", "IPv6"),
        ("postgres://u@h/d?host=x", "twice"),
        ("postgres://u@a,b,c/d?port=1,2", "ports"),
        ("postgres://u:%zz@h/d", "%25"),
        ("postgres://u:%00@h/d", "zero byte"),
        ("postgres://u:%ff@h/d", "UTF-8"),
        ("postgres://u@h/d?sslmode=allow", "sslmode"),
        ("postgres://u@h/d?target_session_attrs=fast", "target_session_attrs"),
        ("postgres://u@h/d?options=-cfsync%3Doff", "options"),
        ("postgres://u@h/d?sslcert=x", "needs both"),
        ("postgres://u@h/d?sslkey=x", "needs both"),
        ("postgres://u@h/d?ssl=true", "ssl: write sslmode=verify-full"),
        ("postgres://u@h/d?pgbouncer=true", "pgbouncer: a pooler"),
        ("postgres://u@h/d?keepalives_idle=9", "keepalives_idle: the server asks"),
        ("postgres://u@h/d?options=endpoint%3Dep-cool", "endpoint by the name of the host"),
        ("postgres://u@h/d?sslmode=no-verify", "sslmode that is not verify-full"),
        ("jdbc:postgresql://h/d", "in place of jdbc:postgresql://"),
        ("postgresql+psycopg://u:p@h/d", "leave out the driver"),
        ("host=h dbname=d user=u", "list of parameters"),
        ("postgres://u@h/d?passfile=/nowhere/passwords", "passfile that cannot be read"),
        ("postgres://u@h/d?service=board&servicefile=/nowhere/services", "service whose file cannot be read"),
        ("postgres://u@h/d?connect_timeout=9", "COLIBRI_DATABASE_CONNECT_TIMEOUT_MS"),
        ("postgres://u@h/d?x", "without ="),
    ] {
        assert!(refusal(url).contains(what), "{url}: {}", refusal(url));
    }
}

/// Writes a file that its owner alone can read.
fn secret_file(folder: &std::path::Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    crate::private_file::create_new(&path).expect("a new file");
    std::fs::write(&path, text).expect("it is ours");
    path.to_str().expect("UTF-8").to_owned()
}

#[test]
fn a_password_comes_from_a_password_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = format!(
        "# a comment\nelsewhere:*:*:*:other\n*:5432:board:ada:{CANARY}\\:x\n[::1]:7:*:*:no\na:*:*:*:one\nb:*:*:*:two\n"
    );
    let file = secret_file(folder.path(), "passwords", &lines);
    let url = parse(&format!("postgres://ada@db1,db2/board?passfile={file}"));
    assert_eq!(url.password.as_ref().map(|secret| secret.expose()), Some(format!("{CANARY}:x").as_str()));
    assert!(url.secrets().iter().any(|secret| secret.expose() == format!("{CANARY}:x")), "it is redacted");
    assert_eq!(
        parse(&format!("postgres://ada:own@db1/board?passfile={file}"))
            .password
            .map(|own| own.expose().to_owned()),
        Some("own".to_owned())
    );
    for (url, what) in [
        (format!("postgres://ben@db1/board?passfile={file}"), "no line for host"),
        (format!("postgres://ben@a,b/board?passfile={file}"), "different passwords"),
    ] {
        let refused = refusal(&url);
        assert!(refused.contains(what) && !refused.contains(CANARY) && !refused.contains("ben"), "{refused}");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).expect("it is ours");
        let refused = refusal(&format!("postgres://ada@db1/board?passfile={file}"));
        assert!(refused.contains("chmod 600"), "{refused}");
    }
}

#[test]
fn a_service_fills_what_the_url_leaves_open() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = format!(
        "# services\n[other]\nhost=elsewhere\n\n[board]\nhost=db.example\nport=6000\nuser=ada\npassword={CANARY}\ndbname=work\n\
         sslmode=verify-full\n\n[bare]\n[chain]\nservice=board\n[odd]\nsslmode\n"
    );
    let file = secret_file(folder.path(), "services", &text);
    let url = parse(&format!("postgres://?service=board&servicefile={file}"));
    assert_eq!((url.user.expose(), url.hosts()[0].port), ("ada", 6000));
    assert_eq!(url.database.as_ref().map(|secret| secret.expose()), Some("work"));
    assert!(url.secrets().iter().any(|secret| secret.expose() == CANARY), "it is redacted");
    let url = parse(&format!("postgres://ben:p@db2/mine?service=board&servicefile={file}"));
    assert!(url.hosts()[0].place == Place::Name("db2".to_owned()) && url.hosts()[0].port == 5432);
    assert_eq!(url.user.expose(), "ben");
    for (name, what) in [
        ("none", "no section of that name"),
        ("bare", "no host"),
        ("chain", "another service"),
        ("odd", "without ="),
    ] {
        let refused = refusal(&format!("postgres://?service={name}&servicefile={file}"));
        assert!(refused.contains(what) && !refused.contains(CANARY), "{name}: {refused}");
    }
}

#[test]
fn neither_an_error_nor_debug_repeats_a_part_of_the_url() {
    for url in [
        format!("postgres://user1:{CANARY}"),
        format!("postgres://user1:{CANARY}@host1:port1/db1"),
        format!("postgres://user1:x?{CANARY}@host1/db1"),
        format!("postgres://user1:x?y=z&{CANARY}=@host1/db1"),
        format!("postgres://user1:x/{CANARY}@host1/db1"),
        format!("postgres://user1:%{CANARY}@host1/db1"),
        format!("{CANARY}://user1@host1/db1"),
        format!("postgres://user1@host1/db1?password={CANARY}&sslmode=none1"),
        format!("postgres://user1:{CANARY}@host1/db1?sslmode=require"),
    ] {
        match DatabaseUrl::parse(&url, TlsPolicy::Verify) {
            Ok(_) => {}
            Err(error) => {
                let said = format!("{error} {error:?}");
                for part in [CANARY, "user1", "host1", "port1", "db1", "none1"] {
                    assert!(!said.contains(part), "{url}: {said}");
                }
            }
        }
    }
    let url = parse(&format!("postgres://user1:{CANARY}%21@host1/db1"));
    assert_eq!(format!("{url:?}"), "DatabaseUrl(redacted)");
    let secrets: Vec<_> = url.secrets().iter().map(|secret| secret.expose().to_owned()).collect();
    assert!(
        secrets.contains(&format!("{CANARY}!")) && secrets.contains(&format!("{CANARY}%21")),
        "{secrets:?}"
    );
}

proptest! {
    #[test]
    fn no_url_is_too_odd_to_read(url in "(postgres://)?[ -~äß\\x00]{0,80}") {
        let _parsed = DatabaseUrl::parse(&url, TlsPolicy::Verify);
    }

    #[test]
    fn any_password_arrives_if_it_is_escaped(password in "[^\\x00]{1,20}") {
        let escaped: String = password.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let url = parse(&format!("postgres://u:{escaped}@localhost/d"));
        prop_assert_eq!(url.password.as_ref().map(|secret| secret.expose()), Some(password.as_str()));
    }
}
