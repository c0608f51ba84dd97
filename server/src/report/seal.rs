//! The seal, and how to check it without trusting this page. Pure.

use super::html::Html;
use super::model::{Head, Report, Seal};
use crate::shell_word::quoted;
use colibri_canonical::HexDigest;

/// Writes the seal: roots, head, signature.
pub fn section(report: &Report, html: &mut Html) {
    html.tags("<section id=\"seal\">\n<h2>Seal</h2>\n");
    let Some(seal) = &report.seal else {
        html.tags(
            "<p>The session is open. Its records are chained, but anyone who can write the database could still replace \
             the end of a chain, or all of it, without a trace here.</p>\n</section>\n",
        );
        return;
    };
    html.tags("<dl>\n<dt>Records sealed</dt><dd>");
    html.number(seal.record_count);
    html.tags("</dd>\n<dt>Root</dt><dd>");
    html.code(&seal.root);
    html.tags("<br><span class=\"note\">of the legacy tree: it fixes which records there are, not their order or authors</span>");
    rows(&seal.head, report, html);
    html.tags("</dd>\n</dl>\n</section>\n");
}

fn rows(head: &Head, report: &Report, html: &mut Html) {
    let first = head.prev_head_hash == HexDigest::ZERO.as_str();
    let before = if first {
        "none before it: this is the first seal of its database"
    } else {
        "the seal before this one in the same database"
    };
    for (name, value, note) in [
        ("RFC 9162 root", &head.root_hash, "fixes every record with its order, author, session and content"),
        (
            "Head hash",
            &head.head_hash,
            "covers everything here; compare it with what was published when this was sealed",
        ),
        ("Previous head", &head.prev_head_hash, before),
        ("Session facts", &head.session_hash, "covers intent, task and start of the session"),
        ("Chain tips", &head.chain_tips_hash, "how long each task's chain was, and its last hash"),
        ("Audit log", &head.log_row_hash, "the last closed call when this was sealed"),
    ] {
        html.element("</dd>\n<dt>", name, "</dt><dd>");
        html.code(value);
        html.element("<br><span class=\"note\">", note, "</span>");
    }
    html.tags("</dd>\n<dt>Number of the head</dt><dd>");
    html.number(head.head_index);
    html.tags(", with ");
    html.number(head.log_exit_no);
    html.tags(" calls closed before it");
    html.tags("</dd>\n<dt>Signature</dt><dd>");
    match &head.signature {
        None => {
            html.tags("missing: the seal shows that nothing changed since it was published, not who made it")
        }
        Some(signature) => {
            html.code(&signature.signature);
            html.tags("</dd>\n<dt>Key id</dt><dd>");
            html.code(&signature.key_id);
            html.tags("</dd>\n<dt>Public key</dt><dd>");
            html.code(&signature.public_key);
            html.tags("<br><span class=\"note\">");
            html.tags(match report.verdict.signature {
                Some("valid") => "valid signature by a trusted key: one that you gave, or that this machine is set to trust",
                Some("unknown_key") => "valid signature, but you did not give this key: --key makes it trusted",
                _ => "the signature is invalid",
            });
            html.tags("</span>");
        }
    }
}

/// Writes the commands that check all this.
pub fn steps(report: &Report, html: &mut Html) {
    html.tags(
        "<section id=\"check\">\n<h2>How to check it</h2>\n<p>This page is a view. Anyone who can write the page can \
         write anything into it, so trust these commands instead.</p>\n<ol class=\"steps\">\n",
    );
    let session = quoted(&report.session.id);
    step(
        html,
        "On the machine with the database, recompute everything in it:",
        &["colibri verify".to_owned()],
    );
    let export = format!("colibri export {session} --out session.jsonl");
    match &report.seal {
        Some(seal) => sealed_steps(html, report, seal, &session, export),
        None => {
            let verify = "colibri verify-export session.jsonl".to_owned();
            step(
                html,
                "Take the session away and check what can be checked while it is open:",
                &[export, verify],
            );
        }
    }
    html.tags("</ol>\n</section>\n");
}

fn sealed_steps(html: &mut Html, report: &Report, seal: &Seal, session: &str, export: String) {
    let signed = seal.head.signature.is_some();
    let root = format!(" --root {}", quoted(&seal.head.head_hash));
    let key = if signed { " --key PUBLIC-KEY" } else { "" };
    let verify = format!("colibri verify-export session.jsonl{root}{key}");
    step(
        html,
        "Take the session away and check it on another machine, without the database:",
        &[export, verify],
    );
    if let Some(first) = report.thoughts.shown.first() {
        let proof = format!("colibri proof {session} {} --out proof.json", quoted(&first.id));
        let check = format!("colibri check-proof proof.json{root}{key}");
        step(html, "Or show a single thought to another person, without the others:", &[proof, check]);
    }
    html.tags("<li>Take the value after <code>--root</code> from where it was published when the session was sealed, not from this page");
    html.tags(if signed { ", and the public key from its owner.</li>\n" } else { ".</li>\n" });
}

fn step(html: &mut Html, purpose: &'static str, commands: &[String]) {
    html.element("<li>", purpose, "");
    for command in commands {
        html.element("<pre><code>", command, "</code></pre>");
    }
    html.tags("</li>\n");
}
