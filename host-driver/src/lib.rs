//! The Ferronic host driver, in user space.
//!
//! A driver for the core that `ferronic-contract` describes, over three seams ([`device`]): registers, DMA
//! memory and interrupts. It knows no simulator and no kernel interface; a backend brings the seams.
//!
//! | module | what it does |
//! |---|---|
//! | [`device`] | the seams |
//! | [`dma`] | memory shared with the device; the only `unsafe` |
//! | [`ring`] | index arithmetic, free of hardware |

pub mod device;
pub mod dma;
pub mod ring;
