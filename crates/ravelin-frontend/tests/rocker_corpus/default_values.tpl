// Without `max_value` the values are 0 to 254.
// sc: p.top=254 p.zero=0 x=253
global x = 254;
fn p {
	local top, zero;
	top = x.load();
	zero = top + 1;
	x.store(zero - 2);
}
