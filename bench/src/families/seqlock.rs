//! A seqlock: under a lock, a thread makes the sequence number odd, stores two cells and makes it even again; then it
//! reads the two, again as long as the number was odd or has changed. The number wraps around.

pub fn text(threads: usize) -> String {
    format!(
        "static mutex: bool;
static sequence: 0..4;
static data: [bool; 2];

thread p[{threads}] {{
    let mut before;
    let mut first;
    let mut second;
    loop {{
        lock(mutex);
        before = sequence.load();
        sequence.store(before + 1);
        first = data[0].load();
        data[0].store(1 - first);
        data[1].store(1 - first);
        sequence.store((before + 2) % 4);
        unlock(mutex);
        loop {{
            before = sequence.load();
            first = data[0].load();
            second = data[1].load();
            if before % 2 == 0 && sequence.load() == before {{
                break;
            }}
        }}
    }}
}}
"
    )
}
