// Tests candidates and counts the hits, or writes them: one kernel for both passes, so that both
// decide alike. The candidates of all entries stand in one long row (the prefix sum of their
// numbers); every thread takes an equal stretch of it, finds by binary search the entry where its
// stretch begins, and walks on from there, one candidate at a time: threads side by side take as
// many turns, whatever their entries. So one long box does not hold up its neighbours. As an
// experiment (BY_ENTRY) every thread takes an equal number of entries instead.
//
// A pair that meets in several columns belongs to the one that holds the larger of the two lower
// corners on both axes across. Both boxes are in this column, so neither begins behind it: it is
// enough that not both begin before it.
//
// Candidates overlap on the sweep axis: their order says so. Most others are told apart by their
// cells (`candidates.wgsl`), 8 bytes that lie side by side; bounds are read for the rest alone.
//
// Hits are counted for the smaller slot of each pair, and written behind each other for each slot:
// the pairs of a box stand together, in whatever order the threads came.

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
@group(0) @binding(5) var<storage, read_write> items: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> firsts: array<u32>;
@group(0) @binding(7) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(8) var<storage, read_write> pairs: array<vec2<u32>>;

// The box being tested against its candidates, and its cells.
var<private> slot: u32;
var<private> look: u32;
var<private> lower: vec3<u32>;
var<private> upper: vec3<u32>;
// Where the two axes across are among the bounds of a box.
var<private> across: vec2<u32>;
// Bounds that were read.
var<private> seen: u32;

var<workgroup> seen_by_all: atomic<u32>;

fn word(at: u32) -> u32 {
    return work[at];
}

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
    let fine = work[FINE];
    var span: vec2<u32>;
    for (var side = 0u; side < 2u; side += 1u) {
        let at = box * 6u + across[side];
        let cells = work[CELLS + side] << fine;
        let last = cell_of(side, cells, boxes[at + 3u]);
        span[side] = cell_of(side, cells, boxes[at]) | (last << 10u);
    }
    return size_of(columns_of(span, work[LEVEL] + fine)) > GIANT;
}

fn hit(other: u32) {
    if !may_pair(slot, other) {
        return;
    }
    let first = min(slot, other);
    let place = atomicAdd(&counts[first], 1u);
    if params.write == 1u {
        pairs[place] = vec2<u32>(first, max(slot, other));
    }
}

// Tests a giant against any box. Of two giants the one of the lower slot tests the other.
fn test_giant(other: u32) {
    if other == slot || is_nan(boxes[other * 6u]) {
        return;
    }
    seen += 1u;
    if !all(lower_of(other) <= upper) || !all(lower <= upper_of(other)) {
        return;
    }
    if other < slot && is_giant(other) {
        return;
    }
    hit(other);
}

// Tests against an entry of the same column that begins while this one lasts.
fn test(j: u32) {
    let item = items[j];
    // Four comparisons at once: the marks stay where the last cell is not below the first.
    let behind = ((item.y >> 16u) | 0x8080u) - (look & 0x7f7fu);
    let ahead = ((look >> 16u) | 0x8080u) - (item.y & 0x7f7fu);
    if (behind & ahead & 0x8080u) != 0x8080u || (look & item.y & 0x8080u) != 0u {
        return;
    }
    seen += 1u;
    let one = slot * 6u + across;
    let other = item.x * 6u + across;
    let begins = vec4<u32>(boxes[one.x], boxes[one.y], boxes[other.x], boxes[other.y]);
    let ends = vec4<u32>(
        boxes[other.x + 3u],
        boxes[other.y + 3u],
        boxes[one.x + 3u],
        boxes[one.y + 3u],
    );
    if all(ordered4(begins) <= ordered4(ends)) {
        hit(item.x);
    }
}

fn ordered4(bits: vec4<u32>) -> vec4<u32> {
    return vec4<u32>(ordered(bits.x), ordered(bits.y), ordered(bits.z), ordered(bits.w));
}

// Tests candidates `start_at` to `to` of entry `i`, a giant or one of several groups, counted over
// the groups it may pair with.
fn test_some(i: u32, start_at: u32, to: u32) {
    lower = lower_of(slot);
    upper = upper_of(slot);
    if (look & GIANT_LOOK) != 0u {
        for (var other = start_at; other < to; other += 1u) {
            test_giant(other);
        }
        return;
    }
    let key = keys[i];
    let groups = work[GROUPS];
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
            test(j);
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

// The stretch of candidates of a thread.
fn stretch_of(thread: u32, entries: u32, all: u32) -> vec2<u32> {
    let first = min(work[CANDIDATE_FIRST], all);
    let end = min(work[CANDIDATE_END], all);
    let threads = params.groups * 256u;
    if work[BY_ENTRY] == 1u {
        let mine = (entries + threads - 1u) / threads;
        let at = first_of(thread * mine, entries, all);
        let stop = first_of(thread * mine + mine, entries, all);
        return clamp(vec2<u32>(at, stop), vec2<u32>(first), vec2<u32>(end));
    }
    let each = (end - first + threads - 1u) / threads;
    let at = min(first + thread * each, end);
    return vec2<u32>(at, min(at + each, end));
}

fn sweep(thread: u32) {
    let entries = work[ENTRIES];
    let all = work[CANDIDATES];
    // Of more candidates than this the host asks for a part at a time.
    if entries > params.capacity || all > MOST_CANDIDATES
        || (params.write == 1u && work[PAIRS] > params.room) {
        return;
    }
    let stretch = stretch_of(thread, entries, all);
    var at = stretch.x;
    if at >= stretch.y {
        return;
    }
    let axis = work[AXIS];
    across = vec2<u32>((axis + 1u) % 3u, (axis + 2u) % 3u);
    // The last entry whose candidates begin at or before `at`.
    var i = 0u;
    var high = entries;
    while high - i > 1u {
        let middle = (i + high) >> 1u;
        if firsts[middle] <= at {
            i = middle;
        } else {
            high = middle;
        }
    }
    var begin = firsts[i];
    var next = first_of(i + 1u, entries, all);
    let one_group = work[GROUPS] == 1u;
    slot = items[i].x;
    look = items[i].y;
    while at < stretch.y {
        if at >= next {
            // The next entry that has candidates.
            begin = at;
            while next <= at {
                i += 1u;
                next = first_of(i + 1u, entries, all);
            }
            slot = items[i].x;
            look = items[i].y;
        }
        if one_group && (look & GIANT_LOOK) == 0u {
            test(i + 1u + at - begin);
            at += 1u;
        } else {
            let to = min(next, stretch.y);
            test_some(i, at - begin, to - begin);
            at = to;
        }
    }
}

@compute @workgroup_size(256)
fn main(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(global_invocation_id) id: vec3<u32>,
) {
    sweep(id.x);
    atomicAdd(&seen_by_all, seen);
    workgroupBarrier();
    if local == 0u && params.write == 0u {
        work[PARTIALS + group.x] = atomicLoad(&seen_by_all);
    }
}
