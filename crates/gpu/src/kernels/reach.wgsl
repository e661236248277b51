// What counting the candidates and sweeping them share: which entries an entry has to be tested
// against. Of two entries of one run the earlier one tests the later. Of two runs in one column
// (filter groups that may pair) the entry that begins first tests the other; on a tie, the one of
// the lower group.

// The first entry of [low, high) that begins after `bound`, or at it if `at_it` is 1.
fn first_beyond(begin: u32, end: u32, bound: u32, at_it: u32) -> u32 {
    var low = begin;
    var high = end;
    while low < high {
        let middle = (low + high) >> 1u;
        let start = keys[middle].y;
        if start < bound || (start == bound && at_it == 0u) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

// The entries of another group, or of the own one, that entry `i` is tested against.
fn candidates_in(i: u32, key: vec2<u32>, end: u32, other: u32) -> vec2<u32> {
    let groups = work[GROUPS];
    let own = key.x % groups;
    let at = work[RUNS_AT] + key.x - own + other;
    let stop = work[at + 1u];
    var begin = i + 1u;
    if other != own {
        begin = first_beyond(work[at], stop, key.y, select(0u, 1u, other > own));
    }
    return vec2<u32>(begin, first_beyond(begin, stop, end, 0u));
}
