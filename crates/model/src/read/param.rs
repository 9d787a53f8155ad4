// SPDX-License-Identifier: Apache-2.0
//! The application's own parameters: `[params]`, and `--set KEY=VALUE` that replaces one.

use toml::de::{DeTable, DeValue};
use whimbrel_text::option::SET;

use crate::app::{Param, ParamKind, Setting};
use crate::problem::{Problem, nearest};
use crate::reader::{Node, is_name, number};
use crate::schema::{Noted, Read, Shape};

impl Read for Vec<Param> {
    fn read(_: &Shape, node: &Node<'_>, noted: &mut Noted<'_>) -> Option<Self> {
        Some(read(noted.source, node.get_ref().as_table()?, &mut noted.problems))
    }
}

/// Reads `[params]`.
fn read(source: &str, table: &DeTable<'_>, problems: &mut Vec<Problem>) -> Vec<Param> {
    let mut params = Vec::new();

    for (key, node) in table {
        let name = key.get_ref().as_ref();
        if !is_name(name) {
            let message = "a parameter's name must be 1 to 31 letters, digits and _";
            problems.push(
                Problem::new(message).help("write another name").at(key.span(), "not this name"),
            );
            continue;
        }
        match read_value(source, node) {
            Some((kind, text, numbers)) => {
                params.push(Param { key: name.to_owned(), kind, text, numbers, span: node.span() });
            }
            None => problems.push(
                Problem::new(format!("the parameter `{name}` has a value that no task can read"))
                    .at(node.span(), "this value")
                    .help("write a text, a number, true or false, or an array of numbers"),
            ),
        }
    }
    params
}

fn read_value(source: &str, node: &Node<'_>) -> Option<(ParamKind, String, Vec<f64>)> {
    let raw = source.get(node.span()).unwrap_or_default();
    match node.get_ref() {
        DeValue::String(text) => {
            let plain = !text.chars().any(char::is_control);
            plain.then(|| (ParamKind::Text, text.to_string(), Vec::new()))
        }
        DeValue::Integer(_) | DeValue::Float(_) => {
            Some((ParamKind::Number, raw.to_owned(), vec![number(node)?]))
        }
        DeValue::Boolean(value) => {
            Some((ParamKind::Boolean, value.to_string(), vec![f64::from(u8::from(*value))]))
        }
        DeValue::Array(items) => {
            let numbers = items.iter().map(number).collect::<Option<Vec<_>>>()?;
            let text = numbers.iter().map(f64::to_string).collect::<Vec<_>>().join(", ");
            Some((ParamKind::Numbers, format!("[{text}]"), numbers))
        }
        DeValue::Datetime(_) | DeValue::Table(_) => None,
    }
}

/// Replaces the parameter that a setting names.
///
/// # Errors
/// No such parameter, or a value that is not of its kind.
pub(crate) fn set(params: &mut [Param], setting: &Setting) -> Result<(), Problem> {
    let Some(param) = params.iter_mut().find(|param| param.key == setting.key) else {
        let known: Vec<&str> = params.iter().map(|param| param.key.as_str()).collect();
        let help = match nearest(&setting.key, known.iter().copied()) {
            Some(meant) => format!("write `{meant}`"),
            None if known.is_empty() => {
                "leave it out: this application has no parameters".to_owned()
            }
            None => format!("name one of its parameters: {}", known.join(", ")),
        };
        let message = format!("{SET}: the application has no parameter `{}`", setting.key);
        return Err(Problem::new(message).help(help));
    };
    let Some((text, numbers)) = replacement(param.kind, &setting.value) else {
        let message = format!("{SET}: `{}` is not `{}`", param.key, setting.value);
        let problem = Problem::new(message).at(param.span.clone(), "what it replaces");
        return Err(problem.help(format!("write {}", param.kind)));
    };
    param.text = text;
    param.numbers = numbers;
    Ok(())
}

fn replacement(kind: ParamKind, value: &str) -> Option<(String, Vec<f64>)> {
    if kind == ParamKind::Text {
        let plain = !value.chars().any(char::is_control);
        return plain.then(|| (value.to_owned(), Vec::new()));
    }
    let brackets = value.trim_start().starts_with('[');
    let written =
        if kind == ParamKind::Numbers && !brackets { format!("[{value}]") } else { value.into() };
    let (node, errors) = DeValue::parse_recoverable(&written);
    let (found, text, numbers) = read_value(&written, &node)?;
    (errors.is_empty() && found == kind).then_some((text, numbers))
}
