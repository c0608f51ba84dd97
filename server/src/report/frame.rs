//! What every page has around its sections: the head with its policy and its style, and the foot. Pure.

use super::html::Html;

const STYLE: &str = include_str!("style.css");

/// Prevents the page from loading or running anything.
const POLICY: &str = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
     base-uri 'none'; form-action 'none'\">\n";

/// Begins a page of this kind and title. `style` is added to the common one.
pub fn open(kind: &'static str, title: &str, style: &'static str, html: &mut Html) {
    html.tags("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.tags(POLICY);
    html.tags("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
    html.tags("<meta name=\"referrer\" content=\"no-referrer\">\n");
    html.tags("<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    html.tags(kind);
    // A title cannot hold elements, so hidden characters are written, not marked.
    html.value(title);
    html.tags("</title>\n<style>\n");
    html.tags(STYLE);
    html.tags(style);
    html.tags("</style>\n</head>\n<body>\n<main>\n");
}

/// Ends the page.
pub fn close(version: &str, made_at: &str, html: &mut Html) {
    html.tags("</main>\n<footer>Made by colibri ");
    html.text(version);
    html.tags(" at ");
    html.text(made_at);
    html.tags(".</footer>\n</body>\n</html>\n");
}
