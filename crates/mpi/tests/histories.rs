//! Random histories on virtual ranks, against a model that knows every box.

use std::time::Duration;

use jostle_mpi::{HistoryFinding, HistorySpec, Ownership, check_history, run_virtual_with_timeout};

fn play(ranks: usize, spec: HistorySpec) -> HistoryFinding {
    let timeout = Duration::from_secs(60);
    let findings = run_virtual_with_timeout(ranks, timeout, |comm| {
        // A panic tells the other ranks, who are in the next collective.
        check_history(comm, spec).unwrap_or_else(|difference| panic!("{difference}"))
    });
    assert!(findings.iter().all(|finding| *finding == findings[0]));
    findings[0]
}

#[test]
fn every_history_gives_the_events_of_one_process() {
    let mut sum = HistoryFinding::default();
    for ranks in [1, 2, 3, 4, 7, 16, 40] {
        for seed in 0..8 {
            let ownership = [Ownership::Migrating, Ownership::Fixed][seed as usize % 2];
            let cut_every_step = seed % 4 > 1;
            let spec = HistorySpec { seed, steps: 12, boxes: 60, ownership, cut_every_step };
            let finding = play(ranks, spec);
            sum.events += finding.events;
            sum.refused += finding.refused;
            sum.migrated += finding.migrated;
            sum.cuts += finding.cuts;
            sum.restored += finding.restored;
        }
    }
    // The histories did what they are for.
    assert!(sum.events > 5_000 && sum.refused > 50 && sum.migrated > 1000, "{sum:?}");
    assert!(sum.cuts > 200 && sum.restored > 20, "{sum:?}");
}
