//! The scenarios of the storage layers alone.

use crate::tree_scenario::TreeScenario;

/// A tree workload of ordinary size.
const TREE: TreeScenario = TreeScenario {
    name: "tree",
    seed: 1,
    steps: 150,
    keys: 400,
    key_bytes: 8,
    value_bytes_max: 900,
    removes: 2,
    flush_every: 4,
    write_every: 15,
    checkpoint_every: 60,
    frames: 64,
    doublewrite: true,
};

/// All tree scenarios.
pub fn trees() -> Vec<TreeScenario> {
    vec![
        TREE,
        TreeScenario { name: "tree, long keys", key_bytes: 2500, seed: 2, ..TREE },
        TreeScenario { name: "tree, long values", value_bytes_max: 4000, steps: 80, seed: 3, ..TREE },
        TreeScenario { name: "tree, merges", removes: 6, keys: 60, value_bytes_max: 3000, seed: 4, ..TREE },
        TreeScenario {
            name: "tree, log wraps",
            value_bytes_max: 4000,
            steps: 120,
            keys: 30,
            checkpoint_every: 10,
            seed: 5,
            ..TREE
        },
    ]
}
