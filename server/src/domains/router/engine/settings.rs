//! The destination and the key of an attempt, read from the operator's variables. Each call checks them; boot does
//! not (router#models, router#settings). Pure.

use super::base_url::BaseUrl;
use super::completion::{AttemptCode, AttemptError, Blame};
use super::model_id::ModelId;
use super::profile::Profile;
use crate::settings::config::Config;
use crate::settings::keys;
use colibri_proof::secret::Secret;

/// A second variable that names `claude`'s upstream model, besides [`ModelId::upstream_variable`] (router#models).
const ANTHROPIC_MODEL: &str = "COLIBRI_ANTHROPIC_MODEL";

/// A provider with all settings of a request.
pub struct Target {
    /// The interface.
    pub profile: Profile,
    /// The base URL.
    pub base: BaseUrl,
    /// The key, valid in a header.
    pub key: Secret,
    /// The provider's name of the model.
    pub model: String,
}

impl Target {
    /// Returns the target of a model. `hint`, the caller's name of an upstream model, overrides all settings.
    ///
    /// # Errors
    /// A setting is missing or invalid; the message names the variable, never its value.
    pub(crate) fn of_model(
        config: &Config,
        model: ModelId,
        hint: Option<&str>,
    ) -> Result<Self, AttemptError> {
        let profile = model.profile();
        let upstream = upstream_model(config, model, hint).map_err(|message| refusal(profile, message))?;
        Self::of_profile(config, profile, upstream)
    }

    /// Returns the target of a provider for one of its models.
    ///
    /// # Errors
    /// As [`Self::of_model`].
    pub fn of_profile(config: &Config, profile: Profile, model: String) -> Result<Self, AttemptError> {
        let refusal = |message| refusal(profile, message);
        let key = api_key(config, profile).map_err(refusal)?;
        let base = base_url(config, profile).map_err(refusal)?;
        Ok(Self { profile, base, key, model })
    }
}

/// Makes the error of an attempt that the operator must correct.
fn refusal(profile: Profile, message: String) -> AttemptError {
    AttemptError { code: AttemptCode::Config(profile), message, status: None, blame: Blame::Settings }
}

/// Returns a variable's value without surrounding spaces; an empty one counts as unset.
fn value<'a>(config: &'a Config, name: &str) -> Result<Option<&'a str>, String> {
    let value = config.at_call(name)?.map(|value| value.expose().trim());
    Ok(value.filter(|value| !value.is_empty()))
}

fn upstream_model(config: &Config, model: ModelId, hint: Option<&str>) -> Result<String, String> {
    if let Some(hint) = hint.filter(|hint| !hint.is_empty()) {
        return Ok(hint.to_owned());
    }
    let mut found = value(config, &model.upstream_variable())?;
    if found.is_none() && model == ModelId::Claude {
        found = value(config, ANTHROPIC_MODEL)?;
    }
    Ok(found.unwrap_or(model.default_upstream()).to_owned())
}

fn api_key(config: &Config, profile: Profile) -> Result<Secret, String> {
    let name = profile.key_variable();
    let key = value(config, &name)?.ok_or_else(|| format!("{name} is not set"))?;
    if key.bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(Secret::new(key))
    } else {
        Err(format!("{name} contains characters not allowed in an HTTP header"))
    }
}

fn base_url(config: &Config, profile: Profile) -> Result<BaseUrl, String> {
    let name = profile.base_variable();
    let text = value(config, &name)?.unwrap_or(default_base(&name));
    BaseUrl::parse(text).map_err(|reason| format!("{name} is not an acceptable base URL: {reason}"))
}

/// Returns the provider's own URL from the table of variables.
fn default_base(name: &str) -> &'static str {
    keys::AT_CALL.iter().find(|key| key.name == name).map_or("", |key| key.rule.default_text)
}
