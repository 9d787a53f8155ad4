// SPDX-License-Identifier: Apache-2.0
//! The few elements of SVG that bars need.

use std::fmt::{Arguments, Write};

/// A picture, from top to bottom; places and sizes are in its own units, from its left top corner.
#[derive(Debug, Default)]
pub struct Svg(String);

/// Which part of words is at their place.
#[derive(Clone, Copy, Debug)]
pub enum Anchor {
    /// They begin there.
    Start,
    /// Their middle.
    Middle,
    /// They end there.
    End,
}

impl Svg {
    /// Words. Names of interrupts are drivers' text: what could be markup is none.
    pub fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, words: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        // These are not allowed in XML, however they are written.
        let words = words.replace(|c: char| c.is_control() || "\u{fffe}\u{ffff}".contains(c), " ");
        let words = words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        self.put(format_args!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{words}</text>\n"
        ));
    }

    /// A filled rectangle.
    pub fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &str) {
        self.put(format_args!(
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" \
             fill=\"{colour}\"/>\n"
        ));
    }

    /// A thin line from left to right.
    pub fn rule(&mut self, (from, to): (f64, f64), y: f64) {
        self.put(format_args!("<path d=\"M{from:.1} {y:.1}H{to:.1}\" stroke=\"#ddd\"/>\n"));
    }

    /// The document.
    pub fn document(self, width: f64, height: f64) -> String {
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n{}</svg>\n",
            self.0
        )
    }

    fn put(&mut self, element: Arguments<'_>) {
        self.0.write_fmt(element).expect("a string takes everything");
    }
}
