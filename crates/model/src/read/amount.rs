// SPDX-License-Identifier: Apache-2.0
//! Sizes and rates that depend on parameters: numbers and names joined by `+`, `*` and `/`.
//!
//! `*` and `/` bind tighter than `+`; there is neither subtraction nor a parenthesis, so that a
//! formula reads the same for everyone. An error is a place in the text and a few words.

use std::ops::Range;

use toml::Spanned;

use crate::app::{Param, ParamKind};
use crate::problem::Problem;
use crate::reader::{Node, huge, number};
use crate::schema::{Noted, Read, Shape};

/// A number, or an expression that gives one.
#[derive(Debug, Clone)]
pub(crate) enum Amount {
    Number(f64),
    Expression(String),
}

impl Default for Amount {
    fn default() -> Self {
        Self::Number(0.0)
    }
}

impl Read for Amount {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        amount_of(node)
    }
}

pub(crate) fn amount_of(node: &Node<'_>) -> Option<Amount> {
    match node.get_ref().as_str() {
        Some(text) => Some(Amount::Expression(text.to_owned())),
        None => number(node).or_else(|| huge(node)).map(Amount::Number),
    }
}

/// The value of an amount, or a problem that points at what is wrong in it.
pub(crate) fn amount(
    amount: &Spanned<Amount>,
    params: &[Param],
    what: &str,
) -> Result<f64, Problem> {
    let text = match amount.get_ref() {
        Amount::Number(value) => return Ok(*value),
        Amount::Expression(text) => text,
    };
    let lookup = |name: &str| {
        let param = params.iter().find(|param| param.key == name)?;
        (param.kind == ParamKind::Number).then(|| param.numbers[0])
    };
    evaluate(text, lookup).map_err(|error| {
        let span = amount.span();
        // An escape makes the text in the file longer: then only the whole can be shown.
        let exact = span.len() == text.len() + 2;
        let at = span.start + 1 + error.at.start..span.start + 1 + error.at.end;
        Problem::new(format!("`{what}` has no value"))
            .at(if exact { at } else { span }, error.what)
            .help("write numbers and numeric parameters joined by +, * and /")
    })
}

/// What is wrong with an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExprError {
    /// Where, in bytes from the start of the expression.
    pub at: Range<usize>,
    /// What, in a few words.
    pub what: String,
}

/// Computes an expression; `lookup` gives the value of a parameter.
///
/// # Errors
/// A character or word that does not belong, a name that `lookup` does not know, a division by
/// zero, or a result that is not finite.
pub fn evaluate(text: &str, lookup: impl Fn(&str) -> Option<f64>) -> Result<f64, ExprError> {
    let mut scanner = Scanner { text, at: 0 };
    let mut sum = 0.0;

    loop {
        sum += scanner.product(&lookup)?;
        match scanner.next() {
            None => break,
            Some((b'+', _)) => {}
            Some((_, at)) => return Err(error(at, "expected +, * or /")),
        }
    }
    if f64::is_finite(sum) { Ok(sum) } else { Err(error(0..text.len(), "is too large")) }
}

fn error(at: Range<usize>, what: impl Into<String>) -> ExprError {
    ExprError { at, what: what.into() }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn product(&mut self, lookup: &impl Fn(&str) -> Option<f64>) -> Result<f64, ExprError> {
        let mut value = self.factor(lookup)?;

        while let Some((operator @ (b'*' | b'/'), _)) = self.peek() {
            self.at += 1;
            let from = self.at;
            let right = self.factor(lookup)?;
            if operator == b'*' {
                value *= right;
            } else if right == 0.0 {
                return Err(error(from..self.at, "division by zero"));
            } else {
                value /= right;
            }
        }
        Ok(value)
    }

    fn factor(&mut self, lookup: &impl Fn(&str) -> Option<f64>) -> Result<f64, ExprError> {
        self.skip_spaces();
        let rest = &self.text[self.at..];
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.'))
            .unwrap_or(rest.len());
        let at = self.at..self.at + length;
        let word = &rest[..length];

        self.at = at.end;
        if word.is_empty() {
            let end = at.start + rest.chars().next().map_or(0, char::len_utf8);
            return Err(error(at.start..end, "expected a number or a parameter"));
        }
        if word.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
            // f64 would also take "1e9", which reads like a name here.
            let digits = word.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'_');
            let number = word.replace('_', "").parse().ok().filter(|_| digits);
            return number.ok_or_else(|| error(at, "is not a number"));
        }
        lookup(word).ok_or_else(|| error(at, "is not the name of a numeric parameter"))
    }

    fn skip_spaces(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn peek(&mut self) -> Option<(u8, Range<usize>)> {
        self.skip_spaces();
        let c = self.text[self.at..].chars().next()?;
        let byte = u8::try_from(c).unwrap_or(b'?');
        Some((byte, self.at..self.at + c.len_utf8()))
    }

    fn next(&mut self) -> Option<(u8, Range<usize>)> {
        let (byte, at) = self.peek()?;
        self.at = at.end;
        Some((byte, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(text: &str) -> Result<f64, ExprError> {
        evaluate(text, |name| (name == "rate").then_some(240_000.0))
    }

    #[test]
    fn products_bind_tighter_than_sums_and_associate_to_the_left() {
        assert_eq!(eval("2 + 3 * 4"), Ok(14.0));
        assert_eq!(eval("rate / 5 / 100 * 2 + 16"), Ok(976.0));
        assert_eq!(eval(" 1_000*0.5 "), Ok(500.0));
    }

    #[test]
    fn an_error_points_at_the_word_that_is_wrong() {
        assert_eq!(eval("rate * speed").unwrap_err().at, 7..12);
        assert_eq!(eval("2 - 1").unwrap_err().at, 2..3);
        assert_eq!(eval("2 *").unwrap_err().at, 3..3);
        assert_eq!(eval("1 / 0").unwrap_err().what, "division by zero");
        assert_eq!(eval("3 € 4").unwrap_err().at, 2..5);
        assert_eq!(eval("1.2.3").unwrap_err().what, "is not a number");
        assert_eq!(eval("1e9").unwrap_err().what, "is not a number");
    }
}
