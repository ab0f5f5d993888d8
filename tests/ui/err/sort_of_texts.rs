use monoscan::algo::sort::{Order, sort};

fn main() {
    let mut names = ["bob", "ann"];
    sort(&mut names, Order::Ascending).unwrap();
}
