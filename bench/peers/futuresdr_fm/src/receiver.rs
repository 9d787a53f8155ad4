// SPDX-License-Identifier: Apache-2.0
//! The receiver as a FutureSDR flowgraph, from the folder that `fm_graph.py` has written.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use futuresdr::blocks::{FirBuilder, NullSink, VectorSink, XlatingFir};
use futuresdr::prelude::*;
use serde::Deserialize;

use crate::blocks::{Cu8Source, Discriminator, WeightedSum};

/// graph.json: what every peer's receiver is made of.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Graph {
    sample_rate_hz: f32,
    decimation: usize,
    offset_hz: f32,
    demod_gain: f32,
    channel_taps: Vec<f32>,
    band_taps: [Vec<f32>; 3],
    band_weights: [f32; 3],
    /// Outputs at the start that are not compared.
    pub settle_outputs: usize,
    /// Below this the output is another receiver's.
    pub correlation_at_least: f64,
}

/// What the receiver is and what it is fed with.
pub struct Receiver {
    /// Constants and taps.
    pub graph: Graph,
    recording: Arc<[[u8; 2]]>,
}

impl Receiver {
    /// Reads graph.json and input.cu8.
    pub fn load(folder: &Path) -> Result<Self> {
        let json = read(folder, "graph.json")?;
        let graph: Graph = serde_json::from_slice(&json).context("graph.json")?;
        let bytes = read(folder, "input.cu8")?;
        let recording: Arc<[[u8; 2]]> = bytes.as_chunks().0.into();
        ensure!(recording.len() > graph.window(), "input.cu8 is shorter than the filters");
        Ok(Self { graph, recording })
    }

    /// A flowgraph that takes `samples` and throws its output away.
    pub fn flowgraph(&self, samples: usize) -> Result<Flowgraph> {
        let mut fg = Flowgraph::new();
        let source = Cu8Source::new(self.recording.clone(), 0, samples);
        let total = self.connect(&mut fg, source)?;
        let sink = NullSink::<f32>::new();
        connect!(fg, total > sink);
        Ok(fg)
    }

    /// What one pass over the recording puts out, from the first full window of both filters.
    pub fn one_pass(&self, runtime: &Runtime) -> Result<Vec<f32>> {
        let mut fg = Flowgraph::new();
        // FutureSDR's filters put nothing out until their window is full. With the end of the
        // recording in the window, the first output is the one for sample 0, as the reference's.
        let lead = self.graph.window();
        let length = self.recording.len();
        let source = Cu8Source::new(self.recording.clone(), length - lead, length + lead);
        let total = self.connect(&mut fg, source)?;
        let sink = VectorSink::<f32>::new(length / self.graph.decimation);
        connect!(fg, total > sink);
        let fg = runtime.run(fg)?;
        Ok(fg.block(&sink)?.items().clone())
    }

    /// Outputs of the band-pass filters that the reference has before FutureSDR's first.
    pub fn outputs_missing(&self) -> usize {
        self.graph.band_taps[0].len() - 1
    }

    fn connect(&self, fg: &mut Flowgraph, source: Cu8Source) -> Result<BlockRef<WeightedSum>> {
        let g = &self.graph;
        let channel: XlatingFir = XlatingFir::with_taps(
            g.channel_taps.clone(),
            g.decimation,
            g.offset_hz,
            g.sample_rate_hz,
        );
        let demod = Discriminator::new(g.demod_gain);
        let [low, mid, high] = g.band_taps.clone().map(FirBuilder::fir::<f32, f32, Vec<f32>>);
        let total = WeightedSum::new(g.band_weights);
        connect!(fg,
            source > channel > demod;
            demod > low > inputs[0].total;
            demod > mid > inputs[1].total;
            demod > high > inputs[2].total;
        );
        Ok(total)
    }
}

impl Graph {
    /// Samples that the decimating filter takes before its first output, but for one.
    fn window(&self) -> usize {
        self.channel_taps.len() - 1 + self.decimation - 1
    }
}

/// Reads one file of the folder; the error names it.
pub fn read(folder: &Path, name: &str) -> Result<Vec<u8>> {
    let path = folder.join(name);
    std::fs::read(&path).with_context(|| path.display().to_string())
}
