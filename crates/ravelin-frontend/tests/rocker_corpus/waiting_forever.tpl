// stuck sc
// The value is looked for in memory; 0 is not 1, whatever the other thread does.
global x, y;
fn p { wait(x, 1); }
fn q { BCAS(y, 0, 1, rlx, rlx); BCAS(y, 0, 1, acq, rlx); }
