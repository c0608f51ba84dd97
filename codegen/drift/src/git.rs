//! The base of a comparison, read through `git`.
//!
//! Without a named commit, the base is the merge base with the default branch. On the default branch itself
//! that is the current commit, so the base is its parent; the first commit of all is its own base.

use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::waiver::{Waiver, waivers};

/// The lock's file name.
pub const LOCK: &str = "catalogue.lock.json";

/// The catalogue's file name.
const HEAD: &str = "catalogue.yaml";

/// Why no base could be read.
#[derive(Debug)]
pub enum GitError {
    /// `git` cannot be run.
    NoGit(std::io::Error),
    /// The folder is not in a repository.
    NoRepository(PathBuf),
    /// The revision does not exist here.
    UnknownRevision(String),
    /// The checkout has no history.
    Shallow,
    /// Git answered with something unexpected.
    Failed(String),
}

impl fmt::Display for GitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoGit(error) => {
                write!(f, "git cannot be run: {error}; install it, or compare two files with --locks")
            }
            Self::NoRepository(folder) => write!(
                f,
                "`{}` is in no git repository; clone it with its history, or compare two files with --locks",
                folder.display()
            ),
            Self::UnknownRevision(revision) => write!(
                f,
                "the revision `{revision}` is not known here; fetch it, or name another with --base"
            ),
            Self::Shallow => f.write_str(
                "this checkout has no history to compare with: run `git fetch --unshallow`, in a workflow set `fetch-depth: 0`, or name a commit that is there with --base",
            ),
            Self::Failed(reason) => write!(f, "git {reason}"),
        }
    }
}

impl std::error::Error for GitError {}

/// The commit a catalogue is compared with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base {
    /// Its full hash.
    pub commit: String,
    /// Why it is this one, for instance `merge base with origin/main`.
    pub reason: String,
}

impl Base {
    /// `3f2a9c1 (merge base with origin/main)`.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{} ({})", self.commit.get(..9).unwrap_or(&self.commit), self.reason)
    }
}

/// What a commit holds of a catalogue.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// The text of its lock.
    pub lock: String,
    /// Its waivers.
    pub waivers: Vec<Waiver>,
}

/// A repository, seen from the folder of a catalogue.
#[derive(Debug, Clone)]
pub struct Repository {
    folder: PathBuf,
}

impl Repository {
    /// Finds the repository that the folder is in.
    ///
    /// # Errors
    /// `git` or a repository is missing.
    pub fn of(folder: &Path) -> Result<Self, GitError> {
        let repository = Self { folder: folder.to_path_buf() };
        match repository.ask(["rev-parse", "--is-inside-work-tree"])?.as_deref() {
            Some("true") => Ok(repository),
            _ => Err(GitError::NoRepository(folder.to_path_buf())),
        }
    }

    /// Returns the base: the named revision itself, or the one that the module's documentation describes.
    /// `None` without any commit.
    ///
    /// # Errors
    /// The revision is unknown, or the checkout has no history.
    pub fn base(&self, revision: Option<&str>) -> Result<Option<Base>, GitError> {
        if let Some(revision) = revision {
            return match self.commit(revision)? {
                Some(commit) => Ok(Some(Base { commit, reason: revision.to_owned() })),
                None if self.is_shallow()? => Err(GitError::Shallow),
                None => Err(GitError::UnknownRevision(revision.to_owned())),
            };
        }
        let Some(head) = self.commit("HEAD")? else { return Ok(None) };
        if let Some((branch, tip)) = self.default_branch()? {
            match self.merge_base(&tip)? {
                Some(commit) if commit != head => {
                    return Ok(Some(Base { commit, reason: format!("merge base with {branch}") }));
                }
                None if self.is_shallow()? => return Err(GitError::Shallow),
                _ => {}
            }
        }
        match self.commit("HEAD^")? {
            Some(commit) => Ok(Some(Base { commit, reason: "the commit before this one".to_owned() })),
            None if self.is_shallow()? => Err(GitError::Shallow),
            // There is none before it, and the working tree may differ from it.
            None => Ok(Some(Base { commit: head, reason: "the first commit".to_owned() })),
        }
    }

    /// Returns what a commit holds of this catalogue; `None` when it had no lock. Finds a catalogue that has moved
    /// only if the commit has exactly one lock.
    ///
    /// # Errors
    /// Git fails.
    pub fn state(&self, commit: &str) -> Result<Option<State>, GitError> {
        let prefix = self.must(["rev-parse", "--show-prefix"])?;
        let here = format!("{prefix}{LOCK}");
        let tree = self.must(["ls-tree", "-r", "--name-only", "--full-tree", "-z", commit])?;
        let locks = || tree.split('\0').filter(|path| path.rsplit('/').next() == Some(LOCK));
        let found = locks().find(|path| *path == here).or_else(|| {
            let mut all = locks();
            all.next().filter(|_| all.next().is_none())
        });
        let Some(path) = found else { return Ok(None) };
        let lock = self.must(["show", &format!("{commit}:{path}")])?;
        let folder = path.strip_suffix(LOCK).unwrap_or_default();
        let head = self.ask(["show", &format!("{commit}:{folder}{HEAD}")])?;
        let waivers = head.as_deref().and_then(waivers).unwrap_or_default();
        // Moving them within the file changes none of them.
        let waivers = waivers.into_iter().map(|waiver| Waiver { line: None, ..waiver }).collect();
        Ok(Some(State { lock, waivers }))
    }

    fn commit(&self, revision: &str) -> Result<Option<String>, GitError> {
        let name = format!("{revision}^{{commit}}");
        self.ask(["rev-parse", "--verify", "--quiet", "--end-of-options", &name])
    }

    fn merge_base(&self, other: &str) -> Result<Option<String>, GitError> {
        self.ask(["merge-base", "HEAD", other])
    }

    fn is_shallow(&self) -> Result<bool, GitError> {
        Ok(self.ask(["rev-parse", "--is-shallow-repository"])?.as_deref() == Some("true"))
    }

    /// Returns the default branch, where changes land, and its tip. A repository without a remote has one too.
    fn default_branch(&self) -> Result<Option<(String, String)>, GitError> {
        let remote = self.ask(["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"])?;
        let known = ["origin/main", "origin/master", "main", "master"].map(str::to_owned);
        for branch in remote.into_iter().chain(known) {
            if let Some(tip) = self.commit(&branch)? {
                return Ok(Some((branch, tip)));
            }
        }
        Ok(None)
    }

    /// Returns standard output without its last line break; `None` when git exits with a failure.
    fn ask<const N: usize>(&self, arguments: [&str; N]) -> Result<Option<String>, GitError> {
        let output = self.run(arguments)?;
        if !output.status.success() {
            return Ok(None);
        }
        let text = String::from_utf8(output.stdout)
            .map_err(|_| GitError::Failed(format!("the output of {} is not text", arguments.join(" "))))?;
        Ok(Some(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text)))
    }

    fn must<const N: usize>(&self, arguments: [&str; N]) -> Result<String, GitError> {
        let answer = self.ask(arguments)?;
        answer.ok_or_else(|| GitError::Failed(format!("{} failed", arguments.join(" "))))
    }

    fn run<const N: usize>(&self, arguments: [&str; N]) -> Result<Output, GitError> {
        let mut command = Command::new("git");
        command.arg("-C").arg(&self.folder).args(arguments.map(OsStr::new));
        command.output().map_err(GitError::NoGit)
    }
}
