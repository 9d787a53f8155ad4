// SPDX-License-Identifier: Apache-2.0
//! The three blocks that FutureSDR does not have, written over whole slices so that the compiler
//! vectorises them: with `Apply`, FutureSDR's per-sample block, the receiver runs slower.

use std::f32::consts::{FRAC_PI_2, PI};
use std::sync::Arc;

use futuresdr::prelude::*;
use futuresdr::runtime::dev::prelude::*;

/// Repeats a cu8 recording as complex samples, and finishes after a given number of them.
#[derive(Block)]
pub struct Cu8Source {
    recording: Arc<[[u8; 2]]>,
    position: usize,
    samples_left: usize,
    #[output]
    output: DefaultCpuWriter<Complex32>,
}

impl Cu8Source {
    /// Starts at `position` of the recording, which must not be empty.
    pub fn new(recording: Arc<[[u8; 2]]>, position: usize, samples: usize) -> Self {
        assert!(position < recording.len(), "position outside of the recording");
        Self { recording, position, samples_left: samples, output: Default::default() }
    }
}

impl Kernel for Cu8Source {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _outputs: &mut MessageOutputs,
        _meta: &BlockMeta,
    ) -> Result<()> {
        let rest = &self.recording[self.position..];
        let output = self.output.slice();
        let n = output.len().min(rest.len()).min(self.samples_left);
        for (sample, &[re, im]) in output.iter_mut().zip(&rest[..n]) {
            let level = |byte| (f32::from(byte) - 127.5) * (1.0 / 127.5);
            *sample = Complex32::new(level(re), level(im));
        }
        self.output.produce(n);
        self.position = (self.position + n) % self.recording.len();
        self.samples_left -= n;
        io.finished = self.samples_left == 0;
        // The rest of the output may be free still: the recording ended before it did.
        io.call_again = n > 0 && !io.finished;
        Ok(())
    }
}

/// Quadrature discriminator: the phase step from sample to sample, times a gain.
#[derive(Block)]
pub struct Discriminator {
    gain: f32,
    last: Complex32,
    #[input]
    input: DefaultCpuReader<Complex32>,
    #[output]
    output: DefaultCpuWriter<f32>,
}

impl Discriminator {
    /// `gain` turns radians per sample into the modulating signal.
    pub fn new(gain: f32) -> Self {
        let last = Complex32::default();
        Self { gain, last, input: Default::default(), output: Default::default() }
    }
}

impl Kernel for Discriminator {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _outputs: &mut MessageOutputs,
        _meta: &BlockMeta,
    ) -> Result<()> {
        let input = self.input.slice();
        let output = self.output.slice();
        let available = input.len();
        let n = available.min(output.len());
        if n > 0 {
            output[0] = self.gain * phase_step(self.last, input[0]);
            for (message, pair) in output[1..n].iter_mut().zip(input[..n].windows(2)) {
                *message = self.gain * phase_step(pair[0], pair[1]);
            }
            self.last = input[n - 1];
            self.input.consume(n);
            self.output.produce(n);
        }
        io.finished = self.input.finished() && n == available;
        Ok(())
    }
}

/// Radians from `a` to `b`, within 0.1 mrad; 0 if either is 0.
#[inline(always)]
fn phase_step(a: Complex32, b: Complex32) -> f32 {
    arctangent(b.im * a.re - b.re * a.im, b.re * a.re + b.im * a.im)
}

/// `y.atan2(x)` as an odd minimax polynomial on [0, 1], without a branch or a call to libm.
#[inline(always)]
fn arctangent(y: f32, x: f32) -> f32 {
    let (width, height) = (x.abs(), y.abs());
    let t = width.min(height) / width.max(height).max(f32::MIN_POSITIVE);
    let s = t * t;
    let tail = 0.193_543_46 + s * (-0.116_432_87 + s * (0.052_653_32 - s * 0.011_721_2));
    let octant = t * (0.999_977_26 + s * (-0.332_623_47 + s * tail));
    let quadrant = if height > width { FRAC_PI_2 - octant } else { octant };
    let half = if x < 0.0 { PI - quadrant } else { quadrant };
    half.copysign(y)
}

/// Weighted sum of three streams.
#[derive(Block)]
pub struct WeightedSum {
    weights: [f32; 3],
    #[input]
    inputs: [DefaultCpuReader<f32>; 3],
    #[output]
    output: DefaultCpuWriter<f32>,
}

impl WeightedSum {
    /// One weight for each input, in the inputs' order.
    pub fn new(weights: [f32; 3]) -> Self {
        Self { weights, inputs: Default::default(), output: Default::default() }
    }
}

impl Kernel for WeightedSum {
    async fn work(
        &mut self,
        io: &mut WorkIo,
        _outputs: &mut MessageOutputs,
        _meta: &BlockMeta,
    ) -> Result<()> {
        let finished = self.inputs.iter_mut().any(|input| input.finished());
        let [w0, w1, w2] = self.weights;
        let [in0, in1, in2] = self.inputs.each_mut().map(|input| input.slice());
        let output = self.output.slice();
        let available = in0.len().min(in1.len()).min(in2.len());
        let n = available.min(output.len());
        for (((sum, a), b), c) in output[..n].iter_mut().zip(in0).zip(in1).zip(in2) {
            *sum = w0 * a + w1 * b + w2 * c;
        }
        if n > 0 {
            self.inputs.iter_mut().for_each(|input| input.consume(n));
            self.output.produce(n);
        }
        io.finished = finished && n == available;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arctangent_is_within_a_tenth_of_a_milliradian_all_around() {
        for step in 0..100_000 {
            let angle = f64::from(step) / 100_000.0 * std::f64::consts::TAU;
            let (y, x) = (angle.sin() as f32 * 0.3, angle.cos() as f32 * 0.3);
            let error = (arctangent(y, x) - y.atan2(x)).abs();
            assert!(error < 1e-4, "{error} rad at {angle} rad");
        }
        assert_eq!(arctangent(0.0, 0.0), 0.0);
    }
}
