//! The rules, one a file, and the table of them.
//!
//! A rule's file holds `pub const RULE` and its check. Rules about schemas (`i*`, `o0` to `o9`) are asked
//! by the comparison of schemas, the others by the gate, each for all tools. Two files add to a rule of
//! schemas what only a lock tells: `cross_fields` (I13) and `sensitive` (I15).

mod c1;
pub(crate) mod c10;
mod c2;
mod c3;
mod c4;
pub(crate) mod c9;
mod cross_fields;
mod e1;
mod e2;
mod e3;
mod e4;
mod e5;
pub mod i0;
pub mod i1;
pub mod i10;
pub mod i11;
pub mod i12;
pub mod i13;
pub mod i14;
pub mod i15;
mod i16;
pub mod i17;
pub mod i2;
pub mod i3;
pub mod i4;
pub mod i5;
pub mod i6;
pub mod i7;
pub mod i8;
pub mod i9;
pub mod o0;
pub mod o1;
mod o10;
mod o11;
pub mod o2;
pub mod o3;
pub mod o4;
pub mod o5;
pub mod o6;
pub mod o7;
pub mod o8;
pub mod o9;
mod sensitive;
mod t1;
mod t10;
mod t11;
mod t13;
mod t14;
mod t15;
mod t2;
mod t3;
mod t4;
mod t5;
mod t6;
mod t7;
mod t8;
mod t9;
mod u1;

use super::pairing::Comparison;
use super::{Finding, Rule};

/// All rules, in the order of the chapter; I0, O0 and U1 are beyond it.
pub const RULES: &[Rule] = &[
    t1::RULE,
    t2::RULE,
    t3::RULE,
    t4::RULE,
    t5::RULE,
    t6::RULE,
    t7::RULE,
    t8::RULE,
    t9::RULE,
    t10::RULE,
    t11::RULE,
    t13::RULE,
    t14::RULE,
    t15::RULE,
    i0::RULE,
    i1::RULE,
    i2::RULE,
    i3::RULE,
    i4::RULE,
    i5::RULE,
    i6::RULE,
    i7::RULE,
    i8::RULE,
    i9::RULE,
    i10::RULE,
    i11::RULE,
    i12::RULE,
    i13::RULE,
    i14::RULE,
    i15::RULE,
    i16::RULE,
    i17::RULE,
    o0::RULE,
    o1::RULE,
    o2::RULE,
    o3::RULE,
    o4::RULE,
    o5::RULE,
    o6::RULE,
    o7::RULE,
    o8::RULE,
    o9::RULE,
    o10::RULE,
    o11::RULE,
    e1::RULE,
    e2::RULE,
    e3::RULE,
    e4::RULE,
    e5::RULE,
    c1::RULE,
    c2::RULE,
    c3::RULE,
    c4::RULE,
    c9::RULE,
    c10::RULE,
    u1::RULE,
];

/// What compares two snapshots.
type Check = fn(&Comparison<'_>, &mut Vec<Finding>);

/// The checks that look at whole snapshots. C9 and C10 judge the verdict instead.
pub(crate) const CHECKS: &[Check] = &[
    t1::check,
    t2::check,
    t3::check,
    t4::check,
    t5::check,
    t6::check,
    t7::check,
    t8::check,
    t9::check,
    t10::check,
    t11::check,
    t13::check,
    t14::check,
    t15::check,
    i16::check,
    cross_fields::check,
    sensitive::check,
    o10::check,
    o11::check,
    e1::check,
    e2::check,
    e3::check,
    e4::check,
    e5::check,
    c1::check,
    c2::check,
    c3::check,
    c4::check,
    u1::check,
];

/// The rule of an id.
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.id == id)
}
