// Every thread for itself: what every device can do. `lanes_subgroup.wgsl` is the faster twin.

fn lanes_max(value: vec3<u32>) -> vec3<u32> {
    return value;
}

fn lanes_sum(value: u32) -> u32 {
    return value;
}

// Returns true for the threads that hold a result for others.
fn lanes_speaker(thread: u32) -> bool {
    return true;
}
