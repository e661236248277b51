// Compares two sorted pair lists and counts, or writes, what began and what ended. Every thread
// takes an equal stretch of each list, finds its place in the other by binary search, and merges.

struct Params {
    groups: u32,
    room: u32,        // pairs that fit the new list
    write: u32,       // 0: count, 1: write
    event_room: u32,  // events that fit
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read_write> work: array<u32>;
@group(0) @binding(2) var<storage, read_write> now: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> before: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> events: array<vec2<u32>>;

fn less(one: vec2<u32>, other: vec2<u32>) -> bool {
    return one.x < other.x || (one.x == other.x && one.y < other.y);
}

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let threads = params.groups * 256u;
    let hits_at = HITS + id.x;
    let new_count = work[PAIRS];
    let old_count = work[OLD_PAIRS];
    if new_count > params.room || (params.write == 1u && work[EVENTS] > params.event_room) {
        if params.write == 0u {
            work[hits_at] = 0u;
            work[hits_at + threads] = 0u;
        }
        return;
    }
    let began = missing(true, id.x, threads, new_count, old_count, work[hits_at]);
    let ended = missing(false, id.x, threads, old_count, new_count, work[hits_at + threads]);
    if params.write == 0u {
        work[hits_at] = began;
        work[hits_at + threads] = ended;
    }
}

// A pair of the new list, or of the one before it.
fn pair_of(new_list: bool, at: u32) -> vec2<u32> {
    if new_list {
        return now[at];
    }
    return before[at];
}

// The thread's pairs of one list that the other lacks: their number, after writing them from
// `place` on if events are written now.
fn missing(new_list: bool, thread: u32, threads: u32, count: u32, others: u32, place: u32) -> u32 {
    let each = (count + threads - 1u) / threads;
    let begin = min(thread * each, count);
    let end = min(begin + each, count);
    if begin >= end {
        return 0u;
    }
    var low = 0u;
    var high = others;
    let first = pair_of(new_list, begin);
    while low < high {
        let middle = (low + high) >> 1u;
        if less(pair_of(!new_list, middle), first) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    var found = 0u;
    for (var i = begin; i < end; i += 1u) {
        let pair = pair_of(new_list, i);
        while low < others && less(pair_of(!new_list, low), pair) {
            low += 1u;
        }
        if low >= others || any(pair_of(!new_list, low) != pair) {
            if params.write == 1u {
                events[place + found] = pair;
            }
            found += 1u;
        }
    }
    return found;
}
