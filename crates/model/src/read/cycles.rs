// SPDX-License-Identifier: Apache-2.0
//! Cycles as they are written: one amount for all kinds of cores, or one for each.

use toml::Spanned;

use super::amount::{Amount, amount_of};
use crate::reader::{Node, is_name};
use crate::schema::{Noted, Read, Shape};

#[derive(Debug, Clone)]
pub(crate) enum CyclesTable {
    Every(Spanned<Amount>),
    ByKind(Vec<(String, Spanned<Amount>)>),
}

impl Default for CyclesTable {
    fn default() -> Self {
        Self::ByKind(Vec::new())
    }
}

impl Read for CyclesTable {
    fn read(_: &Shape, node: &Node<'_>, _: &mut Noted<'_>) -> Option<Self> {
        cycles(node)
    }
}

fn cycles(node: &Node<'_>) -> Option<CyclesTable> {
    let Some(table) = node.get_ref().as_table() else {
        return Some(CyclesTable::Every(Spanned::new(node.span(), amount_of(node)?)));
    };
    let kind = |(key, node): (&Spanned<_>, &Node<'_>)| {
        let name: &std::borrow::Cow<'_, str> = key.get_ref();
        let amount = Spanned::new(node.span(), amount_of(node)?);
        is_name(name).then(|| (name.to_string(), amount))
    };
    let kinds = table.iter().map(kind).collect::<Option<Vec<_>>>()?;
    (!kinds.is_empty()).then_some(CyclesTable::ByKind(kinds))
}
