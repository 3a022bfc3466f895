//! The top of the core.
