use std::collections::{BTreeMap, HashSet};
use std::fmt;
use quay::prelude::*;

pub fn crates(n: usize) -> BTreeMap<usize, HashSet<u8>> {
    let _ = fmt::Error;
    (0..n).map(|at| (at, HashSet::new())).collect()
}
