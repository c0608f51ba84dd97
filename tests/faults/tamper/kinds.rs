//! What an attacker with a plain SQL shell can do to one table at random.

use colibri_test_support::dice::Dice;
use rusqlite::types::Value;

use crate::tamper::table::{Column, Row, Table};

/// A kind of tampering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    Edit,
    Delete,
    Insert,
    Swap,
    TailCut,
}

pub const KINDS: [Kind; 5] = [Kind::Edit, Kind::Delete, Kind::Insert, Kind::Swap, Kind::TailCut];

/// One tampering.
#[derive(Debug)]
pub struct Case {
    pub kind: Kind,
    pub table: String,
    /// The columns that get other values; all of them when rows come or go.
    pub columns: Vec<String>,
    /// The rows it touches, as they were.
    pub rows: Vec<Row>,
    pub sql: Vec<String>,
}

/// A tampering of that kind; `None` when the table does not offer one. `turn` goes through the columns.
pub fn case(kind: Kind, table: &Table, turn: usize, dice: &Dice) -> Option<Case> {
    if table.rows.is_empty() {
        return None;
    }
    let all = || table.columns.iter().map(|column| column.name.clone()).collect();
    let (columns, rows, sql) = match kind {
        Kind::Edit => {
            let at = turn % table.columns.len();
            let row = table.some_row(dice);
            let mut after = row.clone();
            after.values[at] = other_value(table, at, &row.values[at], dice)?;
            (vec![table.columns[at].name.clone()], vec![row.clone()], table.replace(row, &after))
        }
        Kind::Delete => {
            let row = table.some_row(dice);
            (all(), vec![row.clone()], vec![table.delete(row)])
        }
        Kind::Insert => {
            let mut row = table.some_row(dice).clone();
            for (at, column) in table.columns.iter().enumerate() {
                if column.unique || dice.place(6) == 0 {
                    row.values[at] = fresh_value(table, at, &row.values[at], dice);
                }
            }
            (all(), vec![row.clone()], vec![table.insert(&row, false)])
        }
        Kind::Swap => swap(table, dice)?,
        Kind::TailCut => {
            let cut = 1 + dice.place(table.rows.len().min(5));
            let rows = table.rows[table.rows.len() - cut..].to_vec();
            let sql = rows.iter().map(|row| table.delete(row)).collect();
            (all(), rows, sql)
        }
    };
    Some(Case { kind, table: table.name.clone(), columns, rows, sql })
}

type Parts = (Vec<String>, Vec<Row>, Vec<String>);

/// Two rows exchange the values of some columns: one, those outside the key, or any.
fn swap(table: &Table, dice: &Dice) -> Option<Parts> {
    let (one, other) = (table.some_row(dice), table.some_row(dice));
    let count = table.columns.len();
    let chosen: Vec<usize> = match dice.place(3) {
        0 => vec![dice.place(count)],
        1 => (0..count).filter(|at| !table.columns[*at].unique).collect(),
        _ => (0..count).filter(|_| dice.one_in(2)).collect(),
    };
    let (mut first, mut second) = (one.clone(), other.clone());
    for &at in &chosen {
        std::mem::swap(&mut first.values[at], &mut second.values[at]);
    }
    // If the rows exchange all their values, nothing has changed.
    let same = |row: &Row| row.values == one.values || row.values == other.values;
    if same(&first) && same(&second) {
        return None;
    }
    let names = chosen.iter().map(|at| table.columns[*at].name.clone()).collect();
    let sql =
        vec![table.delete(one), table.delete(other), table.insert(&first, true), table.insert(&second, true)];
    Some((names, vec![one.clone(), other.clone()], sql))
}

/// Another value that a column could hold.
fn other_value(table: &Table, at: usize, value: &Value, dice: &Dice) -> Option<Value> {
    (0..20).map(|_| candidate(table, at, value, dice)).find(|other| other != value)
}

fn candidate(table: &Table, at: usize, value: &Value, dice: &Dice) -> Value {
    let column = &table.columns[at];
    match dice.place(8) {
        0 if column.nullable => Value::Null,
        1 | 2 => dice.pick(&table.rows).values[at].clone(),
        _ => changed(column, value, dice),
    }
}

/// A value that no other row has.
fn fresh_value(table: &Table, at: usize, value: &Value, dice: &Dice) -> Value {
    let column = &table.columns[at];
    let taken = |value: &Value| table.rows.iter().any(|row| row.values[at] == *value);
    let fresh = (0..50).map(|_| changed(column, value, dice)).find(|other| !taken(other));
    fresh.unwrap_or(Value::Integer(i64::MAX - dice.place(1000) as i64))
}

fn changed(column: &Column, value: &Value, dice: &Dice) -> Value {
    match value {
        Value::Integer(number) => Value::Integer(match dice.place(5) {
            0 => number + 1,
            1 => number - 1,
            2 => 0,
            3 => number + dice.place(1000) as i64,
            _ => -number,
        }),
        Value::Text(text) => Value::Text(changed_text(text, dice)),
        Value::Blob(bytes) => Value::Blob(changed_bytes(bytes, dice)),
        _ if column.integer => Value::Integer(dice.place(40) as i64),
        _ => Value::Text(["x", "", "2026-05-01T10:00:00.000Z", "T-1"][dice.place(4)].to_owned()),
    }
}

fn changed_bytes(bytes: &[u8], dice: &Dice) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    match dice.place(6) {
        0..=3 if !bytes.is_empty() => {
            let at = dice.place(bytes.len());
            bytes[at] ^= 1 << dice.place(8);
        }
        4 => bytes.push(0),
        _ => bytes.truncate(bytes.len() / 2),
    }
    bytes
}

fn changed_text(text: &str, dice: &Dice) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let hex = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
    match dice.place(if hex { 6 } else { 8 }) {
        0..=3 if !chars.is_empty() => {
            let at = dice.place(chars.len());
            chars[at] = *dice.pick(&['0', '1', '7', 'a', 'f']);
        }
        4 if chars.len() > 1 => chars.rotate_left(1),
        5 => chars = text.to_uppercase().chars().collect(),
        6 => chars.push('x'),
        _ => chars.truncate(chars.len() / 2),
    }
    chars.into_iter().collect()
}
