//! What a server says of itself, for those who ask before they rely on it.

use super::error::PgError;
use super::options::SessionOptions;
use super::session::Session;
use super::url::DatabaseUrl;

/// Connects, and returns the server's version in its own words.
///
/// # Errors
/// The server cannot be reached, or refuses the login. The text has no part of the URL.
pub fn server_version(url: &DatabaseUrl, options: &SessionOptions) -> Result<String, PgError> {
    let session = Session::connect(url, options)?;
    Ok(session.parameter("server_version").unwrap_or("of an unknown version").to_owned())
}
