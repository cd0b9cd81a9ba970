// Modulo 8, after every operator, with C's precedence.
// sc: p.a=7 p.b=1 p.c=4 p.d=1 p.e=0 p.f=3 p.g=1 p.h=4 p.i=1 p.j=0 p.k=1 x=5
max_value 7;
global x = 5;
fn p {
	local a, b, c, d, e, f, g, h, i, j, k;
	a = -1;
	b = 3 + 3 * 2;
	c = 4 | 1 ^ 3 & 2 - 1 * 1;
	d = 1 + 1 == 2 && 3 < 4;
	e = 7 + 1 > 7;
	f = (7 + 4) % 7 / 1 + +0;
	g = !0 == 1 || 1 / 0;
	h = -4;
	i = 1 < 2 == 1 != 0;
	j = !(2 > 1) || false;
	k = 1 & 2 == 2;
}
