// SPDX-License-Identifier: Apache-2.0
//! Texts in UTF-16, as some editors of Windows save them, and XML that says that it is Latin-1.

use std::borrow::Cow;

/// The file in UTF-8; one in another encoding stays as it is, and so does one that is no text.
pub fn as_utf8(contents: &[u8]) -> Cow<'_, [u8]> {
    let wide = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
        let text: Option<String> = char::decode_utf16(units).map(Result::ok).collect();
        text.filter(|_| bytes.len() % 2 == 0).map(String::into_bytes)
    };
    let text = match contents {
        [0xff, 0xfe, rest @ ..] => wide(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => wide(rest, u16::from_be_bytes),
        [b'<', 0, b'?', 0, ..] => wide(contents, u16::from_le_bytes),
        [0, b'<', 0, b'?', ..] => wide(contents, u16::from_be_bytes),
        _ if is_latin(contents) => {
            Some(contents.iter().map(|byte| char::from(*byte)).collect::<String>().into_bytes())
        }
        _ => None,
    };
    text.map_or(Cow::Borrowed(contents), Cow::Owned)
}

/// Whether the XML declaration says Latin-1, and the bytes do not say UTF-8.
fn is_latin(contents: &[u8]) -> bool {
    let declaration = contents.split(|byte| *byte == b'>').next().unwrap_or_default();
    let declaration = String::from_utf8_lossy(declaration).to_ascii_lowercase();
    let latin = ["iso-8859-1", "latin1", "latin-1"].iter().any(|name| declaration.contains(name));
    declaration.starts_with("<?xml") && latin && std::str::from_utf8(contents).is_err()
}
