//! Names of the providers' interfaces (router#settings, router#errors). Pure.

use std::fmt;

/// A provider's interface: one key, one base URL, one vocabulary of errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's chat completions.
    OpenAi,
    /// Moonshot's Kimi, in OpenAI's form.
    Kimi,
    /// OpenAI's Codex, in the same form; no model uses it.
    Codex,
    /// A host of Llama models, in OpenAI's form.
    Llama,
    /// Mistral, in OpenAI's form.
    Mistral,
    /// Google's generateContent.
    Gemini,
}

/// Every profile.
pub const PROFILES: [Profile; 7] = [
    Profile::Anthropic,
    Profile::OpenAi,
    Profile::Kimi,
    Profile::Codex,
    Profile::Llama,
    Profile::Mistral,
    Profile::Gemini,
];

impl Profile {
    /// Returns the prefix of error codes and variable names.
    pub const fn prefix(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC",
            Self::OpenAi => "OPENAI",
            Self::Kimi => "KIMI",
            Self::Codex => "CODEX",
            Self::Llama => "LLAMA",
            Self::Mistral => "MISTRAL",
            Self::Gemini => "GEMINI",
        }
    }

    /// Returns the variable that holds the key.
    pub fn key_variable(self) -> String {
        format!("COLIBRI_{}_API_KEY", self.prefix())
    }

    /// Returns the variable that replaces the provider's URL.
    pub fn base_variable(self) -> String {
        format!("COLIBRI_{}_BASE_URL", self.prefix())
    }
}

impl fmt::Display for Profile {
    /// Writes the name for messages.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Anthropic => "Anthropic",
            Self::OpenAi => "OpenAI",
            Self::Kimi => "Kimi",
            Self::Codex => "Codex",
            Self::Llama => "Llama",
            Self::Mistral => "Mistral",
            Self::Gemini => "Gemini",
        })
    }
}
