//! Rollback, as in a networked game: the past is corrected and the present computed again, and it
//! comes out the same bytes as if the correction had been there from the beginning.
//!
//! The state after a step is a clone of the game. A clone of a detector (or of a `World`) continues
//! with the same bytes, and shares nothing with the original but the worker threads.

use std::collections::VecDeque;

use jostle::{Aabb, Algorithm, BoxId, Detector, Error, Filter};

const PLAYERS: usize = 200;

/// Steps that can be taken back.
const REACH: usize = 12;

/// What a player wants in a step: a direction. This is what comes over the network.
fn input(step: usize, player: usize) -> f32 {
    if (step / 7 + player) % 3 == 0 { 0.4 } else { -0.2 }
}

#[derive(Clone)]
struct Game {
    detector: Detector,
    ids: Vec<BoxId>,
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
}

pub(crate) fn main() -> Result<(), Error> {
    // The truth: player 7 turned round in step 40, which everybody else learns only in step 50.
    let truth = |step: usize, player: usize| {
        if player == 7 && step >= 40 { -1.0 } else { input(step, player) }
    };

    let mut game = Game::new()?;
    let mut past = VecDeque::new();
    for step in 0..50 {
        past.push_back(game.clone());
        if past.len() > REACH {
            past.pop_front();
        }
        game.step(|player| input(step, player))?;
    }
    let mistaken = game.detector.pairs().to_vec();

    // The correction arrives: back to before step 40, and ten steps again.
    game = past[past.len() - 10].clone();
    let before = game.detector.pairs().len();
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
    assert_eq!(before + began - ended, game.detector.pairs().len(), "events balance");

    // To write a state to a file, or to send it to a player who joins, take the boxes and the pairs
    // (feature `serde`): `Detector::restore` checks them and continues, with any algorithm.
    let (boxes, pairs) = (game.detector.boxes().clone(), game.detector.pairs().to_vec());
    let workers = jostle::Workers::one();
    let mut joined = game.clone();
    joined.detector = Detector::restore(Algorithm::Sap, workers, boxes, &pairs)?;
    joined.step(|player| truth(50, player))?;
    game.step(|player| truth(50, player))?;
    assert_eq!(joined.detector.events(), game.detector.events());
    Ok(())
}
