//! Every call of [`monoscan_runtime::DynScan`]: engine = an independent reference, and both = what
//! was worked out by hand.

mod any_program;
mod by_hand;
mod every_length;
mod hostile;
mod interrupted;
mod streaming;
mod streams;
mod together;
