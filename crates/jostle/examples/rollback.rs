//! Rollback, as in a networked game: the past is corrected and the present computed again, and it
//! comes out the same bytes as if the correction had been there from the beginning.
//!
//! A snapshot is the boxes and the pairs after a step. The algorithm's own memory is no part of it:
//! a restored detector may even use another algorithm.

use std::collections::VecDeque;

use jostle::{Aabb, Algorithm, BoxId, Boxes, Detector, Error, Filter, Pair, Workers};

const PLAYERS: usize = 200;

/// What a player wants in a step: a direction. This is what comes over the network.
fn input(step: usize, player: usize) -> f32 {
    if (step / 7 + player) % 3 == 0 { 0.4 } else { -0.2 }
}

struct Game {
    detector: Detector,
    ids: Vec<BoxId>,
    at: Vec<f32>,
}

/// Everything that is needed to go back to after a step.
struct Snapshot {
    boxes: Boxes,
    pairs: Vec<Pair>,
    at: Vec<f32>,
}

fn body(player: usize, at: f32) -> Aabb {
    Aabb::around([at, (player % 20) as f32, 0.0], [0.6, 0.6, 0.6])
}

impl Game {
    fn new() -> Result<Game, Error> {
        let mut detector = Detector::new(Algorithm::Auto);
        let at: Vec<f32> = (0..PLAYERS).map(|player| 1.5 * (player / 20) as f32).collect();
        let boxes: Vec<Aabb> = (0..PLAYERS).map(|player| body(player, at[player])).collect();
        let ids = detector.boxes_mut().insert_all(&boxes, Filter::ALL)?;
        Ok(Game { detector, ids, at })
    }

    fn step(&mut self, inputs: impl Fn(usize) -> f32) -> Result<(), Error> {
        for player in 0..PLAYERS {
            self.at[player] += inputs(player);
            self.detector.set(self.ids[player], body(player, self.at[player]))?;
        }
        self.detector.step()?;
        Ok(())
    }

    fn snapshot(&self) -> Snapshot {
        let detector = &self.detector;
        let (boxes, pairs) = (detector.boxes().clone(), detector.pairs().to_vec());
        Snapshot { boxes, pairs, at: self.at.clone() }
    }

    fn restore(&mut self, from: &Snapshot, algorithm: Algorithm) -> Result<(), Error> {
        let boxes = from.boxes.clone();
        self.detector = Detector::restore(algorithm, Workers::one(), boxes, &from.pairs)?;
        self.at = from.at.clone();
        Ok(())
    }
}

pub(crate) fn main() -> Result<(), Error> {
    // The truth: player 7 turned round in step 40, which everybody else learns only in step 50.
    let truth = |step: usize, player: usize| {
        if player == 7 && step >= 40 { -1.0 } else { input(step, player) }
    };

    let mut game = Game::new()?;
    let mut past = VecDeque::new();
    for step in 0..50 {
        game.step(|player| input(step, player))?;
        past.push_back(game.snapshot());
        if past.len() > 12 {
            past.pop_front();
        }
    }
    let mistaken = game.detector.pairs().to_vec();

    // The correction arrives: back to the end of step 39, and ten steps again. Another algorithm
    // may do it.
    let before = &past[past.len() - 11];
    game.restore(before, Algorithm::Sap)?;
    let (mut began, mut ended) = (0, 0);
    for step in 40..50 {
        game.step(|player| truth(step, player))?;
        began += game.detector.events().began.len();
        ended += game.detector.events().ended.len();
    }

    // A game that knew it from the beginning.
    let mut expected = Game::new()?;
    for step in 0..50 {
        expected.step(|player| truth(step, player))?;
    }
    println!("{began} pairs began and {ended} ended while ten steps were played again");
    assert_eq!(game.detector.pairs(), expected.detector.pairs());
    assert_eq!(game.detector.events(), expected.detector.events());
    assert_ne!(game.detector.pairs(), mistaken, "the correction changed something");
    let kept = before.pairs.len() as i64 + began as i64 - ended as i64;
    assert_eq!(kept, game.detector.pairs().len() as i64, "events balance across the rollback");
    Ok(())
}
