//! The limit on congestion notification packets (CNPs), which the two ends of a flow have in common.
//!
//! A destination sends CNPs at a limited rate, and a response is tuned to that rate. A response with the values of an
//! adapter therefore declares that adapter's limit. An echo whose limit is left out adopts it.

use becalm_engine::Time;

becalm_schema::words! {
    /// What a limit on CNPs applies to.
    pub enum CnpScope {
        /// Each queue pair, that is, each flow.
        QueuePair = "qp",
        /// All queue pairs of a port that receive from the same host, to which the CNPs go.
        Destination = "destination",
        /// All queue pairs of a port.
        Port = "port",
    }
}

/// A limit on the CNPs that a destination sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CnpLimit {
    /// The limit's source in words.
    pub source: &'static str,
    /// Minimum time between two CNPs.
    pub interval: Time,
    /// What the limit applies to.
    pub scope: CnpScope,
}

impl CnpLimit {
    /// The limit of the DCQCN paper.
    pub const PAPER: CnpLimit =
        CnpLimit { source: "the DCQCN paper", interval: Time::from_us(50), scope: CnpScope::QueuePair };
    /// The default of ConnectX adapters.
    pub const CONNECTX: CnpLimit =
        CnpLimit { source: "ConnectX adapters", interval: Time::from_us(4), scope: CnpScope::Port };

    /// The source to which an interval points; `None` if it belongs to no source.
    pub fn of_interval(interval: Time) -> Option<CnpLimit> {
        [CnpLimit::PAPER, CnpLimit::CONNECTX].into_iter().find(|limit| limit.interval == interval)
    }
}
