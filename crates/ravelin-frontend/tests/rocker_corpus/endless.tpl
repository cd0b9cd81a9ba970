// Loops without an end: no final state, and nothing stuck.
global x;
fn p { local r; while (true) { oneof ({ x.store(1); } { r = x.load(); }); } }
fn q { again: goto again; }
fn e { while (true) { } }
