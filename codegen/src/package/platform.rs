//! The platforms, and what each packager calls them.

use serde::Deserialize;

/// A platform that a program is built for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Platform {
    /// Linux with glibc on x86-64.
    #[serde(rename = "linux-x64")]
    LinuxX64,
    /// Linux with glibc on aarch64.
    #[serde(rename = "linux-arm64")]
    LinuxArm64,
    /// macOS on x86-64.
    #[serde(rename = "darwin-x64")]
    DarwinX64,
    /// macOS on aarch64.
    #[serde(rename = "darwin-arm64")]
    DarwinArm64,
}

/// The names of a platform.
pub struct Names {
    /// Node's `process.platform` and `process.arch`, with a hyphen; also the names of folders and packages here.
    pub id: &'static str,
    /// Node's `process.platform`.
    pub os: &'static str,
    /// Node's `process.arch`.
    pub cpu: &'static str,
    /// The compiler's target.
    pub target: &'static str,
    /// The platform tags of a wheel; on Linux they say that glibc 2.17 is enough.
    pub wheel: &'static [&'static str],
    /// Debian's architecture.
    pub deb: Option<&'static str>,
    /// The conditions of a Homebrew formula, from outside to inside.
    pub brew: (&'static str, &'static str),
}

impl Platform {
    /// Returns what packagers call it.
    pub fn names(self) -> Names {
        match self {
            Self::LinuxX64 => Names {
                id: "linux-x64",
                os: "linux",
                cpu: "x64",
                target: "x86_64-unknown-linux-gnu",
                wheel: &["manylinux_2_17_x86_64", "manylinux2014_x86_64"],
                deb: Some("amd64"),
                brew: ("on_linux", "on_intel"),
            },
            Self::LinuxArm64 => Names {
                id: "linux-arm64",
                os: "linux",
                cpu: "arm64",
                target: "aarch64-unknown-linux-gnu",
                wheel: &["manylinux_2_17_aarch64", "manylinux2014_aarch64"],
                deb: Some("arm64"),
                brew: ("on_linux", "on_arm"),
            },
            Self::DarwinX64 => Names {
                id: "darwin-x64",
                os: "darwin",
                cpu: "x64",
                target: "x86_64-apple-darwin",
                wheel: &["macosx_10_12_x86_64"],
                deb: None,
                brew: ("on_macos", "on_intel"),
            },
            Self::DarwinArm64 => Names {
                id: "darwin-arm64",
                os: "darwin",
                cpu: "arm64",
                target: "aarch64-apple-darwin",
                wheel: &["macosx_11_0_arm64"],
                deb: None,
                brew: ("on_macos", "on_arm"),
            },
        }
    }
}
