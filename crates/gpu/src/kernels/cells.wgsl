// From bounds to cells. The map is a table of borders that never descends (`plan.wgsl`), so it
// never descends either; arithmetic only guesses where to look first.

// The last border that is not above the bound; the first one is above nothing. Sides 0 and 1 are
// the axes across, side 2 is the sweep axis.
fn cell_of(side: u32, cells: u32, bits: u32) -> u32 {
    let bound = ordered(bits);
    let table = BORDERS + side * 1024u;
    let from_low = bitcast<f32>(bits) - bitcast<f32>(word(GUESS + 2u * side));
    let cell = from_low * bitcast<f32>(word(GUESS + 2u * side + 1u));
    let guess = min(u32(clamp(cell, 0.0, 1023.0)), cells - 1u);
    // Behind the last cell of a table of 1024 the next one begins; it is not looked at.
    let beyond = guess + 1u == cells || word(table + min(guess + 1u, 1023u)) > bound;
    if word(table + guess) <= bound && beyond {
        return guess;
    }
    var low = 0u;
    var high = cells;
    while high - low > 1u {
        let middle = (low + high) >> 1u;
        if word(table + middle) <= bound {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}
