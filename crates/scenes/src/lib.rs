//! Part of Jostle.
