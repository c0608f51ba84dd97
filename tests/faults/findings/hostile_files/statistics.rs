//! B4: SQLite's own tables.

use super::place::Place;

#[test]
fn finding_b4_sqlite_stat1_is_compared_like_any_table() {
    let honest = Place::new();
    honest.sql("ANALYZE");
    let run = honest.run(&["verify"]);
    assert_eq!(run.code, 0, "the planner's statistics decide nothing: {}", run.text());
    for (table, columns) in [
        ("sqlite_stat1", "tbl, idx, stat, note"),
        ("sqlite_stat1", "secret TEXT"),
        ("sqlite_stat4", "tbl, idx, neq, nlt, ndlt"),
    ] {
        let place = Place::new();
        place.sql(&format!(
            "CREATE TABLE other (x); UPDATE sqlite_schema SET name = '{table}', tbl_name = '{table}',
             sql = 'CREATE TABLE {table}({columns})' WHERE name = 'other'"
        ));
        let run = place.run(&["verify", "--json"]);
        assert_eq!(run.code, 1, "{table} ({columns}): {}", run.text());
        assert_eq!(run.findings(), [format!("schema OBJECT_CHANGED table {table}")], "{columns}");
    }
}

#[test]
fn finding_b4_no_other_name_of_sqlite_hides_a_table() {
    for (name, sql) in [
        ("sqlite_stat2", "CREATE TABLE sqlite_stat2(tbl,idx,sampleno,sample)"),
        ("sqlite_stat3", "CREATE TABLE sqlite_stat3(tbl,idx,neq,nlt,ndlt,sample)"),
        ("sqlite_secret", "CREATE TABLE sqlite_secret(x)"),
    ] {
        let place = Place::new();
        place.sql(&format!("CREATE TABLE other (x); UPDATE sqlite_schema SET name = '{name}', tbl_name = '{name}', sql = '{sql}' WHERE name = 'other'"));
        let run = place.run(&["verify", "--json"]);
        assert_eq!(run.findings(), [format!("schema OBJECT_UNKNOWN table {name}")]);
    }
    let place = Place::new();
    place.sql("UPDATE sqlite_schema SET sql = 'CREATE TABLE sqlite_sequence(name,seq,more)' WHERE name = 'sqlite_sequence'");
    let run = place.run(&["verify", "--json"]);
    assert!(
        run.findings().contains(&"schema OBJECT_CHANGED table sqlite_sequence".to_owned()),
        "{}",
        run.text()
    );
}
