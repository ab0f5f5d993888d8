//! Every call of [`monoscan_runtime::DynScan`]: engine = an independent reference, and both = what was worked out by hand.

mod any_program;
mod asked;
mod by_hand;
mod check;
mod every_length;
mod hostile;
mod programs;
mod random;
mod reference;
mod runs;
mod streams;
mod together;
