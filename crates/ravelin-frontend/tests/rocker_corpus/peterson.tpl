// Mutual exclusion for two threads. The assertion holds under SC and fails under TSO.
// fails tso
max_value 2;
global flag1, flag2, turn, owner;

fn one {
	local other, whose, mine;
	flag1.store(1, rel);
	turn.store(2, rel);
	try: other = flag2.load(acq);
	whose = turn.load(acq);
	if (other == 1 && whose == 2) goto try;
	owner.store(1);
	mine = owner.load();
	assert(mine == 1);
	flag1.store(0, rel);
}

fn two {
	local other, whose, mine;
	flag2.store(1, rel);
	turn.store(1, rel);
	try: other = flag1.load(acq);
	whose = turn.load(acq);
	if (other == 1 && whose == 1) goto try;
	owner.store(2);
	mine = owner.load();
	assert(mine == 2);
	flag2.store(0, rel);
}
