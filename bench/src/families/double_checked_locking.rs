//! Double-checked locking: threads look whether something is there before they take a lock to make it, and again behind
//! the lock. Each thread asks twice.

pub fn text(threads: usize) -> String {
    let ask = "    if ready.load() == 0 {
        lock(mutex);
        if ready.load() == 0 {
            data.store(1);
            ready.store(1);
        }
        unlock(mutex);
    }
    seen = data.load();
";
    format!(
        "static mutex: bool;
static ready: bool;
static data: bool;

thread p[{threads}] {{
    let mut seen;
{ask}{ask}}}
"
    )
}
