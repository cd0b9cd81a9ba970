// ROBUSTNESS egr: robust: rlx.
//
// Store buffering that fences repair: `fence` and `fence(upd)` are as strong as `fence(seq_cst)`. The weaker fences order
// nothing more on x86.
// sc: p.r=0 q.r=1
// sc: p.r=1 q.r=0
// sc: p.r=1 q.r=1
// tso: p.r=0 q.r=1
// tso: p.r=1 q.r=0
// tso: p.r=1 q.r=1
max_value 1;
global x, y;
fn p { local r; x.store(1, rel); fence; fence(rel); fence(acq_rel); r = y.load(acq); }
fn q { local r; y.store(1, rel); fence(upd); fence(seq_cst); fence(acq); r = x.load(acq); }
