//! Scenarios that cross crates
