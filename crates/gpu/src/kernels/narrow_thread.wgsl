// The narrow phase, one thread for each pair. Vertices of small hulls are scanned; those of large
// ones are climbed from the vertex that a cube map has for the direction (Sathe and Lake).

// Where the last searches ended: of part a, of part b.
var<private> hints: vec2<u32>;

fn scan(part: Part, d: vec3<f32>) -> vec4<f32> {
    var best = vec4<f32>(0.0, 0.0, 0.0, -3.0e38);
    for (var k = 0u; k < part.count; k += 1u) {
        let point = vertex(part.first + 3u * k);
        let height = dot(point, d);
        if height > best.w {
            best = vec4<f32>(point, height);
        }
    }
    return best;
}

// The cell of the cube map that a direction points to.
fn cell_of(d: vec3<f32>, cells: u32) -> u32 {
    let size = abs(d);
    var side = 0u;
    var main = d.x;
    var across = vec2<f32>(d.y, d.z);
    if size.x < size.y || size.x < size.z {
        if size.y >= size.z {
            side = 2u;
            main = d.y;
            across = vec2<f32>(d.z, d.x);
        } else {
            side = 4u;
            main = d.z;
            across = vec2<f32>(d.x, d.y);
        }
    }
    side += select(0u, 1u, main < 0.0);
    let middle = 0.5 * f32(cells);
    let place = across * (middle / max(abs(main), 1e-30)) + middle;
    let at = vec2<u32>(clamp(place, vec2<f32>(0.0), vec2<f32>(f32(cells) - 0.5)));
    return (side * cells + min(at.y, cells - 1u)) * cells + min(at.x, cells - 1u);
}

// From the better of two vertices to better neighbours until there is none. On a convex hull that
// is the furthest but for rounding; what rounding may hide is in `part.climb`.
fn climb(part: Part, d: vec3<f32>, side: u32) -> vec4<f32> {
    var at = data[part.cube_map + cell_of(d, part.cells)];
    var point = vertex(part.first + 3u * at);
    var height = dot(point, d);
    let last = hints[side];
    if last < part.count {
        let other = vertex(part.first + 3u * last);
        let reach = dot(other, d);
        if reach > height {
            at = last;
            point = other;
            height = reach;
        }
    }
    for (var turn = 0u; turn <= part.count; turn += 1u) {
        let here = at;
        let begin = data[part.links + here];
        let end = data[part.links + here + 1u];
        for (var link = begin; link < end; link += 1u) {
            let neighbour = data[link];
            let other = vertex(part.first + 3u * neighbour);
            let reach = dot(other, d);
            if reach > height {
                at = neighbour;
                point = other;
                height = reach;
            }
        }
        if at == here {
            hints[side] = at;
            return vec4<f32>(point, height + part.climb);
        }
    }
    return scan(part, d);
}

fn furthest(part: Part, d: vec3<f32>, side: u32) -> vec4<f32> {
    if part.kind != POINTS {
        return closed_furthest(part, d);
    }
    if part.climb > 0.0 {
        return climb(part, d, side);
    }
    return scan(part, d);
}

fn decide(a: Part, b: Part) -> u32 {
    hints = vec2<u32>(0xffffffffu);
    if a.kind == HALF_SPACE {
        let begun = begin_half_space(a, b);
        if begun != GO_ON {
            return begun;
        }
        return end_half_space(b, furthest(b, -axis * b.turn, 1u));
    }
    if b.kind == HALF_SPACE {
        let begun = begin_half_space(b, a);
        if begun != GO_ON {
            return begun;
        }
        return end_half_space(a, furthest(a, -axis * a.turn, 0u));
    }
    var answer = begin(a, b);
    for (var turn = 0u; turn < STEPS && answer == GO_ON; turn += 1u) {
        answer = proceed(a, b, furthest(a, into_a(a), 0u), furthest(b, into_b(b), 1u));
    }
    return select(answer, UNDECIDED, answer == GO_ON);
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    for (var pair = id.x; pair < params.count; pair += params.groups * 64u) {
        let one = slots[pairs[pair].x];
        let other = slots[pairs[pair].y];
        var answer = select(UNDECIDED, APART, one.y > 0u && other.y > 0u);
        for (var i = 0u; i < one.y && answer != OVERLAPPING; i += 1u) {
            let a = part_at(one.x + i);
            for (var j = 0u; j < other.y && answer != OVERLAPPING; j += 1u) {
                answer = joined(answer, decide(a, part_at(other.x + j)));
            }
        }
        put_answer(pair, answer);
    }
}
