// SPDX-License-Identifier: Apache-2.0
//! The nearest right name to a wrong one: of verbs, options, keys, files and all other closed sets.

/// A comparison takes time and memory by the product of both lengths, and thousands of wrong names
/// may each be compared with thousands: among so many, and up to this length, one is looked for.
const NEAREST_AMONG: usize = 256;
const NEAREST_BYTES: usize = 128;

/// So much of a name is enough to mean it.
const PART_BYTES: usize = 3;

/// The known name nearest to a wrong one, if it is near enough to be meant.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let wrong = folded(wrong);
    known
        .into_iter()
        .take(NEAREST_AMONG)
        .filter(|name| name.len().max(wrong.len()) <= NEAREST_BYTES)
        .filter_map(|name| Some((distance(&wrong, &folded(name))?, name)))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// What to write instead of a wrong name: the known one that is meant, or what `otherwise` says.
pub fn suggestion<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
    otherwise: impl FnOnce() -> String,
) -> String {
    nearest(wrong, known).map_or_else(otherwise, |meant| format!("write `{meant}`"))
}

/// Names differ neither by their case nor by how words are joined.
fn folded(name: &str) -> String {
    name.to_lowercase().replace(['_', '-'], "")
}

/// How far apart they are, and by how many letters; `None`: too far. One that is cut off is as near
/// as a letter.
fn distance(wrong: &str, name: &str) -> Option<(usize, usize)> {
    let longer = name.len().max(wrong.len());
    let distance = strsim::damerau_levenshtein(wrong, name);
    let is_part = wrong.len().min(name.len()) >= PART_BYTES
        && (name.starts_with(wrong) || wrong.starts_with(name));
    let near = if is_part { distance.min(1) } else { distance };
    (is_part || distance <= longer / 3).then_some((near, distance))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_name_is_a_slip_of_the_fingers_or_a_part_away() {
        let known = ["smp2", "mpsoc3", "mesh64", "output", "put", "input", "slot_bytes"];
        for (wrong, meant) in [
            ("smp3", "smp2"),
            ("MPSoC3", "mpsoc3"),
            ("mesh", "mesh64"),
            ("outptu", "output"),
            ("output_file", "output"),
            ("inputs", "input"),
            ("slot-bytes", "slot_bytes"),
        ] {
            assert_eq!(nearest(wrong, known), Some(meant), "{wrong}");
        }
        for wrong in ["", "m", "me", "davinci", &"o".repeat(200)] {
            assert_eq!(nearest(wrong, known), None, "{wrong}");
        }
    }
}
