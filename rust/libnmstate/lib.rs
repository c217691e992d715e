//! Empty: this package only pins nmstate-clib, whose C library we build.
