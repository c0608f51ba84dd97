//! No change of a sealed export goes unseen, and no input makes the check panic.

use colibri_proof::session_export::ExportRecord;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::exports::links::ZERO;
use crate::exports::support::{GOLDEN, chain, check, head_of, is_valid, sealed, sealed_file, signed, tip};

/// A sealed and signed export that is as small as one can be.
fn small() -> Vec<u8> {
    let records: Vec<ExportRecord<'_>> = chain(1, "T", ZERO, 2);
    let mut tips = [tip("T", 2, &records[1].hash)];
    let head = signed(head_of(&records, &mut tips));
    sealed_file(&records, &mut tips, &head)
}

fn assert_found(file: &[u8], what: impl FnOnce() -> String) {
    assert!(!is_valid(file), "unseen: {}", what());
}

/// Tries every place of an export without a signature, and of the signed line in a signed one: signatures are slow to
/// check, and no other line depends on them. The flag says which of the two it is.
fn each_place(mut change: impl FnMut(&[u8], usize, bool)) {
    let records = chain(1, "T", ZERO, 2);
    let unsigned = sealed(&records, vec![tip("T", 2, &records[1].hash)]);
    let signed = small();
    let last_line = signed.len() - signed.split_inclusive(|byte| *byte == b'\n').next_back().unwrap().len();
    assert!(is_valid(&unsigned) && is_valid(&signed));
    (0..unsigned.len()).for_each(|at| change(&unsigned, at, false));
    (last_line..signed.len()).for_each(|at| change(&signed, at, true));
}

#[test]
fn every_change_of_a_single_byte_is_found() {
    each_place(|file, at, signed| {
        let byte = file[at];
        let near = [byte ^ 1, byte ^ 0x20, byte ^ 0x80, byte.wrapping_add(1)];
        for other in near.into_iter().chain(*b"09aFz\" \n\0").take(if signed { 3 } else { 13 }) {
            if other != byte {
                let mut changed = file.to_vec();
                changed[at] = other;
                assert_found(&changed, || format!("byte {at} of {byte} to {other}"));
            }
        }
    });
}

#[test]
fn every_byte_left_out_or_put_in_is_found() {
    each_place(|file, at, _| {
        let mut shorter = file.to_vec();
        shorter.remove(at);
        assert_found(&shorter, || format!("byte {at} left out"));
        for added in [file[at], b' ', b'0', b'\n'] {
            let mut longer = file.to_vec();
            longer.insert(at, added);
            assert_found(&longer, || format!("{added} put in at {at}"));
        }
    });
}

#[test]
fn a_file_cut_anywhere_is_found() {
    let file = GOLDEN.as_bytes();
    for end in 0..file.len() {
        assert_found(&file[..end], || format!("cut at {end}"));
    }
    let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
    for count in 1..lines.len() {
        let fault = check(&lines[..count].concat()).unwrap().fault.unwrap().to_string();
        assert!(fault.starts_with(&format!("line {} should be", count + 1)), "{fault}");
        assert!(fault.ends_with("is missing"), "{fault}");
    }
}

#[test]
fn lines_swapped_doubled_or_left_out_are_found() {
    let lines: Vec<&[u8]> = GOLDEN.as_bytes().split_inclusive(|byte| *byte == b'\n').collect();
    for at in 0..lines.len() {
        let mut without = lines.clone();
        without.remove(at);
        assert_found(&without.concat(), || format!("line {at} left out"));
        for to in 0..lines.len() {
            let mut doubled = lines.clone();
            doubled.insert(to, lines[at]);
            assert_found(&doubled.concat(), || format!("line {at} once more before {to}"));
            let mut swapped = lines.clone();
            swapped.swap(at, to);
            if at != to {
                assert_found(&swapped.concat(), || format!("lines {at} and {to}"));
            }
        }
    }
}

/// A change at a place given as a share of the file.
#[derive(Debug, Clone)]
enum Change {
    Set(usize, u8),
    Remove(usize, usize),
    Insert(usize, Vec<u8>),
    Copy(usize, usize, usize),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (any::<usize>(), 1..200_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        (any::<usize>(), vec(any::<u8>(), 1..20)).prop_map(|(at, bytes)| Change::Insert(at, bytes)),
        (any::<usize>(), any::<usize>(), 1..200_usize)
            .prop_map(|(from, to, count)| Change::Copy(from, to, count)),
    ]
}

fn apply(file: &mut Vec<u8>, change: &Change) {
    let size = file.len().max(1);
    let range = |at: usize, count: usize| at % size..(at % size + count).min(file.len());
    match change {
        Change::Set(at, byte) => {
            if let Some(old) = file.get_mut(at % size) {
                *old = *byte;
            }
        }
        Change::Remove(at, count) => drop(file.drain(range(*at, *count))),
        Change::Insert(at, bytes) => drop(file.splice(range(*at, 0), bytes.iter().copied())),
        Change::Copy(from, to, count) => {
            let piece = file[range(*from, *count)].to_vec();
            drop(file.splice(range(*to, 0), piece));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn mutated_exports_are_found_and_never_panic(changes in vec(change(), 1..6)) {
        let mut file = GOLDEN.as_bytes().to_vec();
        for change in &changes {
            apply(&mut file, change);
        }
        prop_assert!(file == GOLDEN.as_bytes() || !is_valid(&file));
    }

    #[test]
    fn random_bytes_never_panic(bytes in vec(any::<u8>(), 0..400)) {
        prop_assert!(check(&bytes).is_err());
        for kept in [1, 2, 5, 6] {
            let mut file = GOLDEN.split_inclusive('\n').take(kept).collect::<String>().into_bytes();
            file.extend_from_slice(&bytes);
            prop_assert!(!is_valid(&file));
        }
    }

    #[test]
    fn exports_of_any_texts_are_valid(
        texts in vec((".{0,40}", ".{1,20}", "[a-c]{1,2}"), 1..8),
        open in any::<bool>(),
    ) {
        let mut records: Vec<ExportRecord<'_>> = Vec::new();
        for (number, (content, agent, task)) in texts.iter().enumerate() {
            let last = records.iter().rfind(|record| record.task_id == *task);
            let prev = last.map_or(ZERO, |last| &last.hash).to_owned();
            let mut record = crate::exports::support::record(number, task, &prev, content);
            record.agent_id = agent.clone().into();
            records.push(record);
        }
        if open {
            prop_assert!(is_valid(&crate::exports::support::open(&records)));
        } else {
            let mut tips: Vec<_> = Vec::new();
            for record in records.iter().rev() {
                let of_task = records.iter().filter(|other| other.task_id == record.task_id).count();
                if !tips.iter().any(|tip: &colibri_proof::head::ChainTip| tip.task_id == record.task_id) {
                    tips.push(tip(&record.task_id, i64::try_from(of_task).unwrap(), &record.hash));
                }
            }
            prop_assert!(is_valid(&sealed(&records, tips)));
        }
    }
}
