//! COPY into a table.

use super::super::Limit;
use super::session;

#[test]
fn rows_go_in_by_copy() {
    let Some(mut session) = session() else { return };
    session.simple("CREATE TEMP TABLE t (n bigint, x text)").unwrap();
    let mut copy = session.copy_in("COPY t FROM STDIN").unwrap();
    for n in 0..50_000 {
        copy.write(format!("{n}\ttext {n}\n").as_bytes()).unwrap();
    }
    assert_eq!(copy.finish(), Ok(50_000));
    let rows = session.query("SELECT n FROM t WHERE x = 'text ' || n", &[], Limit::ALL).unwrap();
    assert_eq!(rows.len(), 50_000);
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
    // The other direction is not taken.
    assert!(session.simple("COPY t TO STDOUT").unwrap_err().is_lost());
}
