// ROBUSTNESS egr: not: ra.
// spin_depth 6
//
// Store buffering: each thread may miss the other's store, but under SC not both.
// sc: p.r=0 q.r=1
// sc: p.r=1 q.r=0
// sc: p.r=1 q.r=1
// tso: p.r=0 q.r=0
// tso: p.r=0 q.r=1
// tso: p.r=1 q.r=0
// tso: p.r=1 q.r=1

max_value 2;
global x, y;

fn p {
	local r;
	x.store(1);
	r = y.load();
}

fn q {
	local r;
	y.store(1, rlx);
	r = x.load(rlx);
}
