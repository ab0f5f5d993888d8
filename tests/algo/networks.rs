//! Prefix networks: that they give prefixes, their published figures, and their pictures.

use std::fs;
use std::path::Path;

use monoscan::algo::AlgoError;
use monoscan::algo::numbers::{Network, NetworkKind, add, add_by, compare, compare_by, subtract, subtract_by};

use super::common::generator;

const POWERS: std::ops::RangeInclusive<u32> = 1..=10;

fn kinds() -> impl Iterator<Item = NetworkKind> {
    use NetworkKind::*;
    [KoggeStone, Sklansky, BrentKung, HanCarlson].into_iter().chain((0..=9).map(LadnerFischer))
}

fn of(kind: NetworkKind, log: u32) -> Network {
    Network::new(kind, 1 << log)
}

#[test]
fn every_lane_gets_each_earlier_lane_once_and_in_order() {
    for kind in kinds() {
        for width in 0..=130 {
            // Half-open intervals; pieces that do not touch must not meet.
            let mut lanes: Vec<(usize, usize)> = (0..width).map(|lane| (lane, lane + 1)).collect();
            Network::new(kind, width)
                .apply(&mut lanes, |earlier, later| {
                    assert_eq!(earlier.1, later.0, "{kind} of {width} lanes joins {earlier:?} and {later:?}");
                    (earlier.0, later.1)
                })
                .unwrap();
            assert!(lanes.iter().enumerate().all(|(lane, &piece)| piece == (0, lane + 1)), "{kind} of {width} lanes");
        }
    }
}

#[test]
fn kinds_are_read_as_they_are_printed() {
    for kind in kinds() {
        let name = kind.to_string();
        for name in [name.replace('–', "-"), name.replace('–', "").to_uppercase(), name] {
            assert_eq!(name.parse::<NetworkKind>().unwrap(), kind, "{name}");
        }
    }
    for name in ["", "Brent", "Ladner–Fischer", "Ladner–Fischer()", "Ladner–Fischer(x)", "Sklansky(1)"] {
        let error = name.parse::<NetworkKind>().unwrap_err();
        assert!(matches!(&error, AlgoError::Network { got } if got == name));
        assert!(kinds().take(4).all(|kind| error.to_string().contains(&kind.to_string())), "{error}");
    }
}

#[test]
fn a_name_with_one_character_more_is_none() {
    for name in kinds().map(|kind| kind.to_string()) {
        for place in (0..=name.len()).filter(|&place| name.is_char_boundary(place)) {
            for more in ["-", "–", "+", " ", "(", ")", "x"] {
                let name = [&name[..place], more, &name[place..]].concat();
                assert!(
                    matches!(name.parse::<NetworkKind>(), Err(AlgoError::Network { got }) if got == name),
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn no_level_writes_a_lane_twice_or_is_empty() {
    for network in kinds().flat_map(|kind| (0..=70).map(move |width| Network::new(kind, width))) {
        for level in network.levels() {
            assert!(!level.is_empty());
            assert!(level.windows(2).all(|pair| pair[0].to < pair[1].to));
            assert!(level.iter().all(|gate| gate.from < gate.to && gate.to < network.width()));
        }
    }
}

#[test]
fn kogge_stone_meets_its_formulas() {
    for log in POWERS {
        let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::KoggeStone, log));
        assert_eq!((network.depth(), network.size(), network.fan_out()), (l, n * l + 1 - n, 2), "{n} lanes");
    }
}

#[test]
fn sklansky_meets_its_formulas() {
    for log in POWERS {
        let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::Sklansky, log));
        assert_eq!((network.depth(), network.size(), network.fan_out()), (l, n / 2 * l, n / 2 + 1), "{n} lanes");
    }
}

#[test]
fn brent_kung_meets_its_formulas() {
    for log in POWERS {
        let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::BrentKung, log));
        let (depth, fan_out) = if n == 2 { (1, 2) } else { (2 * l - 2, 3) };
        assert_eq!((network.depth(), network.size(), network.fan_out()), (depth, 2 * n - 2 - l, fan_out), "{n} lanes");
    }
}

#[test]
fn han_carlson_meets_its_formulas() {
    for log in POWERS {
        let (n, l, network) = (1usize << log, log as usize, of(NetworkKind::HanCarlson, log));
        let depth = if n == 2 { 1 } else { l + 1 };
        assert_eq!((network.depth(), network.size(), network.fan_out()), (depth, n / 2 * l, 2), "{n} lanes");
    }
}

#[test]
fn ladner_fischer_meets_its_recurrence_and_its_closed_form() {
    fn recurrence(n: usize, k: u32) -> usize {
        match (n, k) {
            (1, _) => 0,
            (_, 0) => recurrence(n / 2, 1) + recurrence(n / 2, 0) + n / 2,
            _ => recurrence(n / 2, k - 1) + n - 1,
        }
    }
    fn fibonacci(i: u32) -> usize {
        (1..i).fold((0, 1), |(a, b), _| (b, a + b)).1
    }
    for log in POWERS {
        for k in 0..=log {
            let (n, network) = (1usize << log, of(NetworkKind::LadnerFischer(k), log));
            let closed = 2 * n + ((2 * n) >> k) + 1 - fibonacci(5 + log - k) - k as usize;
            let depth = if n == 2 { 1 } else { (log + k).min(2 * log - 2) as usize };
            assert_eq!(network.depth(), depth, "{n} lanes, k = {k}");
            assert_eq!(network.size(), recurrence(n, k), "{n} lanes, k = {k}");
            assert_eq!(network.size(), closed, "{n} lanes, k = {k}");
            let fan_out = match (n, k) {
                (2, _) => 2,
                (_, 0) => n / 2 + 1,
                _ => (n >> (k + 1)).max(3),
            };
            assert_eq!(network.fan_out(), fan_out, "{n} lanes, k = {k}");
        }
    }
}

#[test]
fn ladner_fischer_ends_as_brent_kung() {
    for log in POWERS {
        let all_the_way = of(NetworkKind::LadnerFischer(log), log);
        assert_eq!(all_the_way.levels(), of(NetworkKind::BrentKung, log).levels());
        assert_eq!(all_the_way.levels(), of(NetworkKind::LadnerFischer(log + 5), log).levels());
    }
}

#[test]
fn a_width_between_powers_is_never_deeper_than_the_next_power() {
    for kind in kinds() {
        for width in 1..=130usize {
            let (network, full) = (Network::new(kind, width), Network::new(kind, width.next_power_of_two()));
            assert!(network.depth() <= full.depth() && network.size() <= full.size(), "{kind} of {width} lanes");
        }
    }
}

#[test]
fn integers_are_added_subtracted_and_compared_by_any_network() {
    let mut random = generator(1);
    for kind in kinds() {
        for width in [1, 2, 5, 8, 64] {
            let network = Network::new(kind, width);
            for (len, shorter) in [(0, 0), (1, 0), (5, 5), (8, 3), (64, 64), (130, 129)] {
                let mut digits = |len: usize| -> Vec<u64> {
                    (0..len).map(|_| *random.pick(&[0, 1, u64::MAX, u64::MAX - 1])).collect()
                };
                let (a, b) = (digits(len), digits(shorter));
                let of = format!("{network}, {len} and {shorter} digits");
                assert_eq!(add_by(&network, &a, &b).unwrap(), add(&a, &b).unwrap(), "{of}");
                for (a, b) in [(&a, &b), (&b, &a), (&a, &a)] {
                    assert_eq!(subtract_by(&network, a, b).unwrap(), subtract(a, b).unwrap(), "{of}");
                    assert_eq!(compare_by(&network, a, b).unwrap(), compare(a, b), "{of}");
                }
            }
        }
    }
}

#[test]
fn lanes_that_disagree_with_the_network_are_refused_and_not_written() {
    let mut lanes = [1, 2, 3];
    let error = of(NetworkKind::Sklansky, 2).apply(&mut lanes, |a, b| a + b).unwrap_err();
    assert!(matches!(error, AlgoError::Length { argument: "lanes", expected: 4, got: 3 }), "{error}");
    assert_eq!(lanes, [1, 2, 3]);
    let none = Network::new(NetworkKind::Sklansky, 0);
    for error in [add_by(&none, &[1], &[]).map(drop), compare_by(&none, &[], &[]).map(drop)] {
        assert!(matches!(error, Err(AlgoError::NoLanes)), "{error:?}");
    }
}

/// `NETWORKS=overwrite` keeps the pictures as networks draw them now.
#[test]
fn the_pictures_of_the_page_are_what_networks_draw() {
    use NetworkKind::*;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/networks");
    let named = [
        ("kogge-stone", KoggeStone),
        ("sklansky", Sklansky),
        ("brent-kung", BrentKung),
        ("han-carlson", HanCarlson),
        ("ladner-fischer-1", LadnerFischer(1)),
    ];
    for (name, kind) in named {
        let (file, drawn) = (folder.join(format!("{name}.svg")), Network::new(kind, 16).svg());
        if std::env::var("NETWORKS").is_ok_and(|value| value == "overwrite") {
            fs::create_dir_all(&folder).unwrap();
            fs::write(&file, drawn).unwrap();
        } else {
            let kept = fs::read_to_string(&file).unwrap_or_default();
            assert!(
                kept == drawn,
                "{name}.svg is not what its network draws: NETWORKS=overwrite cargo test --test algo"
            );
        }
    }
}
