//! HTML in which stored text cannot become markup: tags come from the source code (`&'static str`), and all other
//! text is escaped. Pure.

use colibri_visible::characters;

/// An unfinished piece of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Html {
    page: String,
}

impl Html {
    /// Returns the text.
    pub fn finish(self) -> String {
        self.page
    }

    /// Appends markup.
    pub fn tags(&mut self, markup: &'static str) {
        self.page.push_str(markup);
    }

    /// Appends another piece.
    pub fn piece(&mut self, piece: &Self) {
        self.page.push_str(&piece.page);
    }

    /// Appends a number, for texts and for coordinates.
    pub fn number(&mut self, number: i64) {
        self.page.push_str(&number.to_string());
    }

    /// Appends untrusted text, in a line.
    pub fn text(&mut self, text: &str) {
        characters(text).for_each(|(character, hidden)| self.character(character, hidden));
    }

    /// Appends untrusted text to an element that keeps white space: line feeds and tabs stay.
    pub fn lines(&mut self, text: &str) {
        for (character, hidden) in characters(text) {
            match character {
                '\n' | '\t' => self.page.push(character),
                _ => self.character(character, hidden),
            }
        }
    }

    /// Appends untrusted text as the value of an attribute in double quotes. A value cannot hold elements, so a
    /// hidden character is written as `U+202E` rather than marked.
    pub fn value(&mut self, text: &str) {
        for (character, hidden) in characters(text) {
            if hidden {
                self.page.push_str(&code_point(character));
            } else {
                self.plain(character);
            }
        }
    }

    /// Appends `<tag>`, text, `</tag>`.
    pub fn element(&mut self, open: &'static str, text: &str, close: &'static str) {
        self.tags(open);
        self.text(text);
        self.tags(close);
    }

    /// Appends a hash or an identifier: monospaced, with line breaks anywhere.
    pub fn code(&mut self, text: &str) {
        self.element("<code>", text, "</code>");
    }

    fn character(&mut self, character: char, hidden: bool) {
        if hidden {
            self.tags("<span class=\"hidden\">");
            self.page.push_str(&code_point(character));
            self.tags("</span>");
        } else {
            self.plain(character);
        }
    }

    fn plain(&mut self, character: char) {
        match character {
            '&' => self.tags("&amp;"),
            '<' => self.tags("&lt;"),
            '>' => self.tags("&gt;"),
            '"' => self.tags("&quot;"),
            '\'' => self.tags("&#39;"),
            _ => self.page.push(character),
        }
    }
}

fn code_point(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

#[cfg(test)]
mod tests {
    use super::Html;

    fn written(write: impl FnOnce(&mut Html)) -> String {
        let mut html = Html::default();
        write(&mut html);
        html.finish()
    }

    #[test]
    fn markup_in_text_is_text() {
        let text = "<script>alert(\"&'\")</script>";
        let expected = "&lt;script&gt;alert(&quot;&amp;&#39;&quot;)&lt;/script&gt;";
        assert_eq!(written(|html| html.text(text)), expected);
        assert_eq!(written(|html| html.lines(text)), expected);
        assert_eq!(written(|html| html.value(text)), expected);
    }

    #[test]
    fn hidden_characters_are_shown_by_number() {
        let text = "a\0\u{202e}b\n";
        assert_eq!(
            written(|html| html.lines(text)),
            "a<span class=\"hidden\">U+0000</span><span class=\"hidden\">U+202E</span>b\n"
        );
        assert_eq!(written(|html| html.value(text)), "aU+0000U+202EbU+000A");
    }
}
