//! The `.rav` language.
