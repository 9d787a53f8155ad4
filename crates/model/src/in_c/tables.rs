// SPDX-License-Identifier: Apache-2.0
//! A plan as constant tables in C.

use std::fmt::Write;

use super::{InC, Kind, Object};

/// A C file that grows.
#[derive(Default)]
pub(crate) struct Tables(pub String);

impl Tables {
    pub fn line(&mut self, line: &str) {
        self.0.push_str(line);
        self.0.push('\n');
    }

    /// The initialiser of an object with some fields; of one that others point to, its address.
    pub fn object(&mut self, of: &Object, name: &str, fields: &[String]) -> Option<String> {
        let fields = if fields.is_empty() { "0".into() } else { fields.join(", ") };
        let all = format!("{{ {fields} }}");
        if !of.is_pointed_to {
            return Some(all);
        }
        self.line(&format!("static const struct {} {name} = {all};\n", of.tag));
        Some(format!("&{name}"))
    }
}

impl<T: InC> InC for Vec<T> {
    const KIND: Kind = Kind::List(&T::KIND);

    /// C has no empty arrays.
    fn initialiser(&self, tables: &mut Tables, name: &str) -> Option<String> {
        let all = self.iter().enumerate();
        let all: Vec<String> = all
            .map(|(i, one)| {
                let one = one.initialiser(tables, &format!("{name}_{i}"));
                format!("    {},\n", one.unwrap_or_else(|| "0".into()))
            })
            .collect();
        if all.is_empty() {
            return None;
        }
        tables.line(&format!("static const {} {name}[] = {{\n{}}};\n", T::TYPE, all.concat()));
        Some(name.to_owned())
    }

    fn fields(&self, tables: &mut Tables, name: &str, path: &str, to: &mut Vec<String>) {
        let Some(list) = self.initialiser(tables, name) else { return };
        to.push(format!(".{path} = {list}"));
        to.push(format!(".{} = {}", super::rows::count_of(path), self.len()));
    }
}

impl<T: InC> InC for Option<T> {
    const KIND: Kind = T::KIND;
    const TYPE: &'static str = T::TYPE;

    fn initialiser(&self, tables: &mut Tables, name: &str) -> Option<String> {
        self.as_ref()?.initialiser(tables, name)
    }
}

macro_rules! numbers {
    ($($type:ty: $kind:literal, $in_c:literal, $format:literal;)*) => { $(
        impl InC for $type {
            const KIND: Kind = Kind::Plain($kind);
            const TYPE: &'static str = $in_c;

            fn initialiser(&self, _: &mut Tables, _: &str) -> Option<String> {
                (*self != <$type>::default()).then(|| format!($format, self))
            }
        }
    )* };
}

// What Rust prints of a finite number is a constant of C, and the same number.
numbers! {
    u32: "UINT32", "uint32_t", "{}";
    usize: "UINT32", "uint32_t", "{}";
    u64: "UINT64", "uint64_t", "UINT64_C({})";
    f64: "NUMBER", "double", "{:?}";
    bool: "BOOL", "bool", "{}";
}

impl InC for String {
    const KIND: Kind = Kind::Plain("TEXT");
    const TYPE: &'static str = "char *const";

    fn initialiser(&self, _: &mut Tables, _: &str) -> Option<String> {
        Some(text(self))
    }
}

/// A text as a literal of C; what is not plain is in octal, three digits, so nothing joins it.
pub(crate) fn text(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => literal.extend(['\\', char::from(byte)]),
            // A `?` would begin a trigraph with another one.
            b' '..=b'~' if byte != b'?' => literal.push(char::from(byte)),
            _ => {
                let _ = write!(literal, "\\{byte:03o}");
            }
        }
    }
    literal + "\""
}
