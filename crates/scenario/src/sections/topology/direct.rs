//! Direct networks, where every switch has hosts, and packets change lanes so that buffers never wait in a cycle.

use becalm_schema::Located;

use super::generator::Deadlock;
use crate::sections::routes::Route;

/// The setting of a direct network that permits routes that can deadlock, unless they are allowed.
pub(super) fn deadlock(
    change_vls: &Located<bool>,
    allow_cycles: bool,
    routes: &Located<Vec<Located<Route>>>,
) -> Option<Deadlock> {
    if allow_cycles || (**change_vls && routes.is_empty()) {
        return None;
    }
    let place = if **change_vls { routes.place() } else { change_vls.place() };
    let advice = "set change_vls = true and remove routes, or set allow_cycles = true to run anyway";
    Some(Deadlock { place, advice })
}
