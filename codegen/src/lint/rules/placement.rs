//! `placement`: where a tool runs follows from `network`, `scan`, `storeless`, `early`, `operator` and `mutates`; some
//! pairs leave no place for it.

use crate::lint::{Context, Report};

pub(in crate::lint) fn check(context: &Context<'_>, report: &mut Report<'_>) {
    for entry in context.catalogue.tools() {
        let tool = entry.tool;
        let pairs = [
            ("scan", tool.scan, "network", tool.network, "a network tool holds no store to scan"),
            ("mutates", tool.mutates, "scan", tool.scan, "a scan runs in a read transaction"),
            ("mutates", tool.mutates, "network", tool.network, "a network tool holds no store to write"),
            (
                "mutates",
                tool.mutates,
                "storeless",
                tool.storeless,
                "a tool without a store has nothing to write",
            ),
            ("scan", tool.scan, "storeless", tool.storeless, "a tool without a store has nothing to scan"),
            (
                "operator",
                tool.operator,
                "network",
                tool.network,
                "an operation runs in the store's transaction",
            ),
            ("operator", tool.operator, "scan", tool.scan, "an operation runs in the store's transaction"),
            (
                "operator",
                tool.operator,
                "storeless",
                tool.storeless,
                "an operation runs in the store's transaction",
            ),
        ];
        for (one, first, other, second, reason) in pairs {
            if first && second {
                let message = format!("`{one}` contradicts `{other}`: {reason}");
                report.value(
                    &entry.place.child(one),
                    message,
                    format!("set one of `{one}` and `{other}` to false"),
                );
            }
        }
        if tool.early && !tool.storeless {
            let message = "`early` contradicts `storeless`: the store is not open yet".to_owned();
            report.value(
                &entry.place.child("early"),
                message,
                "set `storeless` to true, or `early` to false",
            );
        }
        if tool.operator && tool.relaxed.is_some() {
            let message =
                "`operator` contradicts `relaxed`: a setting can only relax what clients send".to_owned();
            report.value(&entry.place.child("operator"), message, "remove one of the two");
        }
    }
}
