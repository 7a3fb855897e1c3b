//! The fixed scenarios.

/// A scenario and its name.
pub struct Bench {
    pub name: &'static str,
    pub text: &'static str,
    /// Whether it runs if none is named.
    pub usual: bool,
}

/// The text of a scenario: one or more files in `scenarios`, concatenated.
macro_rules! text {
    ($($file:literal),+) => { concat!($(include_str!(concat!("../scenarios/", $file, ".toml")), "\n"),+) };
}

const fn usual(name: &'static str, text: &'static str) -> Bench {
    Bench { name, text, usual: true }
}

const fn named(name: &'static str, text: &'static str) -> Bench {
    Bench { name, text, usual: false }
}

/// All scenarios. `_cc` is the previous scenario with IBTA congestion control.
pub const SCENARIOS: [Bench; 23] = [
    usual("dumbbell", text!("dumbbell")),
    named("clos128_0.5", text!("clos128_0.5")),
    usual("clos128_0.9", text!("clos128_0.9")),
    usual("perm128", text!("perm128")),
    usual("perm128_cc", text!("perm128", "cc128")),
    usual("hot128", text!("hot128")),
    usual("hot128_cc", text!("hot128", "cc128")),
    usual("incast128", text!("incast128")),
    named("incast128_cc", text!("incast128", "cc128_incast")),
    usual("perm1024", text!("perm1024")),
    named("perm1024_cc", text!("perm1024", "cc1024")),
    usual("hot1024", text!("hot1024")),
    named("hot1024_cc", text!("hot1024", "cc1024")),
    usual("pfister32", text!("pfister32")),
    named("pfister128", text!("pfister128")),
    named("pfister432", text!("pfister432")),
    named("pfister512", text!("pfister512")),
    usual("pfc128", text!("pfc128")),
    usual("dcqcn128", text!("dcqcn128")),
    usual("job128", text!("job128")),
    named("flows100k", text!("flows100k")),
    usual("tree8192", text!("tree8192")),
    named("tree65536", text!("tree65536")),
];

/// The scenario with this name.
pub fn find(name: &str) -> Option<&'static Bench> {
    SCENARIOS.iter().find(|bench| bench.name == name)
}
