// Tests candidates and counts the hits, or writes them: one kernel for both passes, so that both
// decide alike. The candidates of all entries stand in one long row (the prefix sum of their
// numbers); every thread takes an equal stretch of it, finds by binary search the entry where its
// stretch begins, and walks on from there. So one long box does not hold up its neighbours. As an
// experiment (BY_ENTRY) every thread takes an equal number of entries instead.
//
// A pair that meets in several columns belongs to the one that holds the larger of the two lower
// corners on both axes across. Both boxes are in this column, so neither begins behind it: it is
// enough that the larger corner is not before its border.

struct Params {
    groups: u32,
    capacity: u32,  // of the entries
    write: u32,     // 0: count, 1: write
    room: u32,      // pairs that fit
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read> boxes: array<u32>;
@group(0) @binding(3) var<storage, read> filters: array<u32>;
@group(0) @binding(4) var<storage, read_write> keys: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> values: array<u32>;
@group(0) @binding(6) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(7) var<storage, read> spans: array<vec2<u32>>;
@group(0) @binding(8) var<storage, read_write> pairs: array<vec2<u32>>;

// The box being tested against its candidates.
var<private> slot: u32;
var<private> lower: vec3<u32>;
var<private> upper: vec3<u32>;
var<private> border: vec2<u32>;
var<private> giant: bool;
// Hits so far, and where the next one is written.
var<private> hits: u32;
var<private> place: u32;

fn lower_of(box: u32) -> vec3<u32> {
    let at = box * 6u;
    return vec3<u32>(ordered(boxes[at]), ordered(boxes[at + 1u]), ordered(boxes[at + 2u]));
}

fn upper_of(box: u32) -> vec3<u32> {
    let at = box * 6u + 3u;
    return vec3<u32>(ordered(boxes[at]), ordered(boxes[at + 1u]), ordered(boxes[at + 2u]));
}

// Membership, mask, owner, stillness; the rule of the library's `Filter::allows`.
fn may_pair(one: u32, other: u32) -> bool {
    if work[FILTERED] == 0u {
        return true;
    }
    let a = one * 4u;
    let b = other * 4u;
    let meet = (filters[a] & filters[b + 1u]) != 0u && (filters[b] & filters[a + 1u]) != 0u;
    let one_body = filters[a + 2u] == filters[b + 2u] && filters[a + 2u] != 0u;
    let both_still = (filters[a + 3u] & filters[b + 3u] & 1u) != 0u;
    return meet && !one_body && !both_still;
}

fn is_giant(box: u32) -> bool {
    return size_of(columns_of(spans[box], work[LEVEL])) > GIANT;
}

fn test(other: u32) {
    if giant {
        if other == slot || spans[other].x == DEAD || (is_giant(other) && other < slot) {
            return;
        }
    }
    let begins = lower_of(other);
    if !all(begins <= upper) || !all(lower <= upper_of(other)) {
        return;
    }
    if !giant {
        let axis = work[AXIS];
        let corner = max(lower, begins);
        if corner[(axis + 1u) % 3u] < border.x || corner[(axis + 2u) % 3u] < border.y {
            return;
        }
    }
    if !may_pair(slot, other) {
        return;
    }
    if params.write == 1u {
        pairs[place] = vec2<u32>(min(slot, other), max(slot, other));
        place += 1u;
    }
    hits += 1u;
}

// Tests candidates `from` to `to` of entry `i`, counted over the groups it may pair with.
fn test_some(i: u32, start_at: u32, to: u32) {
    let key = keys[i];
    slot = values[i];
    lower = lower_of(slot);
    upper = upper_of(slot);
    giant = key.x == GIANT_RUN;
    if giant {
        for (var other = start_at; other < to; other += 1u) {
            test(other);
        }
        return;
    }
    let groups = work[GROUPS];
    let level = work[LEVEL];
    let column = key.x / groups;
    let in_row = work[COLUMNS_IN_ROW];
    border.x = work[BORDERS + ((column % in_row) << level)];
    border.y = work[BORDERS + 1024u + ((column / in_row) << level)];
    if groups == 1u {
        for (var j = i + 1u + start_at; j < i + 1u + to; j += 1u) {
            test(values[j]);
        }
        return;
    }
    let end = upper[work[AXIS]];
    let may = work[MAY_PAIR + key.x % groups];
    var passed = 0u;
    for (var other = 0u; other < groups && passed < to; other += 1u) {
        if ((may >> other) & 1u) == 0u {
            continue;
        }
        let among = candidates_in(i, key, end, other);
        let length = among.y - among.x;
        let begin = min(max(start_at, passed) - passed, length);
        let stop = min(to - passed, length);
        for (var j = among.x + begin; j < among.x + stop; j += 1u) {
            test(values[j]);
        }
        passed += length;
    }
}

// Where the candidates of an entry begin; behind the last one, how many there are.
fn first_of(i: u32, entries: u32, all: u32) -> u32 {
    if i < entries {
        return firsts[i];
    }
    return all;
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let entries = work[ENTRIES];
    let all = work[CANDIDATES];
    let hits_at = work[HITS_AT] + id.x;
    // Of more candidates than this the host asks for a part at a time.
    if entries > params.capacity || all > MOST_CANDIDATES
        || (params.write == 1u && work[PAIRS] > params.room) {
        if params.write == 0u {
            work[hits_at] = 0u;
        }
        return;
    }
    let first = min(work[CANDIDATE_FIRST], all);
    let end = min(work[CANDIDATE_END], all);
    let threads = params.groups * 256u;
    let each = (end - first + threads - 1u) / threads;
    var at = min(first + id.x * each, end);
    var stop = min(at + each, end);
    if work[BY_ENTRY] == 1u {
        let mine = (entries + threads - 1u) / threads;
        at = clamp(first_of(id.x * mine, entries, all), first, end);
        stop = clamp(first_of(id.x * mine + mine, entries, all), first, end);
    }
    place = work[hits_at];
    if at < stop {
        // The last entry whose candidates begin at or before `at`.
        var low = 0u;
        var high = entries;
        while high - low > 1u {
            let middle = (low + high) >> 1u;
            if firsts[middle] <= at {
                low = middle;
            } else {
                high = middle;
            }
        }
        var i = low;
        while at < stop {
            let begin = firsts[i];
            var next = all;
            if i + 1u < entries {
                next = firsts[i + 1u];
            }
            let to = min(next, stop);
            if to > at {
                test_some(i, at - begin, to - begin);
                at = to;
            }
            i += 1u;
        }
    }
    if params.write == 0u {
        work[hits_at] = hits;
    }
}
