//! Limits as users write them, and what this machine has to offer.

use std::time::Duration;

/// Three quarters of the memory that is free, where the system says how much that is.
pub fn usual_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024 / 4 * 3)
}

/// One worker per core.
pub fn usual_workers() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get())
}

/// Reads a number of bytes.
///
/// ```
/// assert_eq!(ravelin::parse_size("512M"), Ok(512 << 20));
/// assert_eq!(ravelin::parse_size("4GiB"), Ok(4 << 30));
/// assert_eq!(ravelin::parse_size("1000"), Ok(1000));
/// for wrong in ["much", "", "99999999999G"] {
///     assert!(ravelin::parse_size(wrong).is_err());
/// }
/// ```
pub fn parse_size(text: &str) -> Result<u64, String> {
    let trimmed = text.trim_end_matches(['B', 'b']).trim_end_matches('i');
    let (digits, factor) = match trimmed.char_indices().last() {
        Some((at, 'k' | 'K')) => (&trimmed[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&trimmed[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&trimmed[..at], 1 << 30),
        _ => (trimmed, 1),
    };
    let number: u64 = digits.parse().map_err(|_| format!("`{text}` is not a size; write it like 512M or 4G"))?;
    number.checked_mul(factor).ok_or_else(|| format!("`{text}` is larger than any machine"))
}

/// Reads a time.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(ravelin::parse_time("90"), Ok(Duration::from_secs(90)));
/// assert_eq!(ravelin::parse_time("1.5m"), Ok(Duration::from_secs(90)));
/// for wrong in ["-1", "soon", "1e300h"] {
///     assert!(ravelin::parse_time(wrong).is_err());
/// }
/// ```
pub fn parse_time(text: &str) -> Result<Duration, String> {
    let (digits, factor) = match text.char_indices().last() {
        Some((at, 's')) => (&text[..at], 1.0),
        Some((at, 'm')) => (&text[..at], 60.0),
        Some((at, 'h')) => (&text[..at], 3600.0),
        _ => (text, 1.0),
    };
    let problem = || format!("`{text}` is not a time; write it like 90s, 5m or 1h");
    let number: f64 = digits.parse().map_err(|_| problem())?;
    Duration::try_from_secs_f64(number * factor).map_err(|_| problem())
}
