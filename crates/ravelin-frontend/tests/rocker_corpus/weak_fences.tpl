// tso: p.r=0 q.r=0
// tso: p.r=0 q.r=1
// tso: p.r=1 q.r=0
// tso: p.r=1 q.r=1
global x, y;
fn p { local r; x.store(1); fence(acq_rel); r = y.load(); }
fn q { local r; y.store(1); fence(rel); fence(acq); r = x.load(); }
