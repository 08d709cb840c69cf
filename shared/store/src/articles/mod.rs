//! Articles, what hangs on them, and what is counted about them.
