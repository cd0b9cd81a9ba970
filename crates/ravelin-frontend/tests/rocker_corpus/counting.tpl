// No increment is lost.
// sc: p.r=0 q.r=1 x=2
// sc: p.r=1 q.r=0 x=2
max_value 2;
global x;
fn p { local r; r = FADD(x, 1, rlx, rlx); }
fn q { local r; r = FADD(x, 1, acq, rel); }
