// The old value goes to the local, whether the exchange succeeds or not; one that fails writes nothing.
// sc: p.won=0 p.lost=1 p.own=1 x=3
max_value 4;
global x;
fn p {
	local won, lost, own;
	won = CAS(x, 0, 1);
	lost = CAS(x, 0, 2, acq, rel);
	own = 1;
	own = CAS(x, own, own + 2, acq, rlx);
	CAS(x, 4, 0);
}
