//! Refuses file systems that several machines share, by name (store#network-file-systems): SQLite's locks and its shared memory work
//! between processes of one machine only, and so do the lock files beside the database. A virtual machine counts as a machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What a file system is that other machines may use, too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// Other machines use it over the network, or by a disk that they have in common.
    Network,
    /// A folder of the host that a virtual machine or the desktop of a container engine shows.
    Desktop,
}

use Nature::{Desktop, Network};

/// File systems whose files other machines may hold open, as the kernel names them.
const KINDS: [(&str, Nature); 48] = [
    ("9p", Network),
    ("acfs", Network),
    ("afs", Network),
    ("beegfs", Network),
    ("ceph", Network),
    ("cifs", Network),
    ("coda", Network),
    ("davfs", Network),
    ("drvfs", Desktop),
    ("fakeowner", Desktop),
    ("fuse.afp", Network),
    ("fuse.ceph", Network),
    ("fuse.ceph-fuse", Network),
    ("fuse.curlftpfs", Network),
    ("fuse.davfs2", Network),
    ("fuse.gcsfuse", Network),
    ("fuse.glusterfs", Network),
    ("fuse.goofys", Network),
    ("fuse.grpcfuse", Desktop),
    ("fuse.juicefs", Network),
    ("fuse.lizardfs", Network),
    ("fuse.moosefs", Network),
    ("fuse.mount-s3", Network),
    ("fuse.osxfs", Desktop),
    ("fuse.rclone", Network),
    ("fuse.s3fs", Network),
    ("fuse.seaweedfs", Network),
    ("fuse.sshfs", Network),
    ("fuse.virtiofs", Desktop),
    ("fuse.vmhgfs-fuse", Desktop),
    ("gfs2", Network),
    ("glusterfs", Network),
    ("gpfs", Network),
    ("grpcfuse", Desktop),
    ("lustre", Network),
    ("ncpfs", Network),
    ("nfs", Network),
    ("nfs4", Network),
    ("ocfs2", Network),
    ("orangefs", Network),
    ("osxfs", Desktop),
    ("prl_fs", Desktop),
    ("pvfs2", Network),
    ("smb3", Network),
    ("smbfs", Network),
    ("vboxsf", Desktop),
    ("virtiofs", Desktop),
    ("vmhgfs", Desktop),
];

/// Returns what `path` lies on if other machines may use it, too: `network file system (nfs4)`. Knows Linux; other systems have no
/// list of mounts to read, so the answer is `None`.
pub fn network_file_system(path: &Path) -> Option<String> {
    of(path, named)
}

/// Returns the name of the file system that `path` lies on if a program serves it (FUSE) that is not in the table: only its
/// operator knows whether other machines use it.
pub fn unknown_file_system(path: &Path) -> Option<String> {
    of(path, |kind| is_unknown(kind).then(|| kind.to_owned()))
}

fn of(path: &Path, judge: impl Fn(&str) -> Option<String>) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    judge(file_system_of(&mounts, &nearest_existing(path)?)?)
}

fn nature(kind: &str) -> Option<Nature> {
    KINDS.iter().find(|(known, _)| *known == kind).map(|(_, nature)| *nature)
}

fn named(kind: &str) -> Option<String> {
    let noun = match nature(kind)? {
        Network => "network file system",
        Desktop => "folder that a virtual machine or a container desktop shares with its host",
    };
    Some(format!("{noun} ({kind})"))
}

fn is_unknown(kind: &str) -> bool {
    (kind == "fuse" || kind.starts_with("fuse.")) && nature(kind).is_none()
}

/// Checks whether a file system, or a single file, is mounted at `path` itself, which is absolute and without symbolic links.
pub(crate) fn is_mount_point(path: &Path) -> bool {
    std::fs::read_to_string("/proc/self/mountinfo").is_ok_and(|mounts| mounted_at(&mounts, path))
}

fn mounted_at(mounts: &str, path: &Path) -> bool {
    mounts.lines().filter_map(|line| line.split(' ').nth(4)).any(|point| Path::new(&unescape(point)) == path)
}

/// Returns the closest ancestor that exists, without symbolic links.
fn nearest_existing(path: &Path) -> Option<PathBuf> {
    let path = std::path::absolute(path).ok()?;
    path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok())
}

/// Returns the type of the mount that holds `path`: the longest mount point that is a prefix of it; of two
/// mounts on one point the later one, which covers the earlier. `mounts` is the text of
/// `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
fn file_system_of<'a>(mounts: &'a str, path: &Path) -> Option<&'a str> {
    let mut best: Option<(usize, &str)> = None;
    for line in mounts.lines() {
        let Some((mount, rest)) = line.split_once(" - ") else { continue };
        let (Some(point), Some(kind)) = (mount.split(' ').nth(4), rest.split(' ').next()) else { continue };
        let point = PathBuf::from(unescape(point));
        let depth = point.components().count();
        if path.starts_with(&point) && best.is_none_or(|(deepest, _)| depth >= deepest) {
            best = Some((depth, kind));
        }
    }
    best.map(|(_, kind)| kind)
}

/// Undoes the kernel's octal escapes of space, tab, newline and backslash.
fn unescape(text: &str) -> OsString {
    let mut out = text.to_owned();
    for (escaped, plain) in [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")] {
        out = out.replace(escaped, plain);
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /srv rw shared:2 - nfs4 server:/srv rw
31 30 8:2 / /srv/local rw - ext4 /dev/sdb1 rw
32 22 0:27 / /mnt/my\\040share rw - cifs //server/share rw
33 22 0:28 / /over rw - ext4 /dev/sdc1 rw
34 33 0:29 / /over rw - fuse.sshfs host: rw";

    #[test]
    fn the_longest_mount_point_decides() {
        for (path, kind) in [
            ("/var/colibri.db", "ext4"),
            ("/srv/a/colibri.db", "nfs4"),
            ("/srv/local/colibri.db", "ext4"),
            ("/srvwork/colibri.db", "ext4"),
            ("/mnt/my share/colibri.db", "cifs"),
            ("/over/colibri.db", "fuse.sshfs"),
        ] {
            assert_eq!(file_system_of(MOUNTS, Path::new(path)), Some(kind), "{path}");
        }
    }

    #[test]
    fn a_mount_point_is_told_from_what_lies_below_one() {
        for (path, is) in
            [("/srv/local", true), ("/mnt/my share", true), ("/srv/local/a.db", false), ("/a.db", false)]
        {
            assert_eq!(mounted_at(MOUNTS, Path::new(path)), is, "{path}");
        }
    }

    #[test]
    fn each_kind_of_shared_file_system_is_refused_by_its_name() {
        for (kind, text) in [
            ("nfs4", "network file system (nfs4)"),
            ("9p", "network file system (9p)"),
            ("fuse.juicefs", "network file system (fuse.juicefs)"),
            (
                "virtiofs",
                "folder that a virtual machine or a container desktop shares with its host (virtiofs)",
            ),
            (
                "fakeowner",
                "folder that a virtual machine or a container desktop shares with its host (fakeowner)",
            ),
            ("vboxsf", "folder that a virtual machine or a container desktop shares with its host (vboxsf)"),
        ] {
            assert_eq!(named(kind).as_deref(), Some(text));
            assert!(!is_unknown(kind));
        }
        assert!(KINDS.is_sorted_by_key(|(kind, _)| *kind));
    }

    #[test]
    fn a_file_system_that_an_unknown_program_serves_is_told_from_local_disks() {
        for (kind, unknown) in [
            ("fuse.mergerfs", true),
            ("fuse", true),
            ("fuseblk", false),
            ("ext4", false),
            ("xfs", false),
            ("btrfs", false),
            ("overlay", false),
            ("tmpfs", false),
            ("zfs", false),
            ("apfs", false),
        ] {
            assert_eq!((named(kind), is_unknown(kind)), (None, unknown), "{kind}");
        }
    }
}
