//! The virtual lanes of a scenario: the lanes of flows and of congestion notification packets (CNPs).

use becalm_control::{Cnps, EchoScheme, Echoing};
use becalm_fabric::{PacketConfig, Room, SwitchConfig, VlArbitration};

use crate::sections::Sections;
use crate::sections::flow_control::{CLASSES, FlowControl};
use crate::sections::packet::CnpLane;

/// Number of lanes of a link, without the management lane.
const LANES: u32 = 15;

impl Sections {
    /// Number of lanes that packets of a service level use along their path; 1 if they stay on one lane.
    pub(crate) fn lanes_of_level(&self) -> u32 {
        let law = self.switch.get().and_then(|switch| switch.paths.get());
        let detours = law.is_some_and(|law| law.makes_detours());
        self.topology.get().map_or(1, |topology| u32::from(topology.lanes(detours)))
    }

    /// The first lane of CNPs, if they have a separate one.
    pub(crate) fn cnp_vl(&self) -> Option<u8> {
        let (switch, packet) = (self.switch.get()?, self.packet.get()?);
        let pfc = matches!(switch.flow_control.get()?, FlowControl::Pfc(_));
        let cnps = Echoing::cnps(self.echo.get()?);
        let own = match packet.cnp_lane.get()? {
            Some(choice) => *choice == CnpLane::Own,
            None => packet.answers_sl.set().is_none() && (cnps == Cnps::Apart || pfc),
        };
        let lanes = self.lanes_of_level();
        let first = switch.vls.get()?.next_multiple_of(lanes);
        let most = if pfc { CLASSES } else { LANES };
        (own && cnps != Cnps::None && first + lanes <= most).then_some(first as u8)
    }

    /// Number of virtual lanes of every link, including the lane of CNPs.
    ///
    /// # Panics
    /// If the number could not be read.
    pub fn vls(&self) -> u8 {
        self.cnp_vl().map_or(*self.switch.vls as u8, |first| first + self.lanes_of_level() as u8)
    }

    /// The fabric's settings for switches with input buffers of this capacity.
    pub(crate) fn switch_config(&self, buffer: Room) -> SwitchConfig {
        let mut config = SwitchConfig { vls: self.vls(), ..self.switch.config(buffer) };
        if let (VlArbitration::Tables { high, .. }, Some(first)) = (&mut config.vl_arbitration, self.cnp_vl()) {
            high.extend((first..self.vls()).map(|vl| (vl, u8::MAX)));
        }
        config
    }

    /// The fabric's settings for packet sizes and for the lanes of answers.
    pub(crate) fn packet_config(&self) -> PacketConfig {
        let answers_vl = self.packet.answers_sl.map(|sl| self.switch.vl(sl).expect("checked") as u8);
        PacketConfig { answers_vl, cnp_vl: self.cnp_vl(), ..self.packet.sizes() }
    }
}
