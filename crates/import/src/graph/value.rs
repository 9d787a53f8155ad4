// SPDX-License-Identifier: Apache-2.0
//! The values of attributes, which are texts that must be numbers.

use std::borrow::Cow;

use super::{Attribute, Attributes};
use crate::dataflow::Phases;
use crate::notes::Notes;
use whimbrel_model::Problem;

/// The most cycles of a firing.
pub(super) const CYCLES_MAX: u64 = 1 << 48;
/// Tokens that a firing passes at one end.
const RATE_MAX: u64 = 32768;

/// The attributes of a node or an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Values<'a>(pub &'a Attributes);

impl<'a> Values<'a> {
    pub fn get(self, key: &str) -> Option<&'a Attribute> {
        self.0.0.iter().map(AsRef::as_ref).find(|attribute| attribute.key == key)
    }

    /// A whole number in bounds, which may be written as `3.0`.
    pub fn number(self, key: &str, least: u64, most: u64, notes: &mut Notes) -> Option<u64> {
        let attribute = self.get(key)?;
        let number = whole(&attribute.value).parse().ok();
        let number = number.filter(|number| (least..=most).contains(number));
        if number.is_none() {
            wrong(attribute, &format!("a whole number from {least} to {most}"), notes);
        }
        number
    }

    pub fn small(self, key: &str, least: u32, most: u32, notes: &mut Notes) -> Option<u32> {
        let number = self.number(key, least.into(), most.into(), notes)?;
        u32::try_from(number).ok()
    }

    /// A number, or one for each phase.
    pub fn phases(self, key: &str, most: u64, notes: &mut Notes) -> Option<Phases> {
        let attribute = self.get(key)?;
        let phases = Phases::read(&whole(&attribute.value), most);
        if phases.is_none() {
            let wanted = format!(
                "a whole number from 0 to {most}, or one for each phase, for example 1,0,3*2"
            );
            wrong(attribute, &wanted, notes);
        }
        phases
    }

    pub fn rate(self, key: &str, notes: &mut Notes) -> Option<Phases> {
        let rate = self.phases(key, RATE_MAX, notes)?;
        if rate.all() == 0 {
            wrong(self.get(key)?, "more than 0, in one phase at least", notes);
            return None;
        }
        Some(rate)
    }

    /// Microseconds, which may have a fraction, in nanoseconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
    pub fn microseconds(self, key: &str, notes: &mut Notes) -> Option<u64> {
        let attribute = self.get(key)?;
        let number = attribute.value.trim().parse::<f64>().ok();
        let number = number.filter(|number| (1.0..=1e9).contains(number));
        if number.is_none() {
            wrong(attribute, "a number from 1 to 1e9", notes);
        }
        Some((number? * 1000.0).round() as u64)
    }
}

/// Without the fraction or the power of ten that a whole number has where it is written as all are.
fn whole(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let zeros = |end: &str| !end.is_empty() && end.bytes().all(|digit| digit == b'0');
    if let Some((start, _)) = text.split_once('.').filter(|(_, end)| zeros(end)) {
        return Cow::Borrowed(start);
    }
    let power = text.contains(['e', 'E']).then(|| text.parse::<f64>().ok()).flatten();
    match power.filter(|number| number.fract() == 0.0 && (0.0..=2_f64.powi(53)).contains(number)) {
        Some(number) => Cow::Owned(number.to_string()),
        None => Cow::Borrowed(text),
    }
}

fn wrong(attribute: &Attribute, wanted: &str, notes: &mut Notes) {
    let problem = Problem::new(format!("`{}` must be {wanted}", attribute.key))
        .help(format!("write {wanted}"));
    notes.refuse(problem.at(attribute.at.clone(), "not this"));
}
