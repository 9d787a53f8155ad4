// SPDX-License-Identifier: Apache-2.0
//! What strangers have written, as a terminal may be given it.
//!
//! Names of tasks, command lines and lines of files are somebody else's words. A terminal obeys
//! control characters, and shows what stands between characters of direction in another order than
//! it is. So they are replaced, each by one of the same length in UTF-8: a place in the text stays
//! where it was.

use std::borrow::Cow;
use std::fmt::Write;

/// A text of lines, without the characters that a terminal obeys but ends of lines and tabulators.
pub fn plain(text: &str) -> Cow<'_, str> {
    if !text.chars().any(|sign| is_obeyed(sign) && !matches!(sign, '\n' | '\t')) {
        return Cow::Borrowed(text);
    }
    let mut signs = text.chars().peekable();
    let mut plain = String::with_capacity(text.len());
    while let Some(sign) = signs.next() {
        plain.push(match sign {
            '\n' | '\t' => sign,
            // A line's end as Windows has it.
            '\r' if signs.peek() == Some(&'\n') => ' ',
            sign => instead(sign),
        });
    }
    Cow::Owned(plain)
}

/// A name or a few words: the same on one line.
pub fn word(text: &str) -> Cow<'_, str> {
    if text.chars().any(is_obeyed) {
        Cow::Owned(text.chars().map(instead).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// A text of JSON that says the same with none of them but ends of lines: they are in strings
/// only, which may have any character escaped.
pub fn json(text: &str) -> Cow<'_, str> {
    // Most texts are long and of ASCII: that is seen several bytes at a time.
    let is_plain =
        text.bytes().fold(true, |plain, byte| plain & matches!(byte, b'\n' | b' '..=b'~'));
    if is_plain || !text.chars().any(|sign| is_obeyed(sign) && sign != '\n') {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        if is_obeyed(sign) && sign != '\n' {
            // Writing to a String cannot fail; all of them are below U+10000.
            let _ = write!(escaped, "\\u{:04x}", u32::from(sign));
        } else {
            escaped.push(sign);
        }
    }
    Cow::Owned(escaped)
}

/// Control characters, those of direction (Unicode's `Bidi_Control`), and separators of lines.
fn is_obeyed(sign: char) -> bool {
    sign.is_control()
        || matches!(sign, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        || matches!(sign, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn instead(sign: char) -> char {
    match (is_obeyed(sign), sign.len_utf8()) {
        (false, _) => sign,
        (true, 1) => '?',
        (true, 2) => '·',
        (true, _) => char::REPLACEMENT_CHARACTER,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a terminal obeys, each with the character that is shown for it.
    const OBEYED: [(&str, &str); 10] = [
        ("\u{1b}", "?"),
        ("\u{7}", "?"),
        ("\u{7f}", "?"),
        ("\u{0}", "?"),
        ("\u{9b}", "·"),
        ("\u{85}", "·"),
        ("\u{61c}", "·"),
        ("\u{202e}", "\u{fffd}"),
        ("\u{2066}", "\u{fffd}"),
        ("\u{2028}", "\u{fffd}"),
    ];

    #[test]
    fn what_a_terminal_obeys_is_replaced_by_something_as_long() {
        for (obeyed, shown) in OBEYED {
            let text = format!("é{obeyed}]0;title{obeyed}");
            let wanted = format!("é{shown}]0;title{shown}");
            assert_eq!([plain(&text), word(&text)], [&*wanted, &*wanted]);
            assert_eq!(text.len(), wanted.len());
        }
    }

    #[test]
    fn lines_stay_lines_and_a_name_stays_on_its_line() {
        assert_eq!(plain("a\tb\r\nc\rd\n"), "a\tb \nc?d\n");
        assert_eq!(word("a\tb\r\nc"), "a?b??c");
        for whole in ["", "núcleo → 1 µs, 日本, 👩\u{200d}🚀", "a\n\tb"] {
            assert!(matches!(plain(whole), Cow::Borrowed(same) if same == whole));
        }
    }

    #[test]
    fn json_says_the_same_by_escapes() {
        for (obeyed, _) in OBEYED.iter().skip(1) {
            let name = format!("a{obeyed}\"b");
            let text = serde_json::to_string_pretty(&[&name]).unwrap();
            let escaped = json(&text);
            assert!(!escaped.chars().any(|sign| is_obeyed(sign) && sign != '\n'), "{escaped}");
            assert_eq!(serde_json::from_str::<[String; 1]>(&escaped).unwrap(), [name]);
        }
    }
}
