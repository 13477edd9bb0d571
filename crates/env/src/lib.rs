//! The one door to the world: disk, clock, network, randomness and threads, real and simulated.
