// Names may begin with a keyword, and words that only mean something in one place are names elsewhere.
// sc: fnord.waiting=2 fnord.assume=3 fnord.all=4 na=1 loads=2
global loads, na, track;
fn fnord {
	local waiting, assume, verify, all, upd;
	na.store(1);
	loads.store(2);
	waiting = loads.load();
	assume = waiting + 1;
	verify: all = assume + 1;
	if (all == upd) goto verify;
}
