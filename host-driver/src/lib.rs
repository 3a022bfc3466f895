//! The Ferronic host driver
