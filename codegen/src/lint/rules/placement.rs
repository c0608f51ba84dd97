//! `placement`: where a tool runs follows from `network`, `scan`, `storeless` and `mutates`; some
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
    }
}
