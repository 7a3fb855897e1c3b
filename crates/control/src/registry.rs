//! Lists of schemes by name.
//!
//! A line of a list, `"name" => module::Type`, registers the scheme in `module.rs`, next to the file with the list. The
//! scenario table with that name is read into `module::Params`, from which `module::Type` is made. The first scheme of
//! a list is the default.
//!
//! - [`markers!`](crate::markers!) lists marking policies,
//! - [`echoes!`](crate::echoes!) lists ways to answer packets,
//! - [`responses!`](crate::responses!) lists responses.
//!
//! Each macro declares the modules, an enum of parameters (a [`becalm_schema::Choice`]), and an enum of running
//! schemes, which is also a scheme. The lists of this crate are in `marking/mod.rs`, `echo/mod.rs` and
//! `response/mod.rs`.

/// Common parts of all lists: modules, both enums, the default, the documentation.
#[doc(hidden)]
#[macro_export]
macro_rules! schemes {
    (@default $params:ident; $name:literal => $module:ident::$scheme:ident, $($rest:tt)*) => {
        impl Default for $params {
            fn default() -> Self {
                $params::$scheme($module::Params::default())
            }
        }
    };
    ($seam:literal, $params:ident, $running:ident; $($name:literal => $module:ident::$scheme:ident,)+) => {
        $(pub mod $module;)+

        $crate::becalm_schema::choice! {
            #[doc = concat!("The choice of a ", $seam, " scheme, with its parameters.")]
            pub enum $params {
                $(#[doc = concat!("The scheme [`", stringify!($module), "`].")]
                $scheme($module::Params) = $name),+
            }
        }

        $crate::schemes!(@default $params; $($name => $module::$scheme,)+);

        // The tag is explicit, since reading it from the niche of a field is slower.
        #[doc = concat!("A running ", $seam, " scheme.")]
        #[derive(Clone, Debug)]
        #[repr(u8)]
        pub enum $running {
            $(#[doc = concat!("The scheme [`", stringify!($module), "`].")]
            $scheme($module::$scheme)),+
        }

        impl $running {
            /// Descriptions of the schemes, in the order of their list.
            pub fn docs() -> Vec<$crate::SchemeDoc> {
                vec![$($crate::SchemeDoc::of::<$module::Params>(
                    $seam,
                    $name,
                    include_str!(concat!(stringify!($module), ".rs")),
                )),+]
            }
        }
    };
}

/// A list of marking policies: `markers! { Params, Running; "name" => module::Type, ... }`.
#[macro_export]
macro_rules! markers {
    ($params:ident, $running:ident; $($name:literal => $module:ident::$scheme:ident),+ $(,)?) => {
        $crate::schemes!("marking", $params, $running; $($name => $module::$scheme,)+);

        impl $crate::MarkingScheme for $running {
            type Params = $params;

            fn new(params: &$params, shape: $crate::becalm_fabric::policy::SwitchShape) -> Self {
                match params {
                    $($params::$scheme(params) => {
                        Self::$scheme(<$module::$scheme as $crate::MarkingScheme>::new(params, shape))
                    })+
                }
            }

            fn needs_finite_buffer(params: &$params) -> bool {
                match params {
                    $($params::$scheme(params) => {
                        <$module::$scheme as $crate::MarkingScheme>::needs_finite_buffer(params)
                    })+
                }
            }

            fn needs_credit(params: &$params) -> Option<$crate::becalm_schema::Conflict> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::MarkingScheme>::needs_credit(params)),+
                }
            }

            fn marks_at(
                params: &$params,
                shape: &$crate::becalm_fabric::policy::SwitchShape,
                rate: $crate::becalm_fabric::Rate,
            ) -> Option<u64> {
                match params {
                    $($params::$scheme(params) => {
                        <$module::$scheme as $crate::MarkingScheme>::marks_at(params, shape, rate)
                    })+
                }
            }

            fn takes_trains(params: &$params) -> bool {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::MarkingScheme>::takes_trains(params)),+
                }
            }

            fn conflicts(
                params: &$params,
                switches: &[$crate::becalm_fabric::policy::SwitchShape],
            ) -> Vec<$crate::becalm_schema::Conflict> {
                match params {
                    $($params::$scheme(params) => {
                        <$module::$scheme as $crate::MarkingScheme>::conflicts(params, switches)
                    })+
                }
            }
        }

        impl $crate::becalm_fabric::policy::Marker for $running {
            #[inline]
            fn arrived<V: $crate::becalm_fabric::policy::SwitchView>(
                &mut self,
                arrival: &$crate::becalm_fabric::policy::Arrival,
                switch: &V,
            ) {
                match self {
                    $(Self::$scheme(scheme) => scheme.arrived(arrival, switch)),+
                }
            }

            fn stored<V: $crate::becalm_fabric::policy::SwitchView>(
                &mut self,
                arrival: &$crate::becalm_fabric::policy::Arrival,
                switch: &V,
            ) {
                match self {
                    $(Self::$scheme(scheme) => scheme.stored(arrival, switch)),+
                }
            }

            #[inline]
            fn departing<V: $crate::becalm_fabric::policy::SwitchView>(
                &mut self,
                departure: &$crate::becalm_fabric::policy::Departure,
                switch: &V,
            ) -> bool {
                match self {
                    $(Self::$scheme(scheme) => scheme.departing(departure, switch)),+
                }
            }

            #[inline]
            fn left(
                &mut self,
                now: $crate::becalm_engine::Time,
                input: u16,
                output: u16,
                vl: u8,
            ) -> $crate::becalm_engine::Time {
                match self {
                    $(Self::$scheme(scheme) => scheme.left(now, input, output, vl)),+
                }
            }

            fn attention(&self) -> $crate::becalm_fabric::policy::Attention {
                match self {
                    $(Self::$scheme(scheme) => scheme.attention()),+
                }
            }

            fn sees_passing(&self) -> bool {
                match self {
                    $(Self::$scheme(scheme) => scheme.sees_passing()),+
                }
            }

            #[inline]
            fn is_congested(&self, output: u16, vl: u8) -> bool {
                match self {
                    $(Self::$scheme(scheme) => scheme.is_congested(output, vl)),+
                }
            }
        }
    };
}

/// A list of ways to answer packets: `echoes! { Params, Running; "name" => module::Type, ... }`.
#[macro_export]
macro_rules! echoes {
    ($params:ident, $running:ident; $($name:literal => $module:ident::$scheme:ident),+ $(,)?) => {
        $crate::schemes!("echo", $params, $running; $($name => $module::$scheme,)+);

        impl $crate::EchoScheme for $running {
            type Params = $params;

            fn new(params: &$params) -> Self {
                match params {
                    $($params::$scheme(params) => {
                        Self::$scheme(<$module::$scheme as $crate::EchoScheme>::new(params))
                    })+
                }
            }

            fn ack_every(params: &$params) -> Option<u32> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::EchoScheme>::ack_every(params)),+
                }
            }

            fn cnps(params: &$params) -> $crate::Cnps {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::EchoScheme>::cnps(params)),+
                }
            }

            fn takes_trains(params: &$params) -> bool {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::EchoScheme>::takes_trains(params)),+
                }
            }

            fn cnp_interval(params: &$params) -> Option<$crate::becalm_engine::Time> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::EchoScheme>::cnp_interval(params)),+
                }
            }

            fn adopt_limit(params: &mut $params, limit: &$crate::CnpLimit) {
                match params {
                    $($params::$scheme(params) => {
                        <$module::$scheme as $crate::EchoScheme>::adopt_limit(params, limit)
                    })+
                }
            }
        }

        impl $crate::becalm_fabric::policy::Echo for $running {
            // Two callers, of which trains need one: the other remains as fast as a single one.
            #[inline(always)]
            fn answer(
                &mut self,
                now: $crate::becalm_engine::Time,
                packet: &$crate::becalm_fabric::Packet,
                unanswered: &$crate::becalm_fabric::policy::Unanswered,
            ) -> $crate::becalm_fabric::policy::Answer {
                match self {
                    $(Self::$scheme(scheme) => scheme.answer(now, packet, unanswered)),+
                }
            }

            fn hears_requests(&self) -> bool {
                match self {
                    $(Self::$scheme(scheme) => scheme.hears_requests()),+
                }
            }

            fn cnp_delay(&self) -> $crate::becalm_engine::Time {
                match self {
                    $(Self::$scheme(scheme) => scheme.cnp_delay()),+
                }
            }
        }
    };
}

/// A list of responses: `responses! { Params, Running; "name" => module::Type, ... }`.
#[macro_export]
macro_rules! responses {
    ($params:ident, $running:ident; $($name:literal => $module:ident::$scheme:ident),+ $(,)?) => {
        $crate::schemes!("response", $params, $running; $($name => $module::$scheme,)+);

        impl $running {
            /// The companions of the responses, in the order of their list.
            pub fn all_companions() -> Vec<Option<$crate::Companions>> {
                vec![$(<$module::$scheme as $crate::ResponseScheme>::companions()),+]
            }
        }

        impl $crate::ResponseScheme for $running {
            type Params = $params;

            fn companions() -> Option<$crate::Companions> {
                None
            }

            fn new(params: &$params) -> Self {
                match params {
                    $($params::$scheme(params) => {
                        Self::$scheme(<$module::$scheme as $crate::ResponseScheme>::new(params))
                    })+
                }
            }

            fn feedback(params: &$params) -> $crate::Feedback {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::feedback(params)),+
                }
            }

            fn moves_window(params: &$params) -> bool {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::moves_window(params)),+
                }
            }

            fn ceiling(params: &$params) -> Option<(&'static str, f64)> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::ceiling(params)),+
                }
            }

            fn growth(params: &$params) -> Option<(f64, f64)> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::growth(params)),+
                }
            }

            fn largest_window(params: &$params) -> Option<f64> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::largest_window(params)),+
                }
            }

            fn counts_marks(params: &$params) -> bool {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::counts_marks(params)),+
                }
            }

            fn cnp_limit(params: &$params) -> Option<$crate::CnpLimit> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::cnp_limit(params)),+
                }
            }

            fn can_be_tried(params: &$params) -> bool {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::can_be_tried(params)),+
                }
            }

            fn delays(params: &$params) -> Option<Vec<f64>> {
                match params {
                    $($params::$scheme(params) => <$module::$scheme as $crate::ResponseScheme>::delays(params)),+
                }
            }
        }

        impl $crate::becalm_fabric::policy::Response for $running {
            fn start(&mut self, flow: &$crate::becalm_fabric::policy::FlowShape) {
                match self {
                    $(Self::$scheme(scheme) => scheme.start(flow)),+
                }
            }

            fn trail(&self) -> Option<u32> {
                match self {
                    $(Self::$scheme(scheme) => scheme.trail()),+
                }
            }

            fn is_steady(&self) -> bool {
                match self {
                    $(Self::$scheme(scheme) => scheme.is_steady()),+
                }
            }

            fn follows_sending(&self) -> bool {
                match self {
                    $(Self::$scheme(scheme) => scheme.follows_sending()),+
                }
            }

            #[inline]
            fn pace(&self) -> $crate::becalm_fabric::policy::Pace {
                match self {
                    $(Self::$scheme(scheme) => scheme.pace()),+
                }
            }

            #[inline]
            fn notice(&mut self, now: $crate::becalm_engine::Time, notice: &$crate::becalm_fabric::policy::Notice) {
                match self {
                    $(Self::$scheme(scheme) => scheme.notice(now, notice)),+
                }
            }

            #[inline]
            fn sent(&mut self, sent: &$crate::becalm_fabric::policy::Sent) {
                match self {
                    $(Self::$scheme(scheme) => scheme.sent(sent)),+
                }
            }

            #[inline]
            fn deadline(&self) -> Option<$crate::becalm_engine::Time> {
                match self {
                    $(Self::$scheme(scheme) => scheme.deadline()),+
                }
            }

            #[inline]
            fn react(
                &mut self,
                now: $crate::becalm_engine::Time,
                notice: &$crate::becalm_fabric::policy::Notice,
            ) -> ($crate::becalm_fabric::policy::Pace, Option<$crate::becalm_engine::Time>) {
                match self {
                    $(Self::$scheme(scheme) => scheme.react(now, notice)),+
                }
            }

            #[inline]
            fn paced_by(&mut self, sent: &$crate::becalm_fabric::policy::Sent) -> $crate::becalm_fabric::policy::Pace {
                match self {
                    $(Self::$scheme(scheme) => scheme.paced_by(sent)),+
                }
            }
        }
    };
}
