//! SC, TSO and PSO.
