//! Reading tables: values, defaults, and all errors with their lines.

use becalm_engine::Time;
use becalm_schema::{
    Choice, Conflict, Errors, Field, Located, Place, Review, Table, choice, parse, read, read_json, table, words,
};

words! {
    /// Order in which a queue is read.
    pub enum Order {
        /// Oldest item first.
        Fifo = "fifo",
        /// Newest item first.
        Lifo = "lifo",
    }
}

table! {
    /// A steady source.
    pub struct Steady {
        /// Its rate.
        pub rate: f64 = 1.0; "of the link rate"; 1e-6..=1.0,
    }
}

table! {
    /// A source that sends in bursts.
    pub struct Bursts {
        /// Packets in a burst.
        pub length: u32; "packets"; 1..,
        /// Time between two bursts.
        pub pause: Time = Time::from_us(1); ""; Time::ZERO..Time::from_ms(1),
    }
}

choice! {
    /// Traffic of a source.
    pub enum Traffic {
        /// Constant traffic.
        Steady(Steady) = "steady",
        /// Bursts.
        Bursts(Bursts) = "bursts",
    }
}

table! {
    /// A source.
    pub struct Source {
        /// Its name.
        pub name: String,
        /// Its traffic.
        pub traffic: Traffic = Traffic::Steady(Steady::default()),
        /// Weights of its queues.
        pub weights: Vec<f64> = vec![1.0]; ""; 0.0..=8.0,
    }
}

table! {
    /// A whole file.
    ///
    /// With two paragraphs.
    pub struct File {
        /// Seed of the random numbers.
        pub seed: u64 = 1,
        /// Order in which queues are read.
        pub order: Order = Order::Fifo,
        /// Whether to print more.
        pub verbose: bool = false,
        /// A bound that may be left out.
        pub limit: Option<f64> = None; "packets"; (std::ops::Bound::Excluded(0.0), std::ops::Bound::Unbounded),
        /// The sources.
        pub sources: Vec<Source> = Vec::new(),
        /// A word that Rust reserves.
        pub r#type: u32 = 0,
    }
}

table! {
    /// Two numbers.
    pub struct Limits {
        /// The smaller.
        pub low: f64 = 0.0,
        /// The larger.
        pub high: f64 = 1.0; ""; -1.0..=9.0,
    }
    check ordered;
}

fn ordered(limits: &Limits) -> Result<(), Conflict> {
    Conflict::unless(limits.low <= limits.high, "low", || format!("must be at most high = {}", limits.high))
}

#[test]
fn checks_fields_together() {
    assert!(read::<Limits>("low = 1", "x.toml").is_ok());
    let wrong = |text: &str| read::<Limits>(text, "x.toml").unwrap_err().to_string();
    assert_eq!(wrong("\nlow = 2"), "x.toml:2: low = 2: must be at most high = 1");
    assert_eq!(wrong("high = -1"), "x.toml:1: low must be at most high = -1");
    assert_eq!(wrong("high = -2"), "x.toml:1: high = -2: must be between -1 and 9");
    assert_eq!(wrong("low = nan"), "x.toml:1: low = NaN: must be a finite number");
}

fn errors(text: &str) -> String {
    read::<File>(text, "x.toml").unwrap_err().to_string()
}

#[test]
fn reads_values_and_fills_in_defaults() {
    let file: File = read(
        "seed = 7\ntype = 3\norder = \"lifo\"\n\n[[sources]]\nname = \"a\"\n\n[[sources]]\nname = \"b\"\n\
         [sources.traffic.bursts]\nlength = 4\n",
        "x.toml",
    )
    .unwrap();
    assert_eq!(file.seed, 7);
    assert_eq!(file.order, Order::Lifo);
    assert_eq!(file.limit, None);
    assert_eq!(file.r#type, 3);
    assert_eq!(file.sources[0].traffic, Traffic::Steady(Steady { rate: 1.0 }));
    assert_eq!(file.sources[1].traffic, Traffic::Bursts(Bursts { length: 4, pause: Time::from_us(1) }));
    assert_eq!(read::<File>("", "x.toml").unwrap(), File::default());
}

#[test]
fn collects_all_errors_with_their_lines() {
    let text = "seed = -1\nverbos = true\norder = \"fifi\"\nlimit = 0\n\n[[sources]]\nweights = [1, -2,\n  nan]\n\n\
                [[sources]]\nname = \"b\"\n[sources.traffic.steady]\nrate = 2\n\n[[sources]]\nname = 3\n\
                [sources.traffic.bursts]\npause = \"2 ms\"\n";
    let expected = [
        "x.toml:1: seed = -1: must be an integer, 0 or more",
        "x.toml:2: verbos = true: unknown key, did you mean `verbose`?; valid: seed, order, verbose, limit, sources, type",
        "x.toml:3: order = \"fifi\": must be \"fifo\" or \"lifo\"; did you mean \"fifo\"?",
        "x.toml:4: limit = 0: must be above 0 (packets)",
        "x.toml:6: sources[0].name: is missing; valid: a string",
        "x.toml:8: sources[0].weights[2] = NaN: must be a finite number",
        "x.toml:13: sources[1].traffic.steady.rate = 2: must be between 1e-6 and 1 (of the link rate)",
        "x.toml:16: sources[2].name = 3: must be a string",
        "x.toml:17: sources[2].traffic.bursts.length: is missing; valid: an integer between 0 and 4294967295",
        "x.toml:18: sources[2].traffic.bursts.pause = \"2 ms\": must be at least 0 s and below 1 ms",
    ];
    assert_eq!(errors(text).lines().collect::<Vec<_>>(), expected);
}

#[test]
fn holds_every_item_of_a_list_to_the_range() {
    assert_eq!(
        errors("[[sources]]\nname = \"a\"\nweights = [1, 9]"),
        "x.toml:3: sources[0].weights = [1, 9]: must be between 0 and 8"
    );
}

#[test]
fn refuses_what_is_not_a_finite_number() {
    for value in ["nan", "inf", "-inf", "\"1\"", "true", "[1]", "1979-05-27", "{}"] {
        let text = format!("limit = {value}");
        assert!(errors(&text).contains("must be a finite number"), "{value}: {}", errors(&text));
    }
}

#[test]
fn a_choice_is_one_valid_name() {
    let traffic = |text: &str| errors(&format!("[[sources]]\nname = \"a\"\n{text}"));
    assert_eq!(
        traffic("[sources.traffic.burst]\nlength = 1"),
        "x.toml:3: sources[0].traffic.burst = table {length}: unknown name, did you mean `bursts`?; valid: steady, bursts"
    );
    assert_eq!(
        traffic("[sources.traffic.steady]\n[sources.traffic.bursts]\nlength = 1"),
        "x.toml:4: sources[0].traffic.bursts = table {length}: `steady` is already chosen; only one is allowed"
    );
    assert_eq!(
        traffic("[sources.traffic]"),
        "x.toml:3: sources[0].traffic = table {}: must be a table with one sub-table, named steady or bursts"
    );
    assert!(traffic("traffic = 1").ends_with("one sub-table, named steady or bursts"));
    for word in ["steady", "stedy"] {
        let message = traffic(&format!("traffic = \"{word}\""));
        assert!(message.ends_with("named steady or bursts, did you mean `{steady = {}}`?"), "{message}");
    }
    assert_eq!(Traffic::NAMES, ["steady", "bursts"]);
}

#[test]
fn reports_syntax_with_its_line() {
    let text = errors("seed = 1\norder = = 2\n");
    assert!(text.starts_with("x.toml:2: not valid TOML: "), "{text}");
    let text = errors("seed = 1\nseed = 2\n");
    assert!(text.starts_with("x.toml:2: not valid TOML: duplicate key"), "{text}");
}

#[test]
fn writes_json_that_it_reads() {
    let file: File =
        read("limit = 2.5\n[[sources]]\nname = \"a\"\n[sources.traffic.bursts]\nlength = 4\n", "x.toml").unwrap();
    assert_eq!(read_json::<File>(&file.to_json(), "x.json").unwrap(), file);
    assert_eq!(file.to_json()["sources"][0]["traffic"]["bursts"]["pause"], "1 us");
    let wrong = read_json::<File>(&serde_json::json!({"seed": 1.5}), "x.json").unwrap_err();
    assert_eq!(wrong.to_string(), "x.json: seed = 1.5: must be an integer, 0 or more");
}

#[test]
fn describes_itself() {
    assert_eq!(File::doc(), "A whole file.\n\nWith two paragraphs.");
    let rate = &Steady::fields()[0];
    assert_eq!((rate.name, rate.unit, rate.help.as_str()), ("rate", "of the link rate", "Its rate."));
    assert_eq!((rate.range.as_str(), rate.required), ("between 1e-6 and 1", false));
    assert!(Bursts::fields()[0].required);
    let limit = &File::fields()[3];
    assert_eq!((limit.required, limit.default.clone()), (false, Some(serde_json::Value::Null)));
}

#[test]
fn makes_a_json_schema() {
    let schema = File::json_schema();
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["limit"]["exclusiveMinimum"], 0.0);
    assert_eq!(schema["properties"]["seed"]["default"], 1);
    assert_eq!(schema["properties"]["sources"]["items"]["required"], serde_json::json!(["name"]));
    let traffic = &schema["properties"]["sources"]["items"]["properties"]["traffic"];
    assert_eq!(traffic["properties"]["steady"]["properties"]["rate"]["maximum"], 1.0);
}

table! {
    /// An entry with values that record their positions.
    pub located struct Entry {
        /// Number of items.
        pub count: u32; ""; 1..=9,
        /// Its weight.
        pub weight: f64 = 0.5,
        /// Other entries.
        pub inner: Vec<Located<Entry>> = Vec::new(),
    }
    check light;
}

fn light(entry: &Entry) -> Result<(), Conflict> {
    Conflict::unless(*entry.weight < 10.0, "weight", || "must be below 10".to_string())
}

#[test]
fn a_wrong_value_keeps_no_other_from_being_read() {
    let text = "count = 10\nweight = 2\n[[inner]]\ncount = 3\n[[inner]]\nweight = 1\n";
    let mut errors = Errors::new("x.toml");
    let root = parse(text, &mut errors).unwrap();
    let entry = Entry::read(&root, &mut errors).unwrap();
    assert_eq!((entry.count.get(), entry.weight.get()), (None, Some(&2.0)));
    assert_eq!(entry.inner[0].count.get(), Some(&3));
    assert!(entry.inner[0].complete().is_some() && entry.inner[1].complete().is_none());
    assert!(!entry.is_complete());
    assert!(entry.inner[1].weight.given().is_some() && entry.inner[0].weight.given().is_none());

    let mut review = Review::new(&root, &mut errors);
    review.add(entry.inner[0].count.place(), "is odd");
    review.add(entry.inner[0].weight.place(), "weighs nothing");
    review.add(Place::first_given(&[entry.inner[0].weight.place(), entry.weight.place()]), "is heavy");
    review.conflict(entry.inner[1].place(), Conflict::new("weight", "is light"));
    let message = errors.settle::<()>(None).unwrap_err().to_string();
    let expected = [
        "x.toml:1: count = 10: must be between 1 and 9",
        "x.toml:2: weight = 2: is heavy",
        "x.toml:3: inner[0] = table {count}: weighs nothing",
        "x.toml:4: inner[0].count = 3: is odd",
        "x.toml:5: inner[1].count: is missing; valid: an integer between 0 and 4294967295",
        "x.toml:6: inner[1].weight = 1: is light",
    ];
    assert_eq!(message.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn values_with_places_are_checked_together_and_written_like_others() {
    let entry: Entry = read("count = 3", "x.toml").unwrap();
    assert_eq!(entry.to_json(), serde_json::json!({"count": 3, "weight": 0.5, "inner": []}));
    assert_eq!(read_json::<Entry>(&entry.to_json(), "x.json").unwrap(), entry);
    let wrong = read::<Entry>("count = 3\nweight = 10", "x.toml").unwrap_err();
    assert_eq!(wrong.to_string(), "x.toml:2: weight = 10: must be below 10");
}
