// SPDX-License-Identifier: Apache-2.0
//! Pareto fronts of any number of objectives, each of which is to be low.
//!
//! A point dominates another if it is nowhere higher and somewhere lower. The front of a set is
//! what nothing in it dominates; of points that are equal in every objective it keeps the first.

/// The front of the points offered so far, each with something that belongs to it.
#[derive(Debug, Clone)]
pub struct Front<T> {
    members: Vec<(Vec<f64>, T)>,
}

impl<T> Default for Front<T> {
    fn default() -> Self {
        Self { members: Vec::new() }
    }
}

impl<T> Front<T> {
    /// Takes a point in unless it is covered, and takes out what it dominates. Says whether it is
    /// in.
    pub fn offer(&mut self, point: Vec<f64>, what: T) -> bool {
        if self.covers(&point) {
            return false;
        }
        self.members.retain(|(known, _)| !covers(&point, known));
        self.members.push((point, what));
        true
    }

    /// Whether a member is nowhere higher than this point.
    pub fn covers(&self, point: &[f64]) -> bool {
        self.members.iter().any(|(known, _)| covers(known, point))
    }

    /// The members, in the order in which they were taken in.
    pub fn members(&self) -> impl Iterator<Item = &T> {
        self.members.iter().map(|(_, what)| what)
    }

    /// The same, without the front.
    pub fn into_members(self) -> impl Iterator<Item = T> {
        self.members.into_iter().map(|(_, what)| what)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether nothing was offered.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

/// The box that a value lies in: values of one box differ by less than this part of them. Boxes are
/// ordered as values are; without a tolerance each value is its own.
///
/// A front of boxes with one point in each is an ε-Pareto set: M. Laumanns, L. Thiele, K. Deb,
/// E. Zitzler: "Combining Convergence and Diversity in Evolutionary Multiobjective Optimization",
/// Evolutionary Computation 10(3), 2002.
pub fn boxed(value: f64, tolerance: f64) -> f64 {
    if tolerance == 0.0 || value.is_infinite() {
        return value;
    }
    // Nothing at all is the best of what is to be low, and the worst of what is to be high, whose
    // values are negative.
    if value == 0.0 {
        return if value.is_sign_negative() { f64::INFINITY } else { f64::NEG_INFINITY };
    }
    let number = (value.abs().ln() / tolerance.ln_1p()).floor();
    if value > 0.0 { number } else { -number }
}

/// Whether `a` is nowhere higher than `b`.
pub fn covers(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b)
}

/// Whether `a` is nowhere higher than `b` and somewhere lower.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    covers(a, b) && !covers(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The definition, word by word.
    fn by_definition(points: &[Vec<f64>]) -> Vec<usize> {
        let dominated = |p: &Vec<f64>| {
            points.iter().any(|q| {
                q.iter().zip(p).all(|(q, p)| q <= p) && q.iter().zip(p).any(|(q, p)| q < p)
            })
        };
        let first = |i: &usize| points.iter().position(|p| *p == points[*i]) == Some(*i);
        (0..points.len()).filter(first).filter(|i| !dominated(&points[*i])).collect()
    }

    fn points() -> impl Strategy<Value = Vec<Vec<f64>>> {
        // Few values, so that ties and equal points are frequent.
        (1usize..5).prop_flat_map(|objectives| {
            let value = prop_oneof![(0u8..6).prop_map(f64::from), Just(f64::INFINITY)];
            proptest::collection::vec(proptest::collection::vec(value, objectives), 0..60)
        })
    }

    proptest! {
        #[test]
        fn a_front_is_what_nothing_dominates_and_keeps_ties_once(points in points()) {
            let mut front = Front::default();
            for (i, point) in points.iter().enumerate() {
                front.offer(point.clone(), i);
            }
            let mut members: Vec<usize> = front.members().copied().collect();
            members.sort_unstable();
            prop_assert_eq!(members, by_definition(&points));
        }

        #[test]
        fn nothing_dominates_itself_and_no_two_dominate_each_other(points in points()) {
            for a in &points {
                prop_assert!(!dominates(a, a));
                for b in &points {
                    prop_assert!(!(dominates(a, b) && dominates(b, a)));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn nothing_is_better_than_a_member_of_a_thinned_front_by_more_than_the_tolerance(
            points in proptest::collection::vec(proptest::collection::vec(0.0f64..9.0, 2), 1..60),
            tolerance in 0.001f64..0.5,
        ) {
            // The second is to be high.
            let points: Vec<Vec<f64>> = points.iter().map(|p| vec![p[0], -p[1]]).collect();
            let mut front = Front::default();
            for point in &points {
                front.offer(point.iter().map(|v| boxed(*v, tolerance)).collect(), point.clone());
            }
            let near = |a: f64, b: f64| a <= b + b.abs() * tolerance + 1e-12;
            for point in &points {
                let close = |m: &&Vec<f64>| near(m[0], point[0]) && near(m[1], point[1]);
                prop_assert!(front.members().any(|member| close(&member)));
            }
        }
    }

    #[test]
    fn boxes_are_ordered_as_values_and_nothing_is_in_one_of_its_own() {
        let order = [-10.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 10.0, f64::INFINITY];
        let (negative, positive) = order.split_at(3);
        for values in [negative, positive] {
            let boxes: Vec<f64> = values.iter().map(|value| boxed(*value, 0.01)).collect();
            assert!(boxes.windows(2).all(|two| two[0] < two[1]), "{boxes:?}");
        }
        assert_eq!(boxed(-0.0, 0.01), f64::INFINITY);
        assert_eq!(boxed(99.5, 0.01), boxed(100.0, 0.01));
        assert_eq!(boxed(100.2, 0.0), 100.2);
    }

    #[test]
    fn a_better_point_drives_out_what_it_dominates_only() {
        let mut front = Front::default();
        assert!(front.offer(vec![2.0, 2.0], 'a') && front.offer(vec![1.0, 3.0], 'b'));
        assert!(front.offer(vec![2.0, 1.0], 'c') && !front.offer(vec![2.0, 1.0], 'd'));
        assert_eq!(front.members().collect::<String>(), "bc");
    }
}
