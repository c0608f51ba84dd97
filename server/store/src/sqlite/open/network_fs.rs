//! Refuses network file systems by name (store#network-file-systems): SQLite's locks and its shared memory work
//! between processes of one machine only, and so do the lock files beside the database.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// File systems whose files other machines may hold open, as the kernel names them.
const NETWORK: [&str; 22] = [
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "fuse.ceph",
    "fuse.davfs2",
    "fuse.gcsfuse",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "glusterfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "smb3",
    "smbfs",
];

/// Returns the name of the network file system that `path` lies on, if it is one. Knows Linux; other systems have no
/// list of mounts to read, so the answer is `None`.
pub fn network_file_system(path: &Path) -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let kind = file_system_of(&mounts, &nearest_existing(path)?)?;
    NETWORK.contains(&kind).then(|| kind.to_owned())
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
    fn local_disks_are_not_on_the_list() {
        for local in ["ext4", "xfs", "btrfs", "overlay", "tmpfs", "zfs", "apfs"] {
            assert!(!NETWORK.contains(&local), "{local}");
        }
        assert!(NETWORK.is_sorted());
    }
}
