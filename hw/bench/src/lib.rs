//! The core's blocks as safe structs: one module a block and width, e.g. [`models::fifo_64`]. Their tests are
//! in `tests/`, a file a block.

/// One module for each block of `ferronic_hw::blocks()`.
pub mod models {
    include!(concat!(env!("OUT_DIR"), "/models.rs"));
}
