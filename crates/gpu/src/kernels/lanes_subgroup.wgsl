// Threads of a subgroup combine their numbers first: one atomic operation for all of them. The
// results are those of `lanes_alone.wgsl`: maxima and sums of integers do not depend on the order.

fn lanes_max(value: vec3<u32>) -> vec3<u32> {
    return subgroupMax(value);
}

fn lanes_sum(value: u32) -> u32 {
    return subgroupAdd(value);
}

// Returns true for the threads that hold a result for others.
fn lanes_speaker(thread: u32) -> bool {
    return subgroupBroadcastFirst(thread) == thread;
}
