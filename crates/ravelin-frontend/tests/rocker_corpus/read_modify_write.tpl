// Both give the old value. Adding -1 is subtracting 1, since all is modulo. They may also stand alone.
// sc: p.a=0 p.b=2 p.c=1 p.d=4 x=2
max_value 4;
global x;
fn p {
	local a, b, c, d;
	a = FADD(x, 2);
	b = FADD(x, -1, acq, rel);
	c = exchange(x, 4, rlx, rel);
	d = exchange(x, 0);
	FADD(x, 4);
	FADD(x, 3, acq, rlx);
	exchange(x, 2);
}
