// Store buffering in Rocker's language.
max_value 2;
global x, y;

fn left {
    local r;
    x.store(1);
    r = y.load();
}

fn right {
    local r;
    y.store(1);
    r = x.load();
}
