use std::collections::{BTreeMap, HashSet};
use std::fmt;

pub fn crates(n: usize) -> BTreeMap<usize, HashSet<u8>> {
    let _ = fmt::Error;
    (0..n).map(|at| (at, HashSet::new())).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn empty() {
        assert!(super::crates(0).is_empty());
    }
}
