//! A set of equal ports.

/// The equal ports of a switch towards a host.
#[derive(Clone, Copy, Debug)]
pub struct PortSet<'a> {
    /// Number of the set within its switch.
    number: u32,
    ports: Ports<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Ports<'a> {
    /// The first port and the number of ports.
    Range(u16, u16),
    List(&'a [u16]),
}

impl<'a> PortSet<'a> {
    /// A set of one port, or an empty set.
    pub(super) fn single(port: Option<u16>) -> PortSet<'a> {
        PortSet { number: 0, ports: port.map_or(Ports::Range(0, 0), |port| Ports::Range(port, 1)) }
    }

    /// A set of consecutive ports.
    pub(super) fn range(number: u32, first: u16, len: u16) -> PortSet<'a> {
        PortSet { number, ports: Ports::Range(first, len) }
    }

    /// A set of the ports in a stored list.
    pub(crate) fn list(number: u32, ports: &'a [u16]) -> PortSet<'a> {
        PortSet { number, ports: Ports::List(ports) }
    }

    /// Number of the set within its switch. Sets of a single port are not numbered.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Number of ports.
    #[inline]
    pub fn len(&self) -> usize {
        match self.ports {
            Ports::Range(_, len) => usize::from(len),
            Ports::List(list) => list.len(),
        }
    }

    /// Whether no port leads to the host.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The port at an index.
    ///
    /// # Panics
    /// If the index is out of range.
    #[inline]
    pub fn get(&self, place: usize) -> u16 {
        match self.ports {
            Ports::Range(first, len) => {
                assert!(place < usize::from(len), "{place} of {len}");
                first + place as u16
            }
            Ports::List(list) => list[place],
        }
    }

    /// All ports.
    pub fn iter(self) -> impl Iterator<Item = u16> + 'a {
        (0..self.len()).map(move |place| self.get(place))
    }
}
