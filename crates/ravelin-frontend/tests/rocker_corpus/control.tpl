// Sums 1 to 4 in a loop, leaves another by a jump, jumps back once, and goes where a condition says.
// sc: p.i=5 p.sum=10 p.again=1 p.way=3
max_value 20;
global x;
fn p {
	local i, sum, again, way;
start:
	first: i = 0;
	while (i <= 4) {
		sum = sum + i;
		i = i + 1;
	}
	if (again == 1) goto done;
	if (sum != 10) {
		way = 9;
	} else {
		sum = 0;
		again = again + 1;
		goto start;
	}
	way = 8;
done:
	while (true) {
		if (way == 3) { goto over; }
		way = way + 1;
		if (way < 0) { skip; } else { if (way > 15) goto start; }
	}
	way = 7;
over: skip;
}
