// stuck sc
// A lock is free if it is 0, and taking it writes 1.
global l;
fn p { lock(l); }
fn q { lock(l); }
