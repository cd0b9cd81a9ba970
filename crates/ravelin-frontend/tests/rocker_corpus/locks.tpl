// Each increment is made of two accesses, and the lock keeps them together.
// sc: count=2 l=0
// tso: count=2 l=0
max_value 4;
global l, count;
fn p { local r; lock(l); r = count.load(); count.store(r + 1); unlock(l); }
fn q { local r; lock(l); r = count.load(); count.store(r + 1); unlock(l); }
