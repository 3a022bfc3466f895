//! Register blocks.
