//! The 36 loops of the divide-and-conquer set of AutoLifter (Ji et al., TOPLAS 2024), which holds
//! those of ParSynt (Farzan and Nicolet, PLDI 2017 and 2021), and its three single-pass ones that
//! have no counterpart there. Written anew from their descriptions, as one loop over w each.

#![allow(clippy::all, reason = "loops as people write them")]

use crate::entry::{BIG, Entry, loops};

/// The suite, in the order of the publication.
pub(crate) fn entries() -> Vec<Entry> {
    loops! {
        "sum" "I" (s: i32, w: i32) = 0 => { s + w };
        "min" "I" (m: i32, w: i32) = BIG => { m.min(w) };
        "max" "I" (m: i32, w: i32) = -BIG => { if w > m { w } else { m } };
        "length" "I" (c: i32, _w: i32) = 0 => { c + 1 };
        "2nd-min" "I" (s: (i32, i32), w: i32) = (BIG, BIG) => { (s.0.min(w), s.1.min(s.0.max(w))) };
        "mps" "I" (s: (i32, i32), w: i32) = (0, 0) => { (s.0 + w, s.1.max(s.0 + w)) };
        "mts" "I" (t: i32, w: i32) = 0 => { (t + w).max(0) };
        "mss" "I" (s: (i32, i32), w: i32) = (0, 0) => { ((s.0 + w).max(0), s.1.max(s.0 + w)) };
        "mps_p" "IN" (s: (i32, i32, u32), w: i32, i: u32) = (0, 0, 0) => {
            (s.0 + w, s.1.max(s.0 + w), if s.0 + w > s.1 { i } else { s.2 })
        };
        "mts_p" "IN" (s: (i32, u32), w: i32, i: u32) = (0, 0) => {
            ((s.0 + w).max(0), if s.0 + w < 0 { i } else { s.1 })
        };
        "is_sorted" "I" (s: (i32, bool), w: i32) = (-BIG, true) => { (w, s.1 && s.0 < w) };
        "atoi" "D" (v: i32, w: i32) = 0 => { v.wrapping_mul(10).wrapping_add(w) };
        "dropwhile" "IN" (s: (bool, u32), w: i32, i: u32) = (true, 0) => {
            (s.0 && w == 0, if w != 0 && s.0 { i } else { s.1 })
        };
        "balanced" "T" (s: (i32, bool), w: bool) = (0, true) => {
            let c = s.0 + if w { 1 } else { -1 };
            (c, s.1 && c >= 0)
        };
        "0s1s" "T" (s: (bool, bool), w: bool) = (true, true) => { (w && s.0, (!w || (w && s.0)) && s.1) };
        "0after1" "T" (s: (bool, bool), w: bool) = (false, false) => { (s.0 || w, s.1 || (s.0 && !w)) };
        "cnt_1s" "T" (s: (bool, i32), w: bool) = (false, 0) => { (w, s.1 + if w && !s.0 { 1 } else { 0 }) };
        "line_sight" "I" (s: (i32, bool), w: i32) = (0, true) => { (s.0.max(w), s.0 <= w) };
        "max_len_1s" "T" (s: (i32, i32), w: bool) = (0, 0) => {
            let l = if w { s.0 + 1 } else { 0 };
            (l, s.1.max(l))
        };
        "average" "I" (s: (i32, i32), w: i32) = (0, 0) => { (s.0 + w, s.1 + 1) };
        "count10p" "N" (s: (bool, bool, i32), w: u32) = (false, false, 0) => {
            (w == 1, w == 0 && (s.0 || s.1), s.2 + if s.1 && w != 0 { 1 } else { 0 })
        };
        "count10s2" "N" (s: (bool, i32), w: u32) = (false, 0) => {
            (w == 1 || (s.0 && w == 0), s.1 + if s.0 && w == 2 { 1 } else { 0 })
        };
        "count1s2s3s" "N" (s: (bool, bool, i32), w: u32) = (false, false, 0) => {
            (w == 1, w == 2 && (s.0 || s.1), s.2 + if w == 3 && (s.0 || s.1) { 1 } else { 0 })
        };
        "max_sum_between_ones" "I" (s: (i32, i32), w: i32) = (0, 0) => {
            let c = if w != 1 { s.0 + w } else { 0 };
            (c, s.1.max(c))
        };
        "max_dist_between_zeros" "N" (s: (i32, i32), w: u32) = (0, 0) => {
            let c = if w != 0 { s.0 + 1 } else { 0 };
            (c, s.1.max(c))
        };
        "lis" "I" (s: (i32, i32, i32), w: i32) = (0, 0, 0) => {
            let c = if s.0 < w { s.1 + 1 } else { 0 };
            (w, c, s.2.max(c))
        };
        "largest_peak" "I" (s: (i32, i32), w: i32) = (0, 0) => {
            let c = if w > 0 { s.0 + w } else { 0 };
            (c, s.1.max(c))
        };
        "longest1s" "N" (s: (i32, i32), w: u32) = (0, 0) => {
            let c = if w == 1 { s.0 + 1 } else { 0 };
            (c, s.1.max(c))
        };
        "longest10s2" "N" (s: (bool, bool, i32, i32), w: u32) = (false, false, 0, 0) => {
            let c = if s.1 || w == 2 { s.2 + 1 } else { 0 };
            (w == 1, w == 0 && (s.1 || s.0), c, s.3.max(c))
        };
        "longest00s" "N" (s: (i32, i32, i32), w: u32) = (0, 0, 0) => {
            let c = if w == 0 { s.0 + 1 } else { 0 };
            let t = s.1.max(c);
            (c, t, if t % 2 == 0 { t } else { s.2 })
        };
        "longest_odd10s" "N" (s: (bool, i32, i32), w: u32) = (false, 0, 0) => {
            let c = if s.0 && w == 1 { s.1 + 1 } else if w == 0 { s.1 } else { 0 };
            (w == 0, c, if c % 2 == 1 { s.2.max(c) } else { s.2 })
        };
        "3rd-min" "I" (s: (i32, i32, i32), w: i32) = (BIG, BIG, BIG) => {
            (
                if w < s.0 { w } else { s.0 },
                if w < s.0 { s.0 } else if w < s.1 { w } else { s.1 },
                if w < s.0 { s.1 } else if w < s.1 { s.1 } else { s.2.min(w) }
            )
        };
        "mpp" "S" (s: (i32, i32), w: i32) = (1, -BIG) => { (s.0 * w, s.1.max(s.0 * w)) };
        "mtp" "S" (s: (i32, i32), w: i32) = (1, 1) => {
            (
                w.max(if w >= 0 { s.0 * w } else { s.1 * w }),
                w.min(if w >= 0 { s.1 * w } else { s.0 * w })
            )
        };
        "msp" "S" (s: (i32, i32, i32), w: i32) = (1, 1, -BIG) => {
            let high = w.max(if w >= 0 { s.0 * w } else { s.1 * w });
            (high, w.min(if w >= 0 { s.1 * w } else { s.0 * w }), s.2.max(high))
        };
        "max_1s_p" "NN" (s: (u32, u32, u32), w: u32, i: u32) = (0, 0, 0) => {
            let size = if w != 0 { s.0 + 1 } else { 0 };
            (size, s.1.max(size), if size > s.1 { i } else { s.2 })
        };
        "mas" "I" (s: (i32, i32, i32), w: i32) = (0, 0, 0) => {
            let (p, n) = (s.1.max(0) + w, s.0.max(0) - w);
            (p, n, s.2.max(p.max(n)))
        };
        "mmm" "I" (s: (i32, i32, i32), w: i32) = (0, 0, 0) => {
            (s.2.max(s.1) + w, s.2.max(s.0) - w, s.1.max(s.0))
        };
        "mis" "I" (s: (i32, i32), w: i32) = (0, 0) => { (s.1 + w, s.0.max(s.1)) };
    }
}
