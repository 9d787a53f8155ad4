// SPDX-License-Identifier: Apache-2.0
//! Nothing that can stand in a file makes the loader panic, and what it accepts is laid out fully.

use crate::common::{RADIO, build};
use proptest::prelude::*;
use whimbrel_model::{Manifest, Pacing, PlanOptions, Table, Verb, evaluate, plan};

/// What the helper makes of a word.
const TABLE: &str = "[[row]]\nframe_rate = 4\nmapping = { bpf = [0, 1], lpf = 1 }\n\n[[row]]\n\
    frame_rate = 9\nfrequency_mhz = [100, 500]\n";

fn fast() -> PlanOptions {
    let plain = PlanOptions::plain(vec![0], "m.so");
    PlanOptions { spin_ns: Some(0), pacing: Pacing::Fast, ..plain }
}

/// It is ASCII, so it may be cut anywhere.
const SCRIPT: &str = include_str!("../../../apps/synthetic/script.toml");

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_are_refused_or_loaded_but_never_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..400)
    ) {
        let _ = Manifest::parse(&String::from_utf8_lossy(&bytes));
        let _ = Table::parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_damaged_application_is_refused_or_laid_out_but_never_panics(
        at in 0..RADIO.len(), cut in 0..40_usize, insert in "[a-z0-9_ .\"\\[\\]=*/+-]{0,8}"
    ) {
        let end = (at + cut).min(RADIO.len());
        let text = format!("{}{insert}{}", &RADIO[..at], &RADIO[end..]);
        if let Ok(app) = build(&text, &[]) {
            prop_assert_eq!(plan(&app, &fast()).tasks.len(), app.tasks.len());
        }
    }

    #[test]
    fn a_damaged_script_is_refused_or_laid_out_but_never_panics(
        at in 0..SCRIPT.len(), cut in 0..40_usize, insert in "[a-z0-9_ .\"\\[\\]{}=,-]{0,12}"
    ) {
        let end = (at + cut).min(SCRIPT.len());
        let text = format!("{}{insert}{}", &SCRIPT[..at], &SCRIPT[end..]);
        for script in build(&text, &[]).iter().flat_map(|app| &app.scripts) {
            for (position, event) in script.events.iter().enumerate() {
                let other = event.other.map_or(0, |other| other as usize);
                match event.verb {
                    Verb::Loop => prop_assert!(other > position && other < script.events.len()),
                    Verb::End => prop_assert!(other < position),
                    _ => {}
                }
            }
        }
    }

    #[test]
    fn a_damaged_table_is_refused_or_laid_out_but_never_panics(
        at in 0..TABLE.len(), cut in 0..20_usize, insert in "[a-z0-9_ .\"\\[\\]={},-]{0,8}"
    ) {
        let end = (at + cut).min(TABLE.len());
        let text = format!("{}{insert}{}", &TABLE[..at], &TABLE[end..]);
        let app = build(RADIO, &[]).unwrap();
        let points_hz = [vec![100_000_000], vec![100_000_000, 500_000_000]];
        let rows = Table::parse(&text).and_then(|table| table.rows(&app, &points_hz));
        for row in rows.iter().flatten() {
            prop_assert_eq!((row.points.len(), row.cores.len()), (2, app.tasks.len()));
            prop_assert!(row.cores.iter().all(|core| *core < 2));
            prop_assert!(row.points[0] < 1 && row.points[1] < 2);
        }
    }

    #[test]
    fn any_setting_is_refused_or_taken_but_never_breaks_a_line(value in any::<String>()) {
        for key in ["input", "sample_rate", "gains", "stereo"] {
            if let Ok(app) = build(RADIO, &[(key, &value)]) {
                let line = plan(&app, &fast()).line();
                prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
                let message: serde_json::Value = serde_json::from_str(&line).unwrap();
                let params = message["plan"]["params"].as_array().unwrap();
                prop_assert_eq!(params.iter().filter(|param| param["key"] == key).count(), 1);
            }
        }
    }

    #[test]
    fn an_arbitrary_expression_has_a_value_or_a_place_inside_it(text in any::<String>()) {
        if let Err(error) = evaluate(&text, |_| Some(2.0)) {
            prop_assert!(error.at.start <= error.at.end && error.at.end <= text.len());
            prop_assert!(text.is_char_boundary(error.at.start));
            prop_assert!(text.is_char_boundary(error.at.end));
        }
    }

    #[test]
    fn an_expression_is_the_sum_of_its_products(
        terms in proptest::collection::vec(proptest::collection::vec(1_u32..1000, 1..4), 1..4)
    ) {
        let product = |t: &Vec<u32>| t.iter().map(u32::to_string).collect::<Vec<_>>().join(" * ");
        let text = terms.iter().map(product).collect::<Vec<_>>().join("+");
        let expected: f64 =
            terms.iter().map(|t| t.iter().map(|v| f64::from(*v)).product::<f64>()).sum();
        prop_assert_eq!(evaluate(&text, |_| None), Ok(expected));
    }
}
