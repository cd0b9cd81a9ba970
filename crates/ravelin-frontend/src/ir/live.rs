//! Values that an instruction may still use.
