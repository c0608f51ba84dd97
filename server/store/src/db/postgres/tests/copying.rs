//! COPY in both directions.

use super::super::Limit;
use super::session;

#[test]
fn rows_go_in_and_out_by_copy() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint, x text)").unwrap();
    let mut copy = session.copy_in("COPY t FROM STDIN").unwrap();
    for n in 0..50_000 {
        copy.write(format!("{n}\ttext {n}\n").as_bytes()).unwrap();
    }
    assert_eq!(copy.finish(), Ok(50_000));
    let mut copy = session.copy_out("COPY t TO STDOUT (FORMAT binary)").unwrap();
    let mut bytes = 0;
    while let Some(part) = copy.read().unwrap() {
        bytes += part.len();
    }
    assert_eq!(copy.rows(), 50_000);
    drop(copy);
    assert!(bytes > 1_000_000, "{bytes}");
    assert_eq!(session.query("SELECT 1", &[], Limit::ONE).unwrap().len(), 1);
}

#[test]
fn a_copy_that_fails_or_is_given_up_leaves_no_row() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint)").unwrap();
    let mut copy = session.copy_in("COPY t FROM STDIN").unwrap();
    copy.write(b"1\n").unwrap();
    drop(copy);
    let mut copy = session.copy_in("COPY t FROM STDIN").unwrap();
    copy.write(b"1\nnone\n").unwrap();
    assert_eq!(copy.finish().unwrap_err().sqlstate(), Some("22P02"));
    // The failure is told while rows are still on their way, too.
    let mut copy = session.copy_in("COPY t FROM STDIN").unwrap();
    let failed = (0..10_000_000).find_map(|_| copy.write(b"none\n").err()).unwrap();
    assert_eq!(failed.sqlstate(), Some("22P02"));
    drop(copy);
    assert_eq!(session.copy_in("COPY nothing FROM STDIN").unwrap_err().sqlstate(), Some("42P01"));
    assert!(session.copy_in("SET lock_timeout = 0").is_err());
    assert_eq!(session.query("SELECT n FROM t", &[], Limit::ALL).unwrap().len(), 0);
    let copy = session.copy_out("COPY (SELECT generate_series(1, 1000000)) TO STDOUT").unwrap();
    drop(copy);
    assert!(session.query("SELECT 1", &[], Limit::ONE).unwrap_err().is_lost());
}
