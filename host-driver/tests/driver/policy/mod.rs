//! The policies on the data path.

mod classify;
mod copybreak;
mod knobs;
mod log;
mod prefetch;
mod replenish;
mod turn;
