// fails sc
// Lost update: one of the two stores may be overwritten by an older value.
max_value 5;
global x, done1, done2;
fn p { local r; r = x.load(); x.store(r + 1); done1.store(1); }
fn q { local r; r = x.load(); x.store(r + 1); done2.store(1); }
fn check { local r; wait(done1, 1); wait(done2, 1); r = x.load(); assert(r == 2); }
