//! What the operator's variables say, at the time of the call (router#models, router#settings).

use crate::domains::router::completion::{AttemptError, Blame};
use crate::domains::router::model_id::{MODELS, ModelId};
use crate::domains::router::profile::{PROFILES, Profile};
use crate::domains::router::settings::Target;
use crate::settings::config::load_config;
use crate::settings::environment::Environment;

use crate::domains::router::tests::adapters::support::{KEY, bare_config, config};

fn refused(variables: &[(&str, &str)], model: ModelId) -> AttemptError {
    match Target::of_model(&config(variables), model, None) {
        Ok(_) => panic!("{variables:?} are accepted"),
        Err(error) => error,
    }
}

fn upstream(variables: &[(&str, &str)], model: ModelId, hint: Option<&str>) -> String {
    Target::of_model(&config(variables), model, hint).expect("good settings").model
}

#[test]
fn a_missing_key_is_named() {
    for model in MODELS {
        let error = Target::of_model(&bare_config(&[]), model, None).err().expect("no key");
        let profile = model.profile();
        assert_eq!(error.message, format!("{} is not set", profile.key_variable()));
        assert_eq!(error.code.to_string(), format!("{}_CONFIG_ERROR", profile.prefix()));
        assert_eq!((error.status, error.blame), (None, Blame::Settings));
    }
}

#[test]
fn keys_of_other_programs_are_not_touched() {
    let found = Target::of_model(&bare_config(&[("ANTHROPIC_API_KEY", KEY)]), ModelId::Claude, None);
    assert_eq!(found.err().expect("no key").message, "COLIBRI_ANTHROPIC_API_KEY is not set");
}

#[test]
fn keys_are_trimmed_and_must_fit_a_header() {
    for blank in ["", " ", "  \t\n"] {
        let error = refused(&[("COLIBRI_ANTHROPIC_API_KEY", blank)], ModelId::Claude);
        assert_eq!(error.message, "COLIBRI_ANTHROPIC_API_KEY is not set", "{blank:?}");
    }
    for bad in ["a\nb", "a b", "a\u{7f}b", "clé", "a\tb"] {
        let error = refused(&[("COLIBRI_ANTHROPIC_API_KEY", bad)], ModelId::Claude);
        let expected = "COLIBRI_ANTHROPIC_API_KEY contains characters not allowed in an HTTP header";
        assert_eq!(error.message, expected);
        assert!(!error.message.contains(bad));
    }
    let target = Target::of_model(&config(&[("COLIBRI_OPENAI_API_KEY", " k-1 \n")]), ModelId::Gpt4o, None);
    assert_eq!(target.expect("a good key").key.expose(), "k-1");
}

#[cfg(unix)]
#[test]
fn a_key_that_is_no_text_is_an_error_of_the_call() {
    use std::os::unix::ffi::OsStringExt;
    let value = std::ffi::OsString::from_vec(vec![b'k', 0xff]);
    let environment = Environment::default().with("COLIBRI_ANTHROPIC_API_KEY", value);
    let config = load_config(&environment, 1).expect("it does not block the start").0;
    let error = Target::of_model(&config, ModelId::Claude, None).err().expect("no key");
    assert_eq!(error.message, "COLIBRI_ANTHROPIC_API_KEY must be valid UTF-8");
}

#[test]
fn a_refused_base_url_is_named_and_not_shown() {
    for (value, reason) in [
        ("http://example.com", "plain http is for this machine only"),
        ("https://u:p@example.com", "it must not hold a user name or password"),
        ("ftp://x", "it must begin with https://"),
        ("https://x/?a=b", "it must have neither query nor fragment"),
    ] {
        let error = refused(&[("COLIBRI_KIMI_BASE_URL", value)], ModelId::KimiK2);
        let expected = format!("COLIBRI_KIMI_BASE_URL is not an acceptable base URL: {reason}");
        assert_eq!(
            (error.message.as_str(), error.code.to_string().as_str()),
            (&*expected, "KIMI_CONFIG_ERROR")
        );
        assert!(!error.message.contains(value));
    }
}

#[test]
fn every_provider_has_its_own_base_url() {
    for (profile, url) in [
        (Profile::Anthropic, "https://api.anthropic.com/v1"),
        (Profile::OpenAi, "https://api.openai.com/v1"),
        (Profile::Kimi, "https://api.moonshot.ai/v1"),
        (Profile::Codex, "https://api.openai.com/v1"),
        (Profile::Llama, "https://api.together.xyz/v1"),
        (Profile::Mistral, "https://api.mistral.ai/v1"),
        (Profile::Gemini, "https://generativelanguage.googleapis.com/v1beta"),
    ] {
        for base in ["", "  "] {
            let variables =
                [(profile.key_variable(), KEY.to_owned()), (profile.base_variable(), base.to_owned())];
            let variables: Vec<_> =
                variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
            let target = Target::of_profile(&bare_config(&variables), profile, "m".to_owned()).expect("good");
            assert_eq!((target.base.text.as_str(), target.base.loopback), (url, false), "{profile}");
        }
    }
    assert_eq!(PROFILES.len(), 7);
}

#[test]
fn the_upstream_model_comes_from_the_first_that_names_one() {
    let own = ("COLIBRI_MODEL_CLAUDE", "own");
    let general = ("COLIBRI_ANTHROPIC_MODEL", "general");
    let claude = ModelId::Claude;
    assert_eq!(upstream(&[own, general], claude, Some("hint")), "hint");
    assert_eq!(upstream(&[own, general], claude, None), "own");
    assert_eq!(upstream(&[own, general], claude, Some("")), "own");
    assert_eq!(upstream(&[general], claude, None), "general");
    assert_eq!(upstream(&[("COLIBRI_MODEL_CLAUDE", " "), general], claude, None), "general");
    assert_eq!(upstream(&[], claude, None), "claude-sonnet-4-6");
    // The general name is for the alias alone.
    assert_eq!(upstream(&[general], ModelId::ClaudeHaiku35, None), "claude-haiku-4-5");
    let mini = [("COLIBRI_MODEL_GPT_4O_MINI", "gpt-5-mini")];
    assert_eq!(upstream(&mini, ModelId::Gpt4oMini, None), "gpt-5-mini");
    assert_eq!(upstream(&mini, ModelId::Gpt4o, None), "gpt-4o");
}

#[test]
fn the_models_defaults_are_those_of_the_table_of_variables() {
    for model in MODELS {
        let name = model.upstream_variable();
        let key = crate::settings::keys::AT_CALL.iter().find(|key| key.name == name);
        let mut default = key.unwrap_or_else(|| panic!("{name} is not in the table")).rule.default_text;
        if model == ModelId::Claude {
            assert_eq!(default, "COLIBRI_ANTHROPIC_MODEL");
            let general = crate::settings::keys::AT_CALL.iter().find(|key| key.name == default);
            default = general.expect("it is in the table").rule.default_text;
        }
        assert_eq!(upstream(&[], model, None), default, "{model}");
    }
}

#[test]
fn codex_is_bound_to_no_model_and_callable_all_the_same() {
    assert!(MODELS.into_iter().all(|model| model.profile() != Profile::Codex));
    let target = Target::of_profile(&config(&[]), Profile::Codex, "gpt-4o-mini".to_owned()).expect("good");
    assert_eq!((target.profile, target.model.as_str()), (Profile::Codex, "gpt-4o-mini"));
}
