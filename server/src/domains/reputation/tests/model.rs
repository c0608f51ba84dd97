//! reputation#gains, reputation#penalties told once more, as literally as possible, for the engine to be compared with: wide numbers, decay
//! that takes every epoch, sums found by looking through all that was recorded.

use std::collections::BTreeMap;

use crate::domains::reputation::domain::Domain;
use crate::domains::reputation::event::{Acker, Gain, Penalty};
use crate::domains::reputation::standing::Standing;

use crate::domains::reputation::tests::support::Key;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Row {
    score: i128,
    scar: i128,
    ban: Option<i128>,
    last: i128,
}

/// A recorded gain: whose, when, how far it moved the score.
type Moved = (Key, i128, i128);

#[derive(Debug, Default)]
pub struct Model {
    rows: BTreeMap<Key, Row>,
    moved: Vec<Moved>,
    seen: Vec<(String, Key, &'static str)>,
}

fn share(value: i128, bps: i128) -> i128 {
    (value * bps).div_euclid(10_000)
}

fn decayed(score: i128, domain: Domain, epochs: i128) -> i128 {
    let rate = match domain.as_str() {
        "execution" => 500,
        "commissioning" => 300,
        "arbitration" => 1_000,
        "governance" => 200,
        _ => 100,
    };
    (0..epochs.clamp(0, 10_000)).fold(score, |score, _| score - share(score, rate))
}

impl Model {
    pub fn put(&mut self, row: &Standing) {
        let key = (row.node_id.clone(), row.domain);
        self.rows.insert(
            key,
            Row {
                score: row.score.into(),
                scar: row.scar_bps.into(),
                ban: row.ban_until_epoch.map(Into::into),
                last: row.last_activity_epoch.into(),
            },
        );
    }

    /// Whether the gain was recorded.
    pub fn gain(&mut self, gain: &Gain<'_>) -> bool {
        let (key, e) = ((gain.node_id.to_owned(), gain.domain), i128::from(gain.epoch));
        let nominal = i128::from(gain.nominal_delta);
        let row = self.rows.get(&key).copied();
        let seen = (gain.event_id.to_owned(), key.clone(), "gain");
        if self.seen.contains(&seen) || row.is_some_and(|row| e < row.last) {
            return false;
        }
        let (weight, weak) = match gain.acker {
            Acker::System { weight_bps } => (weight_bps.into(), true),
            Acker::Peer(acker) if acker == gain.node_id => return false,
            Acker::Peer(acker) => {
                let theirs = self.rows.get(&(acker.to_owned(), gain.domain));
                if theirs.is_some_and(|row| row.ban.is_some_and(|ban| ban > e)) {
                    return false;
                }
                let t = theirs.map_or(0, |row| decayed(row.score, gain.domain, e - row.last));
                if t < 1_000 && nominal < 0 {
                    return false;
                }
                if t < 1_000 { (1_000, true) } else { (t.min(10_000), false) }
            }
        };
        let here = self.moved.iter().filter(|(whose, when, _)| (whose, *when) == (&key, e));
        let (p, n) = here.fold((0, 0), |(p, n), &(_, _, by)| (p + by.max(0), n + (-by).max(0)));
        let mut x = share(nominal, weight);
        x = if x > 0 { x.min((1_000 - p).max(0)) } else { x.max((n - 1_000).min(0)) };
        let row = row.unwrap_or(Row { score: 0, scar: 0, ban: None, last: e });
        let settled = decayed(row.score, gain.domain, e - row.last - 1);
        let mut u = 10_000 - row.scar;
        if weak && x > 0 {
            u = u.min(settled.max(5_000));
        }
        let after = (settled + x).clamp(0, u);
        self.moved.push((key.clone(), e, after - settled));
        self.rows.insert(key, Row { score: after, last: e, ..row });
        self.seen.push(seen);
        true
    }

    /// Whether the penalty was recorded.
    pub fn punish(&mut self, penalty: &Penalty<'_>) -> bool {
        let (key, e) = ((penalty.node_id.to_owned(), penalty.domain), i128::from(penalty.epoch));
        let row = self.rows.get(&key).copied().unwrap_or(Row { score: 0, scar: 0, ban: None, last: e });
        let seen = (penalty.event_id.to_owned(), key.clone(), penalty.band.as_str());
        if self.seen.contains(&seen) || e < row.last {
            return false;
        }
        let (damage, bans, scars) = match penalty.band.as_str() {
            "minor" => (1_500, false, false),
            "moderate" => (3_000, false, false),
            "severe" => (5_000, false, false),
            "critical" => (8_000, true, false),
            _ => (10_000, true, true),
        };
        let settled = decayed(row.score, penalty.domain, e - row.last);
        let scar = match scars || penalty.scar {
            true => 10_000 - share(10_000 - row.scar, 5_000),
            false => row.scar,
        };
        let score = (settled - share(settled, damage)).min(10_000 - scar);
        let ban = if bans { Some(row.ban.unwrap_or(0).max(e + 100)) } else { row.ban };
        self.rows.insert(key, Row { score, scar, ban, last: e });
        self.seen.push(seen);
        true
    }

    /// Its rows, as the engine has them.
    pub fn standings(&self) -> BTreeMap<Key, Standing> {
        let number = |value: i128| i64::try_from(value).unwrap();
        let standing = |(key, row): (&Key, &Row)| {
            let standing = Standing {
                node_id: key.0.clone(),
                domain: key.1,
                score: number(row.score),
                scar_bps: number(row.scar),
                ban_until_epoch: row.ban.map(number),
                last_activity_epoch: number(row.last),
            };
            (key.clone(), standing)
        };
        self.rows.iter().map(standing).collect()
    }
}
