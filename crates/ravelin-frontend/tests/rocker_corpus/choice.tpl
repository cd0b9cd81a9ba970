// Any of the blocks, each time anew; an empty one and one that jumps are choices too.
// sc: p.r=0
// sc: p.r=1
// sc: p.r=5
// sc: p.r=7
global x;
fn p {
	local r;
	oneof ({ r = 1; } { r = 5; oneof ({ r = r + 1; } { skip; }); } { goto end; } { });
	oneof ({ if (r == 6) { r = 7; } });
	end: skip;
}
