// A wait goes on when the cell holds any of its values; each is a whole expression, and all count also where an order is
// given.
// sc: p.two=2 p.three=3 q.r=3 x=4
max_value 6;
global x, y;
fn p {
	local two, three, one;
	one = 1;
	x.store(2);
	two = wait(x, one + 1, 3, rlx);
	BCAS(x, one + one, 3);
	three = wait(x, 0, two + 1, acq);
	y.store(1, rel);
	wait(x, 4);
}
fn q {
	local r;
	wait(y, 1, 2, acq);
	r = x.load();
	BCAS(x, 3, 4, acq, rel);
}
