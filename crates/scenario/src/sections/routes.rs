//! `routes` of a topology: explicit entries of forwarding tables.

use becalm_schema::{Conflict, Located};

becalm_schema::table! {
    /// An entry of a switch's forwarding table, for one or more destinations. If several entries name the
    /// same destination, the last one applies. Without an entry, the topology's default route applies.
    pub located struct Route {
        /// Name of the switch.
        pub switch: String,
        /// Names of destination hosts, ranges such as `"H1..H8"`, or `"*"` for all.
        pub to: Vec<Located<String>>,
        /// The output port, numbered from 0 in the order in which cables are listed. In trees, cables to the
        /// level below come first. Set either this or `via`.
        pub port: Option<u32>,
        /// The node at the other end of the output's cable.
        pub via: Option<String>,
    }
    check Route::check;
}

impl Route {
    fn check(&self) -> Result<(), Conflict> {
        match (&*self.port, &*self.via) {
            (None, None) => Err(Conflict::new("via", "is missing; set either via or port")),
            (Some(_), Some(_)) => Err(Conflict::new("via", "cannot be set together with port")),
            _ => Ok(()),
        }
    }
}
