//! (being written)
/// Blocks with a bench of their own.
pub fn blocks() -> Vec<(&'static str, String)> {
    vec![]
}
