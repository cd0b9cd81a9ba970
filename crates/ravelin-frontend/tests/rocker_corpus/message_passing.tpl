// ROBUSTNESS egr: robust: ra, rlx.
// ROBUSTNESS wegr: robust: ra, rlx.
//
// Data without a race: it is read only after the flag was seen.
// sc: reader.seen=0 reader.value=0 data=7
// sc: reader.seen=1 reader.value=7 data=7
max_value 10;
global flag;
na data = 3, unused;
track flag: 0, 1;

fn writer {
	data.nastore(7);
	flag.store(1, rel);
}

fn reader {
	local seen, value;
	seen = flag.load(acq);
	if (seen) {
		value = data.naload();
	}
}
