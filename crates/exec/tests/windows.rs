//! Window functions against a quadratic oracle: random functions over random frames of random rows, with NULLs and peers, in four
//! ways: with frames that slide, computed anew, with a partition on disk, and streamed where that may be.

use crate::common::World;

/// A generator of numbers that need not be good.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len() as u64) as usize]
    }
}

/// A row: id, partition, order key, value.
type Row = (i64, Option<i64>, Option<i64>, Option<i64>);

fn rows(count: i64, random: &mut Random) -> Vec<Row> {
    let mut value = |limit: u64| (random.below(6) > 0).then(|| random.below(limit) as i64 - 3);
    (0..count).map(|id| (id, value(4), value(9), value(20))).collect()
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    UnboundedPreceding,
    Preceding(i64),
    Current,
    Following(i64),
    UnboundedFollowing,
}

impl Bound {
    fn sql(self) -> String {
        match self {
            Bound::UnboundedPreceding => "UNBOUNDED PRECEDING".to_owned(),
            Bound::Preceding(by) => format!("{by} PRECEDING"),
            Bound::Current => "CURRENT ROW".to_owned(),
            Bound::Following(by) => format!("{by} FOLLOWING"),
            Bound::UnboundedFollowing => "UNBOUNDED FOLLOWING".to_owned(),
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Window {
    partitioned: bool,
    /// Ordered by the key; by the id besides, so that no rows are peers; descending.
    ordered: bool,
    unique: bool,
    descending: bool,
    frame: Option<(bool, Bound, Bound)>,
}

impl Window {
    fn random(random: &mut Random) -> Window {
        let ordered = random.below(5) > 0;
        let unique = ordered && random.below(2) == 0;
        let mut window = Window {
            partitioned: random.below(2) == 0,
            ordered,
            unique,
            descending: random.below(2) == 0,
            frame: None,
        };
        let is_rows = !ordered || unique || random.below(2) == 0;
        let starts = [
            Bound::UnboundedPreceding,
            Bound::Preceding(1),
            Bound::Preceding(3),
            Bound::Current,
            Bound::Following(2),
        ];
        let ends = [
            Bound::Preceding(2),
            Bound::Current,
            Bound::Following(1),
            Bound::Following(4),
            Bound::UnboundedFollowing,
        ];
        let (start, end) = (*random.one_of(&starts), *random.one_of(&ends));
        let is_refused = matches!(
            (start, end),
            (Bound::Current, Bound::Preceding(_))
                | (Bound::Following(_), Bound::Preceding(_) | Bound::Current)
        );
        if random.below(5) > 0 && !is_refused {
            window.frame = Some((is_rows, start, end));
        }
        window
    }

    fn sql(&self) -> String {
        let mut sql = String::from("(");
        if self.partitioned {
            sql.push_str("PARTITION BY g ");
        }
        if self.ordered {
            sql.push_str(if self.descending { "ORDER BY o DESC" } else { "ORDER BY o" });
            sql.push_str(if self.unique { ", id " } else { " " });
        }
        if let Some((is_rows, start, end)) = self.frame {
            let unit = if is_rows { "ROWS" } else { "RANGE" };
            sql.push_str(&format!("{unit} BETWEEN {} AND {}", start.sql(), end.sql()));
        }
        sql + ")"
    }

    /// What rows are sorted by in a partition; NULL is less than all numbers.
    fn key(&self, row: &Row) -> (i64, i64) {
        let key = if self.ordered { row.2.unwrap_or(-1000) } else { 0 };
        (if self.descending { -key } else { key }, if self.unique { row.0 } else { 0 })
    }

    /// The numbers of the rows of a frame, by looking at each.
    fn frame_of(&self, rows: &[Row], at: usize) -> Vec<usize> {
        let (is_rows, start, end) = self.frame.unwrap_or((false, Bound::UnboundedPreceding, Bound::Current));
        let place = |bound: Bound| match bound {
            Bound::UnboundedPreceding => i64::MIN,
            Bound::Preceding(by) => -by,
            Bound::Current => 0,
            Bound::Following(by) => by,
            Bound::UnboundedFollowing => i64::MAX,
        };
        let own = self.key(&rows[at]);
        let is_within = |other: usize| {
            let (distance, is_peer) = (other as i64 - at as i64, self.key(&rows[other]) == own);
            if is_rows {
                return place(start) <= distance && distance <= place(end);
            }
            // NULL is as far from every number as the ends of the partition are.
            let between = |bound: Bound, holds: &dyn Fn(i64) -> bool, is_before: bool| match bound {
                Bound::UnboundedPreceding | Bound::UnboundedFollowing => true,
                Bound::Current => is_peer || is_before,
                _ => match (rows[at].2, rows[other].2) {
                    (None, _) | (_, None) => is_peer || is_before,
                    (Some(own), Some(value)) => {
                        holds(if self.descending { own - value } else { value - own })
                    }
                },
            };
            let starts = between(start, &|far| far >= place(start), distance > 0);
            let ends = between(end, &|far| far <= place(end), distance < 0);
            starts && ends
        };
        (0..rows.len()).filter(|other| is_within(*other)).collect()
    }
}

const FUNCTIONS: [&str; 24] = [
    "ROW_NUMBER()",
    "RANK()",
    "DENSE_RANK()",
    "PERCENT_RANK()",
    "CUME_DIST()",
    "NTILE(3)",
    "LAG(x)",
    "LAG(x, 3, id)",
    "LEAD(x, 2)",
    "FIRST_VALUE(id)",
    "LAST_VALUE(id)",
    "NTH_VALUE(x, 2)",
    "COUNT(*)",
    "COUNT(x)",
    "SUM(x)",
    "SUM(x / 4)",
    "SUM(x * 1e0)",
    "MIN(x)",
    "MAX(x)",
    "BIT_AND(x)",
    "BIT_OR(x)",
    "BIT_XOR(x)",
    "VAR_POP(x)",
    "AVG(x * 1e0)",
];

/// What a function gives for a row of a partition, as the client is shown it.
fn value_of(function: &str, window: &Window, rows: &[Row], at: usize) -> String {
    let shown = |value: Option<i64>| value.map_or("NULL".to_owned(), |value| value.to_string());
    let float = |value: Option<f64>| value.map_or("NULL".to_owned(), |value| format!("{value:.6}"));
    let frame = window.frame_of(rows, at);
    let values: Vec<i64> = frame.iter().filter_map(|row| rows[*row].3).collect();
    let before = |row: &&Row| window.key(row) < window.key(&rows[at]);
    let count = rows.len() as f64;
    let rank = rows.iter().filter(before).count() + 1;
    let doubles: Vec<f64> = values.iter().map(|value| *value as f64).collect();
    let mean = doubles.iter().sum::<f64>() / doubles.len() as f64;
    match function {
        "ROW_NUMBER()" => (at + 1).to_string(),
        "RANK()" => rank.to_string(),
        "DENSE_RANK()" => {
            let mut keys: Vec<_> = rows.iter().filter(before).map(|row| window.key(row)).collect();
            keys.dedup();
            (keys.len() + 1).to_string()
        }
        "PERCENT_RANK()" => float(Some(if count > 1.0 { (rank - 1) as f64 / (count - 1.0) } else { 0.0 })),
        "CUME_DIST()" => {
            let up_to = rows.iter().filter(|row| window.key(row) <= window.key(&rows[at])).count();
            float(Some(up_to as f64 / count))
        }
        "NTILE(3)" => {
            let mut sizes = [rows.len() / 3; 3];
            sizes[..rows.len() % 3].iter_mut().for_each(|size| *size += 1);
            let mut end = 0;
            let bucket = sizes.iter().position(|size| {
                end += size;
                at < end
            });
            (bucket.unwrap() + 1).to_string()
        }
        "LAG(x)" => shown(at.checked_sub(1).and_then(|row| rows[row].3)),
        "LAG(x, 3, id)" => match at.checked_sub(3) {
            Some(row) => shown(rows[row].3),
            None => rows[at].0.to_string(),
        },
        "LEAD(x, 2)" => shown(rows.get(at + 2).and_then(|row| row.3)),
        "FIRST_VALUE(id)" => shown(frame.first().map(|row| rows[*row].0)),
        "LAST_VALUE(id)" => shown(frame.last().map(|row| rows[*row].0)),
        "NTH_VALUE(x, 2)" => shown(frame.get(1).and_then(|row| rows[*row].3)),
        "COUNT(*)" => frame.len().to_string(),
        "COUNT(x)" => values.len().to_string(),
        "SUM(x)" => shown((!values.is_empty()).then(|| values.iter().sum())),
        "SUM(x / 4)" | "SUM(x * 1e0)" => {
            let divisor = if function == "SUM(x / 4)" { 4.0 } else { 1.0 };
            float((!values.is_empty()).then(|| doubles.iter().sum::<f64>() / divisor))
        }
        "MIN(x)" => shown(values.iter().min().copied()),
        "MAX(x)" => shown(values.iter().max().copied()),
        "BIT_AND(x)" => values.iter().fold(u64::MAX, |all, value| all & *value as u64).to_string(),
        "BIT_OR(x)" => values.iter().fold(0, |all, value| all | *value as u64).to_string(),
        "BIT_XOR(x)" => values.iter().fold(0, |all, value| all ^ *value as u64).to_string(),
        "VAR_POP(x)" => {
            let squares: f64 = doubles.iter().map(|value| (value - mean).powi(2)).sum();
            float((!values.is_empty()).then(|| squares / doubles.len() as f64))
        }
        "AVG(x * 1e0)" => float((!values.is_empty()).then_some(mean)),
        other => panic!("{other}"),
    }
}

fn is_float(function: &str) -> bool {
    ["PERCENT", "CUME", "/ 4", "1e0", "VAR"].iter().any(|part| function.contains(part))
}

/// The rows of a statement with those functions over one window, by id.
fn expected(functions: &[&str], window: &Window, rows: &[Row]) -> Vec<String> {
    let mut lines = vec![String::new(); rows.len()];
    let mut groups: Vec<Option<i64>> = rows.iter().map(|row| row.1.filter(|_| window.partitioned)).collect();
    groups.sort();
    groups.dedup();
    for group in groups {
        let is_member = |row: &&Row| row.1.filter(|_| window.partitioned) == group;
        let mut partition: Vec<Row> = rows.iter().filter(is_member).copied().collect();
        partition.sort_by_key(|row| window.key(row));
        for at in 0..partition.len() {
            let values: Vec<String> =
                functions.iter().map(|function| value_of(function, window, &partition, at)).collect();
            lines[partition[at].0 as usize] = format!("{}\t{}", partition[at].0, values.join("\t"));
        }
    }
    lines
}

fn world(rows: &[Row]) -> World {
    let mut world = World::new();
    assert!(
        world
            .run("CREATE TABLE t (id INT NOT NULL, g INT, o INT, x INT, pad VARCHAR(100), PRIMARY KEY (id))")
            .is_empty()
    );
    let shown = |value: Option<i64>| value.map_or("NULL".to_owned(), |value| value.to_string());
    let tuple = |row: &Row| {
        format!("({}, {}, {}, {}, REPEAT('p', 60))", row.0, shown(row.1), shown(row.2), shown(row.3))
    };
    if !rows.is_empty() {
        let tuples: Vec<String> = rows.iter().map(tuple).collect();
        assert!(world.run(&format!("INSERT INTO t VALUES {}", tuples.join(", "))).is_empty());
    }
    world
}

#[test]
fn functions_over_frames_equal_those_that_look_at_every_row() {
    let mut random = Random(11);
    let mut on_disk = 0;
    for count in [0, 1, 2, 5, 17, 60, 300] {
        let rows = rows(count, &mut random);
        let mut world = world(&rows);
        for _ in 0..80 {
            let window = Window::random(&mut random);
            let functions: Vec<&str> = (0..1 + random.below(5)).map(|_| *random.one_of(&FUNCTIONS)).collect();
            let call = |function: &&str| {
                let call = format!("{function} OVER w");
                if is_float(function) { format!("FORMAT({call}, 6)") } else { call }
            };
            let calls: Vec<String> = functions.iter().map(call).collect();
            let sql =
                format!("SELECT id, {} FROM t WINDOW w AS {} ORDER BY id", calls.join(", "), window.sql());
            let expected = expected(&functions, &window, &rows);
            for (fast_plans, share_bytes) in
                [(true, 1 << 28), (false, 1 << 28), (true, 1 << 10), (false, 1 << 10)]
            {
                world.settings.fast_plans = fast_plans;
                world.settings.kept_bytes_max = share_bytes;
                let found: Vec<String> =
                    world.run(&sql).into_iter().map(|line| line.replace(',', "")).collect();
                assert_eq!(found, expected, "{sql} {fast_plans} {share_bytes}");
                on_disk += world.spilled.files;
            }
        }
    }
    assert!(on_disk > 50, "{on_disk}");
}

#[test]
fn what_a_window_keeps_is_charged_and_seen_by_kill() {
    let mut random = Random(3);
    let rows = rows(3000, &mut random);
    let mut world = world(&rows);
    let sql = "SELECT SUM(m) FROM (SELECT MAX(x) OVER (ORDER BY id ROWS 1000 PRECEDING) + LENGTH(LAG(pad, 900, '') \
               OVER (ORDER BY id)) AS m FROM t) AS d";
    let in_memory = world.run(sql);
    assert_eq!(world.spilled.files, 0);
    world.settings.kept_bytes_max = 20_000;
    world.settings.sort_bytes_max = 20_000;
    assert_eq!(world.run(sql), in_memory);
    assert!(world.spilled.disk_tables > 0 && world.spilled.files > 0, "{:?}", world.spilled);
    // The numbers of a frame stay in memory: there is an end to it.
    world.settings.memory_bytes_max = 40_000;
    let wide = "SELECT SUM(m) FROM (SELECT SUM(x * 1e0) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED \
                FOLLOWING) AS m, REPEAT('x', id * 100) AS w FROM t) AS d";
    let failed = world.run(wide);
    assert!(failed.len() == 1, "{failed:?}");
    world.settings = exec::ExecutionSettings::default();
    world.kill.kill();
    let failed = world.run(sql);
    assert!(failed.len() == 1 && failed[0].contains("1317"), "{failed:?}");
    world.kill.lower();
    assert_eq!(world.run(sql), in_memory);
}
