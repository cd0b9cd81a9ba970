// Where an assumption fails the thread is over, which is not the same as being stuck.
// sc: p.r=0 p.s=0
// sc: p.r=1 p.s=1
global x;
fn p {
	local r, s;
	r = x.load();
	assume(r == 1);
	s = 1;
	assume(true);
	while (s == 1) { assume(false); s = 2; }
}
fn q { x.store(1); }
