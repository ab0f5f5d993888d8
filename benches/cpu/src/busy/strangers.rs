//! Strangers: processes that spin, and so take cores from other work.

use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Some of them. They are gone when this is dropped, and after a while by themselves, if this process is not there to do it.
pub(crate) struct Strangers(Vec<Child>);

/// Longer than a line of the table takes.
const LIFE: u64 = 300;

impl Strangers {
    /// So many, already spinning.
    pub(crate) fn new(count: usize) -> Result<Strangers, String> {
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut strangers = Strangers(Vec::new());
        for _ in 0..count {
            let child = Command::new(&program).args(["--spin", &LIFE.to_string()]).spawn();
            strangers.0.push(child.map_err(|error| error.to_string())?);
        }
        // Long enough for them to start.
        spin_for(Duration::from_millis(50 * u64::from(count > 0)));
        Ok(strangers)
    }
}

impl Drop for Strangers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            // It may have ended already.
            _ = child.kill();
            _ = child.wait();
        }
    }
}

/// Works as a stranger does.
pub(crate) fn spin(seconds: u64) {
    spin_for(Duration::from_secs(seconds));
}

fn spin_for(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}
