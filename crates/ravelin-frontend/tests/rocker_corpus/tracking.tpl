// ROBUSTNESS wegr: robust: ra. not: rlx.
// Hints for other analyses: they change nothing.
// sc: p.r=1 x=1
max_value 3;
global x, y;
track x: all;
track y: 0, 1, 3;
fn p { local r; x.store(1); r = x.load(); verify(r); }
