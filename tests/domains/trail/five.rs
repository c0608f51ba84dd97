//! The five-record chain of trail#golden-vectors, stored as it is printed there.

use crate::trail::world::{World, zero_hash};

/// The hashes of the five records.
pub const HASHES: [&str; 5] = [
    "cf5a3ced9a621eadd272ebf871f8501005f5a93e3589437bcba93b821f62aa5b",
    "f6ec467d458bdca4a24b291f722fee92cabc8443358912d30fe4812400d36a55",
    "fd0b093f33a391d1094bc6b526083274962e42a14835217f6bd8e90213a8c08e",
    "be32f512effce6f1bf5b6e9e4a0e9c111a75e8811b118eb53eb1f1dbd7edc29d",
    "add65fcd73e2bd30e00661310a712a1aa97ed32b5c4b9d26ffd7947de066af0b",
];

/// The id of a record, counted from 1.
pub fn id(number: usize) -> String {
    format!("00000000-0000-4000-8000-{number:012}")
}

/// A store that holds the chain and nothing else, its guards gone.
pub fn world() -> World {
    let world = World::new();
    for (number, hash) in (1..).zip(HASHES) {
        let kind = ["plan", "analysis", "decision", "analysis", "reflection"][number - 1];
        let prev_hash = if number == 1 { zero_hash() } else { HASHES[number - 2].to_owned() };
        let timestamp = format!("2026-05-01T00:00:0{}.000Z", number - 1);
        world
            .sql
            .execute(
                "INSERT INTO thought_records \
                 (id, type, task_id, agent_id, content, timestamp, prev_hash, hash, created_at) \
                 VALUES (?1, ?2, 'T-A', 'a1', ?3, ?4, ?5, ?6, ?4)",
                (id(number), kind, format!("step {number}"), timestamp, prev_hash, hash),
            )
            .unwrap();
    }
    world.sql.execute("INSERT INTO trail_heads VALUES ('T-A', 5, ?1, ?2)", (id(5), HASHES[4])).unwrap();
    world.disarm();
    world
}
