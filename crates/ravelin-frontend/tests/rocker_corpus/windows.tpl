// Lines may end as they do on Windows.
// sc: p.r=2 x=2
max_value 3;
global x;
fn p {
	local r;
	x.store(2);
	r = x.load();
}
