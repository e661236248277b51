// The narrow phase, one workgroup for each pair: its threads look for the furthest vertex together,
// in workgroup memory if both hulls fit there, and the first of them does the rest.

const LANES: u32 = 64u;
const ROOM: u32 = 3600u; // words: 1200 vertices of both parts

var<workgroup> vertices: array<f32, 3600>;
var<workgroup> heights: array<vec2<f32>, 64>;
var<workgroup> found: array<vec2<u32>, 64>;
// The directions to search along, and in w whether the search goes on.
var<workgroup> wanted: array<vec4<f32>, 2>;
var<workgroup> state: u32;

struct Side { first: u32, count: u32, at: u32, fits: bool }

fn point_of(side: Side, k: u32) -> vec3<f32> {
    if side.fits {
        let at = side.at + 3u * k;
        return vec3<f32>(vertices[at], vertices[at + 1u], vertices[at + 2u]);
    }
    return vertex(side.first + 3u * k);
}

fn side_of(part: Part, at: u32) -> Side {
    let count = select(0u, part.count, part.kind == POINTS);
    return Side(part.first, count, at, at + 3u * count <= ROOM);
}

fn load(side: Side, thread: u32) {
    if side.fits {
        for (var k = thread; k < 3u * side.count; k += LANES) {
            vertices[side.at + k] = bitcast<f32>(data[side.first + k]);
        }
    }
}

fn search(side: Side, d: vec3<f32>, thread: u32) -> vec2<f32> {
    var best = vec2<f32>(-3.0e38, 0.0);
    for (var k = thread; k < side.count; k += LANES) {
        let height = dot(point_of(side, k), d);
        if height > best.x {
            best = vec2<f32>(height, bitcast<f32>(k + 1u));
        }
    }
    return best;
}

// The furthest points of both sides, by all threads; they are in place 0 after a barrier.
fn search_both(a: Side, b: Side, thread: u32) {
    let on_a = search(a, wanted[0].xyz, thread);
    let on_b = search(b, wanted[1].xyz, thread);
    heights[thread] = vec2<f32>(on_a.x, on_b.x);
    found[thread] = vec2<u32>(bitcast<u32>(on_a.y), bitcast<u32>(on_b.y));
    workgroupBarrier();
    for (var reach = LANES / 2u; reach > 0u; reach >>= 1u) {
        if thread < reach {
            let theirs = heights[thread + reach];
            let which = found[thread + reach];
            if theirs.x > heights[thread].x {
                heights[thread].x = theirs.x;
                found[thread].x = which.x;
            }
            if theirs.y > heights[thread].y {
                heights[thread].y = theirs.y;
                found[thread].y = which.y;
            }
        }
        workgroupBarrier();
    }
}

fn furthest(part: Part, side: Side, d: vec3<f32>, which: u32) -> vec4<f32> {
    if part.kind != POINTS {
        return closed_furthest(part, d);
    }
    return vec4<f32>(point_of(side, found[0][which] - 1u), heights[0][which]);
}

// Begins with the first thread's pair; sets what is searched for.
fn start(a: Part, b: Part) {
    var begun = UNDECIDED;
    if a.kind == HALF_SPACE {
        begun = begin_half_space(a, b);
        wanted[1] = vec4<f32>(-axis * b.turn, 0.0);
    } else if b.kind == HALF_SPACE {
        begun = begin_half_space(b, a);
        wanted[0] = vec4<f32>(-axis * a.turn, 0.0);
    } else {
        begun = begin(a, b);
        wanted[0] = vec4<f32>(into_a(a), 0.0);
        wanted[1] = vec4<f32>(into_b(b), 0.0);
    }
    state = begun;
}

fn advance(a: Part, b: Part, side_a: Side, side_b: Side) {
    if a.kind == HALF_SPACE {
        state = end_half_space(b, furthest(b, side_b, wanted[1].xyz, 1u));
    } else if b.kind == HALF_SPACE {
        state = end_half_space(a, furthest(a, side_a, wanted[0].xyz, 0u));
    } else {
        let on_a = furthest(a, side_a, wanted[0].xyz, 0u);
        let on_b = furthest(b, side_b, wanted[1].xyz, 1u);
        state = proceed(a, b, on_a, on_b);
        wanted[0] = vec4<f32>(into_a(a), 0.0);
        wanted[1] = vec4<f32>(into_b(b), 0.0);
    }
}

// Every thread calls it with the same parts and gets the same answer.
fn decide(a: Part, b: Part, thread: u32) -> u32 {
    let side_a = side_of(a, 0u);
    let side_b = side_of(b, select(0u, 3u * side_a.count, side_a.fits));
    load(side_a, thread);
    load(side_b, thread);
    if thread == 0u {
        start(a, b);
    }
    var now = workgroupUniformLoad(&state);
    for (var turn = 0u; turn < STEPS; turn += 1u) {
        if now != GO_ON {
            break;
        }
        search_both(side_a, side_b, thread);
        if thread == 0u {
            advance(a, b, side_a, side_b);
        }
        now = workgroupUniformLoad(&state);
    }
    return select(now, UNDECIDED, now == GO_ON);
}

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) thread: u32) {
    for (var pair = group.x; pair < params.count; pair += params.groups) {
        let one = slots[pairs[pair].x];
        let other = slots[pairs[pair].y];
        var answer = select(UNDECIDED, APART, one.y > 0u && other.y > 0u);
        for (var i = 0u; i < one.y; i += 1u) {
            let a = part_at(one.x + i);
            for (var j = 0u; j < other.y; j += 1u) {
                answer = joined(answer, decide(a, part_at(other.x + j), thread));
                workgroupBarrier();
            }
        }
        if thread == 0u {
            put_answer(pair, answer);
        }
    }
}
