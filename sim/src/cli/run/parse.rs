//! Values that several options take.

use ferronic::Target;
use ferronic_contract::class::Mac;

/// A MAC address.
pub fn mac(text: &str) -> Result<Mac, String> {
    let parts: Vec<u8> = text
        .split(':')
        .map(|part| (part.len() == 2).then(|| u8::from_str_radix(part, 16).ok()).flatten())
        .collect::<Option<_>>()
        .ok_or_else(|| format!("{text:?} is not six bytes in hexadecimal, such as 02:00:00:00:00:01"))?;
    parts.try_into().map_err(|parts: Vec<u8>| format!("{text:?} has {} bytes; a MAC address has 6", parts.len()))
}

/// A number of 16 bits, decimal or, behind 0x, hexadecimal.
pub fn number(text: &str) -> Option<u16> {
    match text.strip_prefix("0x") {
        Some(digits) => u16::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// What happens to a frame.
pub fn target(text: &str) -> Result<Target, String> {
    match text {
        "rss" => Ok(Target::Rss),
        "drop" => Ok(Target::Drop),
        queue => queue.parse().map(Target::Queue).map_err(|_| "legal are the number of a queue, rss and drop".into()),
    }
}
