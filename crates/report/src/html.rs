// SPDX-License-Identifier: Apache-2.0
//! The page: its parts in `assets/`, and the data as one island of JSON.
//!
//! Names in recorded runs are text of users. They reach the page in two places: the island, where
//! no `<` is left that could end it, and the title. The scripts make text of them, never markup.

use serde::Serialize;

use crate::explored::Exploration;
use crate::run::Run;

const PAGE: &str = include_str!("../assets/page.html");
const STYLES: [&str; 2] =
    [include_str!("../assets/uplot.min.css"), include_str!("../assets/style.css")];
const UPLOT: &str = include_str!("../assets/uplot.min.js");
const UPLOT_LICENSE: &str = include_str!("../assets/uplot.LICENSE");
/// Elements from templates.
const HTM: &str = include_str!("../assets/htm.min.js");
const SCRIPTS: [&str; 12] = [
    include_str!("../assets/base.js"),
    include_str!("../assets/model.js"),
    include_str!("../assets/curves.js"),
    include_str!("../assets/events.js"),
    include_str!("../assets/lanes.js"),
    include_str!("../assets/timeline.js"),
    include_str!("../assets/heat.js"),
    include_str!("../assets/tables.js"),
    include_str!("../assets/responses.js"),
    include_str!("../assets/cards.js"),
    include_str!("../assets/front.js"),
    include_str!("../assets/main.js"),
];

/// What other pages are made with as well: the style, and as a script templates for elements,
/// numbers with units, and colours.
pub const BASIS: [&str; 2] = [
    STYLES[1],
    concat!(include_str!("../assets/htm.min.js"), "\n", include_str!("../assets/base.js")),
];

/// The island.
#[derive(Serialize)]
struct Data<'a> {
    runs: &'a [Run],
    explorations: &'a [Exploration],
}

/// Puts the page together.
pub fn page(runs: &[Run], explorations: &[Exploration]) -> String {
    let names = runs.iter().map(Run::name).chain(explorations.iter().map(Exploration::name));
    let title = names.collect::<Vec<_>>().join(", ");
    let script = format!(
        "/*\n{UPLOT_LICENSE}*/\n{UPLOT}\n{HTM}\n(() => {{\n\"use strict\";\n{}}})();\n",
        SCRIPTS.concat()
    );
    let parts = [
        ("{{title}}", escape(&title)),
        ("{{style}}", STYLES.concat()),
        ("{{data}}", island(&Data { runs, explorations })),
        ("{{script}}", script),
        (
            "{{exact}}",
            runs.iter().flat_map(Run::chunks).map(|chunk| format!("{chunk}\n")).collect(),
        ),
    ];
    fill(PAGE, &parts)
}

/// Replaces each mark, in their order, once; what was put in is not looked at again.
fn fill(page: &str, parts: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = page;
    for (mark, part) in parts {
        if let Some((before, after)) = rest.split_once(mark) {
            filled.push_str(before);
            filled.push_str(part);
            rest = after;
        }
    }
    filled + rest
}

/// JSON that cannot end the element it is in, nor begin a comment there.
fn island(data: &impl Serialize) -> String {
    // Everything in it is numbers, text, and lists of them: there is nothing that could fail.
    let json = serde_json::to_string(data).expect("plain data");
    json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
}

fn escape(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;").replace('\'', "&#39;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_not_looked_at_again() {
        let parts = [("{{a}}", "{{b}}".to_owned()), ("{{b}}", "x".to_owned())];
        assert_eq!(fill("<{{a}}|{{b}}>", &parts), "<{{b}}|x>");
    }

    #[test]
    fn an_island_has_no_markup_and_says_the_same() {
        let text = "</script><img onerror>&amp;<!--";
        let json = island(&text);
        assert!(!json.contains(['<', '>', '&']));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert!(!escape(text).contains(['<', '>']));
    }
}
