// SPDX-License-Identifier: Apache-2.0
//! The words of a text in DOT, with their places.

use whimbrel_model::{Problem, Span};

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub kind: Kind,
    pub at: Span,
}

/// What a word is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, a number, or a text in quotes; keywords are names without quotes.
    Id {
        text: String,
        quoted: bool,
    },
    /// `->` or `--`.
    Edge {
        directed: bool,
    },
    /// One of `{}[]=;,:+`.
    Mark(char),
    End,
}

/// All words of a text, the last of them its end.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, Problem> {
    let mut lexer = Lexer { text, at: 0 };
    let mut tokens = Vec::new();
    loop {
        lexer.skip()?;
        let start = lexer.at;
        let kind = lexer.next()?;
        let end = kind == Kind::End;
        tokens.push(Token { kind, at: start..lexer.at });
        if end {
            return Ok(tokens);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    /// Passes what is all of these.
    fn pass(&mut self, is: impl Fn(char) -> bool) -> usize {
        let rest = self.rest();
        let length = rest.find(|c| !is(c)).unwrap_or(rest.len());
        self.at += length;
        length
    }

    /// White space and comments; a line that begins with # is one.
    fn skip(&mut self) -> Result<(), Problem> {
        loop {
            self.pass(char::is_whitespace);
            let begins = self.at == 0 || self.text[..self.at].ends_with('\n');
            let rest = self.rest();
            if rest.starts_with("//") || rest.starts_with('#') && begins {
                self.pass(|c| c != '\n');
            } else if rest.starts_with("/*") {
                let end = rest.find("*/");
                let end = end.ok_or_else(|| self.open("this comment", "*/", 2))?;
                self.at += end + 2;
            } else {
                return Ok(());
            }
        }
    }

    fn open(&self, what: &str, end: &str, length: usize) -> Problem {
        Problem::new(format!("{what} has no end"))
            .help("end it")
            .at(self.at..self.at + length, format!("no {end}"))
    }

    fn next(&mut self) -> Result<Kind, Problem> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(Kind::End) };
        if rest.starts_with("->") || rest.starts_with("--") {
            let directed = rest.starts_with("->");
            self.at += 2;
            return Ok(Kind::Edge { directed });
        }
        match first {
            '{' | '}' | '[' | ']' | '=' | ';' | ',' | ':' | '+' => {
                self.at += 1;
                Ok(Kind::Mark(first))
            }
            '"' => self.quoted(),
            '<' => self.html(),
            '-' | '.' | '0'..='9' => self.number(),
            c if is_letter(c) => {
                let start = self.at;
                self.pass(|c| is_letter(c) || c.is_ascii_digit());
                Ok(Kind::Id { text: self.text[start..self.at].into(), quoted: false })
            }
            other => {
                let at = self.at..self.at + other.len_utf8();
                let problem =
                    Problem::new("this is not DOT").at(at, format!("no word with {other:?}"));
                Err(problem.help("put names that have other signs than letters into quotes"))
            }
        }
    }

    fn number(&mut self) -> Result<Kind, Problem> {
        let start = self.at;
        self.at += usize::from(self.rest().starts_with('-'));
        let mut digits = self.pass(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') {
            self.at += 1;
            digits += self.pass(|c| c.is_ascii_digit());
        }
        if digits == 0 {
            return Err(Problem::new("this is not DOT")
                .help("write a number after the minus sign, or put the text in quotes")
                .at(start..self.at, "no number"));
        }
        Ok(Kind::Id { text: self.text[start..self.at].into(), quoted: false })
    }

    /// Of escapes only that of a quote is one of the language.
    fn quoted(&mut self) -> Result<Kind, Problem> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1).peekable();
        while let Some((at, c)) = chars.next() {
            match (c, chars.peek().map(|(_, next)| *next)) {
                ('"', _) => {
                    self.at += at + 1;
                    return Ok(Kind::Id { text, quoted: true });
                }
                ('\\', Some('\n')) => drop(chars.next()),
                ('\\', Some('"')) => {
                    text.push('"');
                    chars.next();
                }
                ('\\', Some('\\')) => {
                    text.push_str("\\\\");
                    chars.next();
                }
                _ => text.push(c),
            }
        }
        Err(self.open("this text", "\"", 1))
    }

    /// A text in angle brackets, which nest.
    fn html(&mut self) -> Result<Kind, Problem> {
        let mut depth = 0_u32;
        for (at, c) in self.rest().char_indices() {
            match c {
                '<' => depth += 1,
                '>' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                let text = self.rest()[1..at].to_owned();
                self.at += at + 1;
                return Ok(Kind::Id { text, quoted: true });
            }
        }
        Err(self.open("this text", ">", 1))
    }
}

fn is_letter(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic() || !c.is_ascii()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let word = |token: Token| match token.kind {
            Kind::Id { text, .. } => text,
            Kind::Edge { directed } => if directed { "->" } else { "--" }.into(),
            Kind::Mark(mark) => mark.into(),
            Kind::End => String::new(),
        };
        tokens(text).unwrap().into_iter().map(word).collect()
    }

    #[test]
    fn names_numbers_and_texts_are_words() {
        assert_eq!(
            words("a_1->\"b \\\" c\"[x=-1.5]"),
            ["a_1", "->", "b \" c", "[", "x", "=", "-1.5", "]", ""]
        );
        assert_eq!(words("é<a <b> c>--.5;"), ["é", "a <b> c", "--", ".5", ";", ""]);
        assert_eq!(words("\"a\\\nb\\n\\\\\""), ["ab\\n\\\\", ""]);
    }

    #[test]
    fn comments_are_no_words() {
        assert_eq!(words("# 1\na /* b\n*/ c // d\ne\n# f"), ["a", "c", "e", ""]);
        for open in ["/* a", "\"a", "<a<b>", "-", "%", "a # b"] {
            assert!(tokens(open).is_err(), "{open}");
        }
    }
}
