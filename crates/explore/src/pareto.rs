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

    /// How many there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether nothing was offered.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
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

    #[test]
    fn a_better_point_drives_out_what_it_dominates_only() {
        let mut front = Front::default();
        assert!(front.offer(vec![2.0, 2.0], 'a') && front.offer(vec![1.0, 3.0], 'b'));
        assert!(front.offer(vec![2.0, 1.0], 'c') && !front.offer(vec![2.0, 1.0], 'd'));
        assert_eq!(front.members().collect::<String>(), "bc");
    }
}
