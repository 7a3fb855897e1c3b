//! The measured window, and the end of a run that ends with its jobs or messages.

use becalm_engine::Time;
use becalm_fabric::{SourceSpec, Traffic};

use crate::scenario::Scenario;
use crate::sections::run::End;
use becalm_model::Model;

impl Scenario {
    /// Start of the measured window.
    pub(crate) fn measured_from(&self) -> Time {
        let run = &self.sections.run;
        match *run.end {
            End::Duration | End::Jobs => *run.warmup,
            End::Delivered => {
                let sources = self.plan.sources.iter().map(|source| source.start);
                let first = sources.chain(self.job_starts()).min().unwrap_or(Time::ZERO);
                first.max(*run.warmup).min(Time(run.duration.0 - 1))
            }
        }
    }

    /// Whether a run ends at this time, before its full duration.
    pub(super) fn has_ended(&self, model: &Model, now: Time) -> bool {
        match *self.sections.run.end {
            End::Duration => false,
            End::Jobs => now >= self.last_job().unwrap_or(Time::MAX) && model.open_ranks() == 0,
            End::Delivered => now > self.last_post() && model.open_ranks() == 0 && model.is_drained(),
        }
    }

    /// The latest start of a job.
    pub(super) fn last_job(&self) -> Option<Time> {
        self.job_starts().max()
    }

    fn job_starts(&self) -> impl Iterator<Item = Time> {
        self.sections.jobs.iter().map(|job| *job.start)
    }

    /// Time after which no source posts messages and all jobs have started.
    fn last_post(&self) -> Time {
        let last = |source: &SourceSpec| match source.traffic {
            Traffic::Batch { .. } => source.start,
            Traffic::Greedy { .. } | Traffic::OnOff { .. } | Traffic::Poisson { .. } => source.stop,
        };
        self.plan.sources.iter().map(last).chain(self.job_starts()).max().unwrap_or(Time::ZERO)
    }
}
