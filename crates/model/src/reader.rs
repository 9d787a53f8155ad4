// SPDX-License-Identifier: Apache-2.0
//! Values of TOML as the readers of files take them.

use serde::de::value::{self, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::{Problem, Problems, none_or};

/// A TOML value with its place.
pub(crate) type Node<'t> = Spanned<DeValue<'t>>;

/// The tables of a text.
///
/// # Errors
/// Every place where it is no TOML.
pub(crate) fn document(source: &str) -> Result<DeTable<'_>, Problems> {
    let (document, errors) = DeTable::parse_recoverable(source);
    let syntax = errors.iter().map(|error| {
        let at = error.span().unwrap_or(0..0);
        Problem::new("this is not TOML")
            .help("correct the text there, or take another file")
            .at(at, error.message())
    });
    none_or(syntax.collect(), || document.into_inner())
}

/// What was written, or what a key is that was not.
pub(crate) fn given<T: Copy + Default>(written: &Option<Spanned<T>>) -> T {
    written.as_ref().map(|value| *value.get_ref()).unwrap_or_default()
}

/// What a value is, for a person who expected something else.
pub(crate) fn describe(node: &Node<'_>) -> String {
    match node.get_ref() {
        DeValue::String(_) => "not this text".into(),
        DeValue::Integer(_) | DeValue::Float(_) => "not this number".into(),
        DeValue::Boolean(_) => "a boolean".into(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "not this array".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

/// A text of one line.
pub(crate) fn text(node: &Node<'_>) -> Option<String> {
    let text = node.get_ref().as_str()?;
    (!text.chars().any(char::is_control)).then(|| text.to_owned())
}

/// Letters, digits and `_`, at most 31 of them: what C and the trace formats take as a name.
pub fn is_name(text: &str) -> bool {
    (1..=31).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// A whole number from 0 up.
pub(crate) fn unsigned(node: &Node<'_>) -> Option<u64> {
    let integer = node.get_ref().as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// A whole number that fits 32 bits.
pub(crate) fn small(node: &Node<'_>) -> Option<u32> {
    u32::try_from(unsigned(node)?).ok()
}

/// A number, whole or not, that is finite.
pub(crate) fn number(node: &Node<'_>) -> Option<f64> {
    let value = match node.get_ref() {
        DeValue::Float(float) => float.as_str().parse().ok()?,
        DeValue::Integer(integer) => {
            #[expect(clippy::cast_precision_loss, reason = "a number that large is not a count")]
            let value = i64::from_str_radix(integer.as_str(), integer.radix()).ok()? as f64;
            value
        }
        _ => return None,
    };
    f64::is_finite(value).then_some(value)
}

/// A whole number that is too large to count with, for the message that names the bound.
pub(crate) fn huge(node: &Node<'_>) -> Option<f64> {
    let integer = node.get_ref().as_integer().filter(|integer| integer.radix() == 10)?;
    integer.as_str().parse().ok().filter(|value| f64::is_finite(*value))
}

/// A number of bytes: a whole number, or text such as `"64KiB"`.
pub(crate) fn bytes(node: &Node<'_>) -> Option<u64> {
    node.get_ref().as_str().map_or_else(|| unsigned(node), size_of)
}

/// The bytes of a size as "64KiB".
pub(crate) fn size_of(text: &str) -> Option<u64> {
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let (count, unit) = text.split_at(digits);
    let scale = match unit.trim() {
        "" | "B" => 1,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        _ => return None,
    };
    count.parse::<u64>().ok()?.checked_mul(scale)
}

pub(crate) fn list<'t, T>(
    node: &Node<'t>,
    convert: impl Fn(&Node<'t>) -> Option<T>,
) -> Option<Vec<Spanned<T>>> {
    let all = node.get_ref().as_array()?.iter();
    all.map(|n| Some(Spanned::new(n.span(), convert(n)?))).collect()
}

pub(crate) fn core_list(node: &Node<'_>) -> Option<Vec<Spanned<u32>>> {
    match node.get_ref() {
        DeValue::Array(_) => list(node, |n| within(n, 0, 4094)).filter(|cores| !cores.is_empty()),
        _ => within(node, 0, 4094).map(|core| vec![Spanned::new(node.span(), core)]),
    }
}

pub(crate) fn within(node: &Node<'_>, least: u32, most: u32) -> Option<u32> {
    small(node).filter(|value| (least..=most).contains(value))
}

pub(crate) fn word<T: DeserializeOwned>(node: &Node<'_>) -> Option<T> {
    from_word(node.get_ref().as_str()?)
}

/// The value that a word is the name of, as serde has it.
pub fn from_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let word: StrDeserializer<'_, value::Error> = word.into_deserializer();
    T::deserialize(word).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Node<'_> {
        DeValue::parse(text).unwrap()
    }

    #[test]
    fn a_size_is_a_number_of_bytes_or_has_a_binary_unit() {
        assert_eq!(bytes(&node("4096")), Some(4096));
        assert_eq!(bytes(&node("0x1000")), Some(4096));
        assert_eq!(bytes(&node("\"64KiB\"")), Some(65536));
        assert_eq!(bytes(&node("\"2 MiB\"")), Some(2 << 20));
        assert_eq!(bytes(&node("\"64kB\"")), None);
        assert_eq!(bytes(&node("\"KiB\"")), None);
        assert_eq!(bytes(&node("\"18446744073709551615GiB\"")), None);
        assert_eq!(bytes(&node("-1")), None);
    }

    #[test]
    fn a_name_has_at_most_31_letters_digits_and_underscores() {
        assert!(is_name("band_pass_2"));
        assert!(is_name(&"x".repeat(31)));
        for bad in ["", "a b", "a.b", "über", &"x".repeat(32)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_number_is_finite() {
        assert_eq!(number(&node("1_000")), Some(1000.0));
        assert_eq!(number(&node("-2.5e1")), Some(-25.0));
        assert_eq!(number(&node("inf")), None);
        assert_eq!(number(&node("\"1\"")), None);
    }
}
