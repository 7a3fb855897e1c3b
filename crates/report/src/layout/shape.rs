//! Shapes that a layout can show, recognized only by the cables between switches, not by names or generators.

use becalm_engine::order;

/// Minimum number of switches in a torus; fewer are as clear on a circle.
const LEAST_GRID: usize = 6;
/// Minimum number of switches in a dragonfly group; two would be only a cable.
const LEAST_GROUP: usize = 3;

/// The shape formed by the cables between switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// A torus or mesh of these sizes; switch numbers grow fastest along the first. The third is 1 in a plane.
    Grid([usize; 3]),
    /// Consecutive groups of this many switches, each cabled to all others in its group.
    Groups(usize),
    /// Another shape.
    Any,
}

/// The shape of switches, given the sorted numbers of each switch's neighbours.
pub(crate) fn shape(near: &[Vec<usize>]) -> Shape {
    if let Some(sizes) = grid(near) {
        return Shape::Grid(sizes);
    }
    let complete = near.iter().all(|peers| peers.len() + 1 == near.len());
    let joined = |size: usize| (0..near.len()).any(|at| near[at].iter().any(|&peer| peer / size != at / size));
    let sizes = (LEAST_GROUP..near.len()).rev().filter(|size| near.len().is_multiple_of(*size));
    match sizes.filter(|&size| !complete && joined(size)).find(|&size| are_groups(near, size)) {
        Some(size) => Shape::Groups(size),
        None => Shape::Any,
    }
}

fn are_groups(near: &[Vec<usize>], size: usize) -> bool {
    (0..near.len()).all(|at| {
        let first = at / size * size;
        (first..first + size).all(|peer| peer == at || near[at].binary_search(&peer).is_ok())
    })
}

/// Sizes of a torus or mesh, in two dimensions if possible, otherwise in three.
fn grid(near: &[Vec<usize>]) -> Option<[usize; 3]> {
    let count = near.len();
    if count < LEAST_GRID {
        return None;
    }
    let divisors = |number: usize| (1..=number).filter(move |size| number.is_multiple_of(*size));
    let mut sizes: Vec<[usize; 3]> = divisors(count)
        .flat_map(|depth| divisors(count / depth).map(move |width| [width, count / depth / width, depth]))
        .filter(|[width, height, _]| *width > 1 && *height > 1)
        .collect();
    order::sort_by_key(&mut sizes, |[width, height, depth]| (*depth, width.abs_diff(*height)));
    sizes.into_iter().find(|&sizes| [true, false].into_iter().any(|wrapped| is_grid(near, sizes, wrapped)))
}

fn is_grid(near: &[Vec<usize>], sizes: [usize; 3], wrapped: bool) -> bool {
    near.iter().enumerate().all(|(at, peers)| {
        let mut wanted = Vec::with_capacity(6);
        let mut step = 1;
        for size in sizes {
            let place = at / step % size;
            let to = |other: usize| at - place * step + other * step;
            if place + 1 < size || (wrapped && size > 1) {
                wanted.push(to((place + 1) % size));
            }
            if place > 0 || (wrapped && size > 1) {
                wanted.push(to((place + size - 1) % size));
            }
            step *= size;
        }
        order::sort_and_dedup(&mut wanted, Ord::cmp);
        wanted == *peers
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(count: usize, cable: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
        (0..count).map(|a| (0..count).filter(|&b| a != b && (cable(a, b) || cable(b, a))).collect()).collect()
    }

    fn torus(sizes: [usize; 3], wrapped: bool) -> Vec<Vec<usize>> {
        let place = |at: usize| [at % sizes[0], at / sizes[0] % sizes[1], at / sizes[0] / sizes[1]];
        with(sizes.iter().product(), |a, b| {
            let (a, b) = (place(a), place(b));
            let apart: Vec<usize> = (0..3).filter(|&i| a[i] != b[i]).collect();
            let [i] = apart[..] else { return false };
            b[i] == a[i] + 1 || (wrapped && a[i] + 1 == sizes[i] && b[i] == 0)
        })
    }

    #[test]
    fn tori_and_meshes_are_found_with_their_sizes() {
        for (sizes, wrapped) in [([4, 3, 1], true), ([5, 4, 1], false), ([3, 2, 1], true), ([4, 3, 3], true)] {
            assert_eq!(shape(&torus(sizes, wrapped)), Shape::Grid(sizes), "{sizes:?} {wrapped}");
        }
    }

    #[test]
    fn groups_of_a_dragonfly_are_found() {
        // Three groups of four; switch 0 of each group has a cable to the next group.
        let near = with(12, |a, b| a / 4 == b / 4 || (a % 4 == 0 && b == (a + 4) % 12));
        assert_eq!(shape(&near), Shape::Groups(4));
    }

    #[test]
    fn others_are_neither() {
        let ring = with(8, |a, b| b == (a + 1) % 8);
        let complete = with(6, |_, _| true);
        let star = with(7, |a, _| a == 0);
        for near in [ring, complete, star, Vec::new()] {
            assert_eq!(shape(&near), Shape::Any);
        }
    }
}
