// SPDX-License-Identifier: Apache-2.0
//! Document type declarations, which are passed over: nothing that they name is read, and of what
//! they declare only texts remain that stand for themselves. So no document grows by itself.

use whimbrel_model::Problem;

const START: &str = "<!DOCTYPE";
const ENTITY: &str = "<!ENTITY";
/// How much may be added to a document by the texts of its entities.
const GROWTH_MAX: usize = 1 << 24;

/// The text with spaces for its document type declaration, except for plain entities: each byte
/// keeps its place.
///
/// # Errors
/// It has no end, or its entities make too much of the document.
pub(super) fn passed_over(text: &str) -> Result<Option<String>, Problem> {
    let Some(start) = begin(text) else { return Ok(None) };
    let mark = start..start + START.len();
    let mut declaration = Declaration { text, at: mark.end, entities: Vec::new() };
    if declaration.pass().is_none() {
        let problem = Problem::new("this document type declaration has no end");
        return Err(problem.at(mark, "it begins here").help("add `>` to it, or remove it"));
    }
    let Declaration { at: end, entities, .. } = declaration;
    let longest = entities.iter().map(|(from, to)| to - from).max().unwrap_or_default();
    let references = text[end..].bytes().filter(|byte| *byte == b'&').count();
    if longest.saturating_mul(references) > GROWTH_MAX {
        let problem = Problem::new("the entities of this document stand for too much text");
        let help = "write the text in their place, or take a file without <!ENTITY>";
        return Err(problem.at(mark, "declared here").help(help));
    }
    Ok(Some(blank(text, start, end, &entities)))
}

/// Where the declaration begins: after comments and the like, before the first element.
fn begin(text: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = text[at..].trim_start();
        at = text.len() - rest.len();
        let end = match rest {
            _ if rest.starts_with(START) => return Some(at),
            _ if rest.starts_with("<!--") => "-->",
            _ if rest.starts_with("<?") => "?>",
            _ => return None,
        };
        at += rest.find(end)? + end.len();
    }
}

fn blank(text: &str, start: usize, end: usize, entities: &[(usize, usize)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let mut from = start;
    for (entity, after) in entities.iter().copied().chain([(end, end)]) {
        bytes[from..entity].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        from = after;
    }
    if let ([(first, _), ..], [.., (_, last)]) = (entities, entities) {
        let head = format!("{START} x");
        bytes[start..start + head.len()].copy_from_slice(head.as_bytes());
        bytes[*first - 1] = b'[';
        bytes[*last] = b']';
        bytes[end - 1] = b'>';
    }
    String::from_utf8(bytes).unwrap_or_default()
}

struct Declaration<'a> {
    text: &'a str,
    at: usize,
    /// From where to where plain entities are declared.
    entities: Vec<(usize, usize)>,
}

impl Declaration<'_> {
    /// Goes behind the declaration; `None`: it has no end.
    fn pass(&mut self) -> Option<()> {
        let (mut inside, name) = (false, self.at + " x".len());
        loop {
            let rest = &self.text[self.at..];
            match rest.chars().next()? {
                '>' if !inside => {
                    self.at += 1;
                    return Some(());
                }
                // Room for a name before it is needed where entities remain.
                '[' if self.at >= name => inside = true,
                ']' => inside = false,
                '"' | '\'' => self.quoted()?,
                '<' if rest.starts_with("<!--") => self.at += rest.find("-->")? + 2,
                '<' if rest.starts_with("<?") => self.at += rest.find("?>")? + 1,
                '<' if inside => self.one()?,
                '<' | '[' => return None,
                _ => {}
            }
            self.at += self.text[self.at..].chars().next()?.len_utf8();
        }
    }

    /// Goes to the end of what stands in quotation marks.
    fn quoted(&mut self) -> Option<()> {
        let mark = self.text[self.at..].chars().next()?;
        self.at += 1;
        self.at += self.text[self.at..].find(mark)?;
        Some(())
    }

    /// Goes to the end of a declaration in it.
    fn one(&mut self) -> Option<()> {
        let start = self.at;
        let mut value = None;
        while !self.text[self.at..].starts_with('>') {
            if self.text[self.at..].starts_with(['"', '\'']) {
                let from = self.at + 1;
                self.quoted()?;
                value.get_or_insert(&self.text[from..self.at]);
            }
            self.at += self.text[self.at..].chars().next()?.len_utf8();
        }
        let words = &self.text[start..self.at];
        let head = words.split(['"', '\'']).next().unwrap_or_default();
        let named = head.strip_prefix(ENTITY).unwrap_or_default();
        // Not `% name`, and no `name SYSTEM`.
        let plain = named.split_whitespace().count() == 1 && !named.contains('%');
        if plain && value.is_some_and(is_plain) {
            self.entities.push((start, self.at + 1));
        }
        Some(())
    }
}

/// Whether a text stands for itself, without elements and other entities.
fn is_plain(value: &str) -> bool {
    let own = ["#", "amp;", "lt;", "gt;", "quot;", "apos;"];
    let mut references = value.split('&').skip(1);
    !value.contains(['<', '%'])
        && references.all(|name| own.iter().any(|own| name.starts_with(own)))
}
