//! Bytes, signatures and hashes of messages (consensus#messages).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use colibri_consensus::canonical::sha256;
use colibri_consensus::messages::{
    Commit, Message, Reveal, SignedMessage, ViewChange, ViewChangeReason, VoteType, commit_hash,
};
use colibri_consensus::signing::{Signer, StrictEd25519};

use crate::support::{AA, CC, arbiter, hex, id, vote, vote_of};

const SALT: [u8; 32] = [0x11; 32];

#[test]
fn identities_are_the_digests_of_keys() {
    let expected = [
        "soul:21fe31dfa154a261626bf854046fd2271b7bed4b6abe45aa58877ef47f9721b9",
        "soul:39f713d0a644253f04529421b9f51b9b08979d08295959c4f3990ee617f5139f",
        "soul:dac073e0123bdea59dd9b3bda9cf6037f63aca82627d7abcd5c4ac29dd74003e",
        "soul:91384c411e5af29648f17f922b402655b11ecaec1b33fc45796241963f95f202",
    ];
    let keys = [
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "278117fc144c72340f67d0f2316e8386ceffbf2b2428c9c51fef7c597f1d426e",
    ];
    for ((name, expected), key) in "ABCD".chars().zip(expected).zip(keys) {
        assert_eq!((id(name).as_str(), hex(&arbiter(name).public_key()).as_str()), (expected, key), "{name}");
    }
    let mut sorted = ['A', 'B', 'C', 'D'];
    sorted.sort_by_key(|&name| id(name));
    assert_eq!(sorted, ['A', 'B', 'D', 'C']);
}

#[test]
fn bytes_of_the_first_vote() {
    let v1 = vote('A', AA, 1);
    let (aa, bb) = ("aa".repeat(32), "bb".repeat(32));
    let expected = format!(
        "{{\"merkle_root\":\"{aa}\",\"round_id\":1,\"rule_version_hash\":\"{bb}\",\"sender_id\":\"{}\",\
         \"timestamp_logical\":1,\"vote_type\":\"ACCEPT\"}}",
        id('A')
    );
    assert_eq!(String::from_utf8(v1.signing_bytes().unwrap()).unwrap(), expected);
    assert_eq!(expected.len(), 309);
    assert_eq!(
        hex(&v1.signature),
        "3330a712ea78c00ecd3ffdc4d29fe95595393e9a388154ef96bf6fb8b154935220591d82f66aaa249b27931b6fc84c86\
         79482e6c89967448abeb1c648d76a705"
    );
    assert_eq!(v1.canonical().unwrap().len(), 452);
    let hash = "b004aee0faaceeaac0ba6cd1e6f66fdbe8d563f4b1ab712df8b46a63e2e26c94";
    assert_eq!(hex(&v1.hash().unwrap()), hash);
    assert_eq!(v1.group().to_string(), format!("1|{aa}|{bb}"));
    let commit = "2829d9281231645f1cde05033193dd93e34a8f10a72989f3481ab9aa24782b2c";
    assert_eq!(hex(&commit_hash(&v1, &SALT).unwrap()), commit);
}

#[test]
fn signatures_of_the_phases() {
    let v1 = vote('A', AA, 1);
    let commit = Commit {
        round_id: 1,
        view: 0,
        commit_hash: commit_hash(&v1, &SALT).unwrap(),
        sender_id: id('A'),
        timestamp_logical: 2,
        signature: [0; 64],
    };
    let commit = commit.signed_by(&arbiter('A')).unwrap();
    assert_eq!(
        hex(&commit.signature),
        "fd6108babfc8ea542567efd4bfd98bb66824e01666f03b4986dcbe5147f72e7515e97003d9bf2e853706508ef6fec942\
         97f99535591214f2c3155afc5a54bb09"
    );
    let reveal = Reveal {
        round_id: 1,
        view: 0,
        vote: v1,
        salt: SALT,
        sender_id: id('A'),
        timestamp_logical: 3,
        signature: [0; 64],
    };
    let reveal = reveal.signed_by(&arbiter('A')).unwrap();
    assert_eq!(
        hex(&sha256(&[&reveal.signing_bytes().unwrap()])),
        "c208168ed62c2b6327c4e826e957018828e6d013cb1f36b2700d37cd9cc16fc0"
    );
    assert_eq!(
        hex(&reveal.signature),
        "44e8e089c41831aada60a03652c695bc02ae8ea23f1f0df2f4fffca31470ff70d32e5a046592b2b0bc88ee75e1b8b59d\
         5574d5a08cc28dde52f8d15e12316904"
    );
    let change = ViewChange {
        round_id: 1,
        view: 0,
        current_leader: id('A'),
        reason: ViewChangeReason::Timeout,
        sender_id: id('B'),
        timestamp_logical: 4,
        signature: [0; 64],
    };
    let change = change.signed_by(&arbiter('B')).unwrap();
    assert_eq!(
        hex(&change.signature),
        "8610082cfc34ccd925280297139135b9ae09db1f55e421ebcdcb9cfce0958b431ac7f182ae8a65452b4e389c9fc2bd40\
         ed3ab6d4e4cea7f71cc6eba905050805"
    );
    for (name, sound) in [
        ("commit", commit.is_signed_by(&arbiter('A').public_key(), &StrictEd25519)),
        ("reveal", reveal.is_signed_by(&arbiter('A').public_key(), &StrictEd25519)),
        ("view change", change.is_signed_by(&arbiter('B').public_key(), &StrictEd25519)),
    ] {
        assert!(sound, "{name}");
    }
    assert!(!change.is_signed_by(&arbiter('A').public_key(), &StrictEd25519));
}

#[test]
fn signatures_of_the_other_votes() {
    let cases = [
        (
            "V2",
            vote('A', AA, 4),
            "uAvvUPvZZUn0FY+s4avbFeJ8HN87qv5RaNWshkQing9r4WMsoMoFtXei2iDzXa0GieECIVM5MOTWVu9SaAMYAA==",
        ),
        (
            "V2r",
            vote_of('A', AA, VoteType::Reject, 4),
            "VN9/r6B9lQYuPTlqeZGYuq0drqrbubjVk/+LUReLAzXgR6roQ6mkIr97DzSc38pya2zP+e1WJL3SK9HgOADvDQ==",
        ),
        (
            "VX",
            vote('A', CC, 4),
            "54EDgNUiP80zcq24VQyMcUC3htH6ifdbyHy0gLvS4/BoUt8NgcySXyh3X2/qMsVvg/I6JhkPuEdJIMlnTkpQBQ==",
        ),
        (
            "VB",
            vote('B', AA, 4),
            "3p8/XJeX+/S7oBV4SnZh9ZAR2qTfb5e/YpauGvoDDcudM53YIpiLqoIW8HFWD1Pp9BkLWnqu/ep5ifiLMIsQAA==",
        ),
    ];
    for (name, vote, expected) in cases {
        assert_eq!(STANDARD.encode(vote.signature), expected, "{name}");
    }
}
