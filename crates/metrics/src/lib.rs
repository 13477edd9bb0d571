//! Counters, gauges and histograms, and the registry of status variables. No I/O.

#![forbid(unsafe_code)]
