//! The models that the router knows (router#models). Pure.

use super::profile::Profile;
pub use crate::catalogue::ModelId;

/// Every model, in the canonical order.
pub const MODELS: [ModelId; 9] = ModelId::ALL;

impl ModelId {
    /// Returns the interface through which the model is called.
    pub const fn profile(self) -> Profile {
        match self {
            Self::Claude | Self::ClaudeSonnet35 | Self::ClaudeHaiku35 => Profile::Anthropic,
            Self::Gpt4o | Self::Gpt4oMini => Profile::OpenAi,
            Self::Gemini15Pro => Profile::Gemini,
            Self::Llama3370b => Profile::Llama,
            Self::Mixtral8x22b => Profile::Mistral,
            Self::KimiK2 => Profile::Kimi,
        }
    }

    /// Returns the provider's name of the model, which a variable or the caller may replace. Providers retire models:
    /// these names were checked against the providers' pages on the day that `docs/explanation/router.md` states.
    pub const fn default_upstream(self) -> &'static str {
        match self {
            Self::Claude | Self::ClaudeSonnet35 => "claude-sonnet-4-6",
            Self::ClaudeHaiku35 => "claude-haiku-4-5",
            Self::Gpt4o => "gpt-4o",
            Self::Gpt4oMini => "gpt-4o-mini",
            Self::Gemini15Pro => "gemini-3.8-flash",
            Self::Llama3370b => "meta-llama/Llama-3.3-70B-Instruct-Turbo",
            Self::Mixtral8x22b => "mistral-medium-latest",
            Self::KimiK2 => "kimi-k2.6",
        }
    }

    /// Returns the variable that replaces [`Self::default_upstream`]: `COLIBRI_MODEL_GPT_4O` for `gpt-4o`.
    pub fn upstream_variable(self) -> String {
        format!("COLIBRI_MODEL_{}", self.as_str().to_ascii_uppercase().replace('-', "_"))
    }
}
