// SPDX-License-Identifier: Apache-2.0
//! Heat on a floorplan: a network of thermal resistances and capacities.
//!
//! One node for each block and one for what carries the heat off, as the block model of HotSpot in
//! its simplest form (K. Skadron, M. Stan, K. Sankaranarayanan, W. Huang, S. Velusamy, D. Tarjan:
//! "Temperature-aware microarchitecture: modeling and implementation", ACM TACO 1(1), 2004):
//!
//! - two blocks that share an edge: `R = distance of their centres / (k * thickness * edge)`
//! - a block and the sink: `R = thickness / (k * area)`
//! - the sink and the surroundings: a given resistance
//! - capacity of a block: `c * area * thickness`; of the sink: given
//!
//! With temperatures `x` above the surroundings, `C dx/dt + G x = P`. A step of implicit Euler,
//! `(C / h + G) x' = C x / h + P`, is stable for any step and has the right steady state. Its
//! matrix is symmetric and positive definite, and is factored once (Cholesky, by nalgebra: scalar
//! loops in a fixed order without fused multiplications, so every machine computes the same bits).

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};
use serde::{Deserialize, Serialize};

use crate::description::{Block, Thermal};
use crate::time::SECOND_PS;

/// Edges that are further apart than this do not touch.
const TOUCH_MM: f64 = 1e-6;

/// A floorplan and its temperatures.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved", into = "Saved")]
pub struct Network {
    description: Thermal,
    conductance: DMatrix<f64>,
    /// Capacity of each node over the step, W/K.
    inertia: DVector<f64>,
    factor: Cholesky<f64, Dyn>,
    /// Temperature of each node above the surroundings, in kelvin; the sink is the last.
    above: DVector<f64>,
}

/// What is kept of a network: the rest follows from it.
#[derive(Serialize, Deserialize)]
struct Saved {
    description: Thermal,
    above: Vec<f64>,
}

impl From<Network> for Saved {
    fn from(network: Network) -> Self {
        Self { description: network.description, above: network.above.as_slice().to_vec() }
    }
}

impl TryFrom<Saved> for Network {
    type Error = &'static str;

    fn try_from(saved: Saved) -> Result<Self, Self::Error> {
        if saved.above.len() != saved.description.blocks.len() + 1 {
            return Err("a temperature for each block and the sink");
        }
        let network = Self::checked(&saved.description);
        let mut network = network.ok_or("thermal resistances and capacities above 0")?;
        network.above = DVector::from_vec(saved.above);
        Ok(network)
    }
}

impl Network {
    /// A floorplan at the temperature of its surroundings.
    ///
    /// # Panics
    /// When a thickness, conductivity, area, capacity or resistance is not positive.
    pub fn new(description: &Thermal) -> Self {
        Self::checked(description).expect("thermal resistances and capacities above 0")
    }

    fn checked(description: &Thermal) -> Option<Self> {
        let conductance = conductances(description);
        let mut inertia = capacities(description);
        #[expect(clippy::cast_precision_loss, reason = "a step is far below 2^53 ps")]
        let step_s = description.step_ps as f64 / SECOND_PS as f64;
        inertia /= step_s;
        let matrix = &conductance + DMatrix::from_diagonal(&inertia);
        let factor = Cholesky::new(matrix)?;
        let above = DVector::zeros(inertia.len());
        Some(Self { description: description.clone(), conductance, inertia, factor, above })
    }

    /// See [`crate::Hardware::is_state_of`].
    pub(crate) fn is_state_of(&self, like: &Self) -> bool {
        self.description == like.description
    }

    /// Passes one step, in which block `i` took the mean power `power_w(i)` in watts. Allocates
    /// nothing; its cost goes with the square of the number of blocks.
    pub fn step(&mut self, mut power_w: impl FnMut(usize) -> f64) {
        self.above.component_mul_assign(&self.inertia);
        for block in 0..self.description.blocks.len() {
            self.above[block] += power_w(block);
        }
        self.factor.solve_mut(&mut self.above);
    }

    /// How long a step is, in picoseconds.
    pub fn step_ps(&self) -> u64 {
        self.description.step_ps
    }

    /// The floorplan.
    pub fn blocks(&self) -> &[Block] {
        &self.description.blocks
    }

    /// The temperature of a block, in thousandths of a degree Celsius.
    pub fn block_mc(&self, block: usize) -> i32 {
        self.millidegrees(self.above[block])
    }

    /// The temperature of the sink, in thousandths of a degree Celsius.
    pub fn sink_mc(&self) -> i32 {
        self.millidegrees(self.above[self.description.blocks.len()])
    }

    /// Where constant power would lead, without passing time: degrees above the surroundings, of
    /// each block and last of the sink.
    ///
    /// # Panics
    /// When there is not one power for each block.
    pub fn steady(&self, power_w: &[f64]) -> Vec<f64> {
        assert_eq!(power_w.len(), self.description.blocks.len());
        let mut above = DVector::zeros(power_w.len() + 1);
        above.rows_mut(0, power_w.len()).copy_from_slice(power_w);
        let factor = Cholesky::new(self.conductance.clone()).expect("every block reaches the sink");
        factor.solve_mut(&mut above);
        above.as_slice().to_vec()
    }

    #[expect(clippy::cast_possible_truncation, reason = "it saturates")]
    fn millidegrees(&self, above_k: f64) -> i32 {
        self.description.ambient_mc.saturating_add((above_k * 1e3).round() as i32)
    }
}

/// Capacities of all nodes, J/K.
fn capacities(description: &Thermal) -> DVector<f64> {
    let per_mm3 = description.capacity * 1e-9;
    let volumes = description.blocks.iter().map(|b| area_mm2(b) * description.thickness_mm);
    let all = volumes.map(|mm3| per_mm3 * mm3).chain([description.sink_j_per_k]);
    DVector::from_iterator(description.blocks.len() + 1, all)
}

/// The matrix of conductances between all nodes, W/K.
fn conductances(description: &Thermal) -> DMatrix<f64> {
    let blocks = &description.blocks;
    let sink = blocks.len();
    let mut matrix = DMatrix::zeros(sink + 1, sink + 1);
    let mut join = |a: usize, b: usize, conductance: f64| {
        matrix[(a, a)] += conductance;
        matrix[(b, b)] += conductance;
        matrix[(a, b)] -= conductance;
        matrix[(b, a)] -= conductance;
    };
    // W/(m K) over lengths in millimetres.
    let conductivity = description.conductivity * 1e-3;
    for (i, block) in blocks.iter().enumerate() {
        join(i, sink, conductivity * area_mm2(block) / description.thickness_mm);
        for (j, other) in blocks.iter().enumerate().skip(i + 1) {
            if let Some(ratio) = edge_over_distance(block, other) {
                join(i, j, conductivity * description.thickness_mm * ratio);
            }
        }
    }
    matrix[(sink, sink)] += 1.0 / description.sink_k_per_w;
    matrix
}

fn area_mm2(block: &Block) -> f64 {
    block.width_mm * block.height_mm
}

/// The length of the edge that two blocks share over the distance of their centres across it.
fn edge_over_distance(a: &Block, b: &Block) -> Option<f64> {
    let along_x = overlap(a.x_mm, a.width_mm, b.x_mm, b.width_mm);
    let along_y = overlap(a.y_mm, a.height_mm, b.y_mm, b.height_mm);
    if along_x.abs() <= TOUCH_MM && along_y > TOUCH_MM {
        Some(along_y / f64::midpoint(a.width_mm, b.width_mm))
    } else if along_y.abs() <= TOUCH_MM && along_x > TOUCH_MM {
        Some(along_x / f64::midpoint(a.height_mm, b.height_mm))
    } else {
        None
    }
}

/// How far two stretches overlap; 0 when they touch, negative when they do not.
fn overlap(a: f64, a_length: f64, b: f64, b_length: f64) -> f64 {
    (a + a_length).min(b + b_length) - a.max(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Squares of 2 mm in a row, 0.5 mm thick: 100 W/(m K), sink 2 K/W and 1 J/K.
    fn row(count: usize) -> Thermal {
        let block = |i: usize| Block {
            name: format!("b{i}"),
            core: None,
            x_mm: 2.0 * i as f64,
            y_mm: 0.0,
            width_mm: 2.0,
            height_mm: 2.0,
        };
        Thermal {
            ambient_mc: 25_000,
            blocks: (0..count).map(block).collect(),
            thickness_mm: 0.5,
            conductivity: 100.0,
            capacity: 1.75e6,
            sink_k_per_w: 2.0,
            sink_j_per_k: 1.0,
            step_ps: SECOND_PS / 100,
        }
    }

    /// 0.5 mm / (100 W/(m K) * 4 mm²).
    const DOWN: f64 = 1.25;
    /// 2 mm / (100 W/(m K) * 0.5 mm * 2 mm).
    const ACROSS: f64 = 20.0;

    fn near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} is not {b}");
    }

    #[test]
    fn one_block_settles_at_its_power_times_both_resistances() {
        let steady = Network::new(&row(1)).steady(&[3.0]);
        near(steady[0], 3.0 * (DOWN + 2.0));
        near(steady[1], 3.0 * 2.0);
    }

    #[test]
    fn two_blocks_settle_where_the_closed_form_says() {
        // The sink takes all of it; the difference of the blocks sees 2 * across || down twice.
        let (p, q) = (3.0, 1.0);
        let steady = Network::new(&row(2)).steady(&[p, q]);
        let mean = (p + q) * 2.0 + f64::midpoint(p, q) * DOWN;
        let difference = (p - q) / (1.0 / DOWN + 2.0 / ACROSS);
        near(steady[0], mean + difference / 2.0);
        near(steady[1], mean - difference / 2.0);
        near(steady[2], (p + q) * 2.0);
    }

    #[test]
    fn a_symmetric_floorplan_has_symmetric_temperatures() {
        let mut network = Network::new(&row(5));
        for _ in 0..200 {
            network.step(|block| [1.0, 0.0, 2.0, 0.0, 1.0][block]);
        }
        near(network.above[0], network.above[4]);
        near(network.above[1], network.above[3]);
        assert!(network.above[2] > network.above[1]);
    }

    #[test]
    fn time_leads_to_the_steady_state() {
        let mut network = Network::new(&row(3));
        let power = [2.0, 0.0, 1.0];
        for _ in 0..10_000 {
            network.step(|block| power[block]);
        }
        for (now, then) in network.above.iter().zip(network.steady(&power)) {
            near(*now, then);
        }
        assert_eq!(network.sink_mc(), 25_000 + 6_000);
    }

    #[test]
    fn one_block_warms_up_as_the_recurrence_of_its_step_says() {
        // Without a lag of the sink: a capacity of 1e-12 J/K.
        let mut description = row(1);
        description.sink_j_per_k = 1e-12;
        let mut network = Network::new(&description);
        let (resistance, capacity) = (DOWN + 2.0, 1.75e6 * 4.0 * 0.5 * 1e-9);
        let mut expected = 0.0;
        for _ in 0..50 {
            network.step(|_| 3.0);
            let gain = 0.01 / (resistance * capacity);
            expected = (expected + gain * 3.0 * resistance) / (1.0 + gain);
            assert!((network.above[0] - expected).abs() < 1e-6);
        }
    }

    #[test]
    fn only_blocks_that_share_an_edge_are_joined() {
        let mut description = row(3);
        description.blocks[1].y_mm = 2.0; // touches the others in corners
        let network = Network::new(&description);
        for (i, j) in [(0, 1), (0, 2), (1, 2)] {
            assert_eq!(network.conductance[(i, j)], 0.0);
        }
        description.blocks[1] = Block { x_mm: 1.0, y_mm: 2.0, ..description.blocks[1].clone() };
        let network = Network::new(&description);
        // 1 mm of edge, 2 mm apart.
        near(network.conductance[(0, 1)], -100.0 * 1e-3 * 0.5 * 1.0 / 2.0);
    }

    #[test]
    fn a_network_that_is_restored_goes_on_bit_for_bit() {
        let mut network = Network::new(&row(4));
        let power = |block: usize| 0.1 * (block as f64 + 1.0);
        for _ in 0..17 {
            network.step(power);
        }
        let text = serde_json::to_string(&network).unwrap();
        let mut restored: Network = serde_json::from_str(&text).unwrap();
        for _ in 0..17 {
            network.step(power);
            restored.step(power);
        }
        assert_eq!(network.above, restored.above);
    }

    #[test]
    fn the_bits_are_the_same_on_every_machine() {
        let mut network = Network::new(&row(8));
        for step in 0..1_000u32 {
            network.step(|block| f64::from((step * 7 + block as u32 * 13) % 11) / 10.0);
        }
        let bits = network.above.iter().fold(0u64, |all, t| all.rotate_left(7) ^ t.to_bits());
        assert_eq!(bits, 0x56d3_d8af_e42a_fa95, "{bits:#x}");
    }
}
