"""The keys of OpenSM's configuration: their valid values and defaults."""

from __future__ import annotations

from typing import NamedTuple


class Key(NamedTuple):
    """A key of the configuration."""

    kind: str
    """How its value is read: `bool`, `text`, `word`, `mask`, `entry` (shift:multiplier), `table` of entries,
    `u` or `i` and a number of bits, `sl` and the bits of the number that follows a service level."""
    default: str
    """The default that OpenSM 3.3.23 writes."""


WORDS = {
    "console": ("off", "local", "loopback", "socket"),
    "part_enforce": ("both", "in", "out", "off"),
}
"""Values of the keys that take one word of several."""

RANGES = {
    "lmc": (0, 7, 0),
    "m_key_protection_level": (0, 3, 2),
    "sm_priority": (0, 15, 0),
    "force_link_speed": (0, 15, 15),
    "force_link_speed_ext": (0, 31, 31),
    "fdr10": (0, 2, 1),
    "perfmgr_sweep_time_s": (1, 65535, 180),
    "perfmgr_max_outstanding_queries": (1, 2**32 - 1, 500),
}
"""The smallest and the largest value of some keys, and OpenSM's substitute for others."""

_TABLE = """\
guid u64 0x0000000000000000
m_key u64 0x0000000000000000
m_key_lease_period u16 0
m_key_protection_level u8 0
m_key_lookup bool TRUE
sm_key u64 0x0000000000000001
sa_key u64 0x0000000000000001
subnet_prefix u64 0xfe80000000000000
lmc u8 0
lmc_esp0 bool FALSE
sm_sl u8 0
packet_life_time u8 0x12
vl_stall_count u8 0x07
leaf_vl_stall_count u8 0x07
head_of_queue_lifetime u8 0x12
leaf_head_of_queue_lifetime u8 0x10
max_op_vls u8 5
force_link_speed u8 15
force_link_speed_ext u8 31
force_link_width u8 255
fdr10 u8 1
subnet_timeout u8 18
local_phy_errors_threshold u8 0x08
overrun_errors_threshold u8 0x08
use_mfttop bool TRUE
partition_config_file text /etc/opensm/partitions.conf
no_partition_enforcement bool FALSE
part_enforce word both
allow_both_pkeys bool FALSE
keep_pkey_indexes bool TRUE
sm_assigned_guid u8 0x00
sweep_interval u32 10
reassign_lids bool FALSE
force_heavy_sweep bool FALSE
sweep_on_trap bool TRUE
port_profile_switch_nodes bool FALSE
port_prof_ignore_file text (null)
hop_weights_file text (null)
port_search_ordering_file text (null)
dimn_ports_file text (null)
routing_engine text (null)
avoid_throttled_links bool FALSE
connect_roots bool FALSE
use_ucast_cache bool FALSE
lid_matrix_dump_file text (null)
lfts_file text (null)
root_guid_file text (null)
cn_guid_file text (null)
io_guid_file text (null)
quasi_ftree_indexing bool FALSE
max_reverse_hops u16 0
ids_guid_file text (null)
guid_routing_order_file text (null)
do_mesh_analysis bool FALSE
lash_start_vl u8 0
nue_max_num_vls u8 1
nue_include_switches bool FALSE
port_shifting bool FALSE
scatter_ports u32 0
guid_routing_order_no_scatter bool FALSE
sa_db_file text (null)
sa_db_dump bool FALSE
torus_config text /etc/opensm/torus-2QoS.conf
sm_priority u8 0
ignore_other_sm bool FALSE
sminfo_polling_timeout u32 10000
polling_retry_number u32 4
honor_guid2lid_file bool FALSE
max_wire_smps u32 4
max_wire_smps2 u32 4
max_smps_timeout u32 600000
transaction_timeout u32 200
transaction_retries u32 3
long_transaction_timeout u32 500
max_msg_fifo_timeout u32 10000
single_thread bool FALSE
daemon bool FALSE
sm_inactive bool FALSE
babbling_port_policy bool FALSE
drop_event_subscriptions bool FALSE
ipoib_mcgroup_creation_validation bool TRUE
mcgroup_join_validation bool TRUE
use_original_extended_sa_rates_only bool FALSE
use_optimized_slvl bool FALSE
fsync_high_avail_files bool TRUE
perfmgr bool FALSE
perfmgr_redir bool TRUE
perfmgr_sweep_time_s u16 180
perfmgr_max_outstanding_queries u32 500
perfmgr_ignore_cas bool FALSE
perfmgr_rm_nodes bool TRUE
perfmgr_log_errors bool TRUE
perfmgr_query_cpi bool TRUE
perfmgr_xmit_wait_log bool FALSE
perfmgr_xmit_wait_threshold u32 65535
event_db_dump_file text (null)
event_plugin_name text (null)
event_plugin_options text (null)
node_name_map_name text (null)
log_flags u8 0x03
force_log_flush bool FALSE
log_file text /var/log/opensm.log
log_max_size u32 0
accum_log_file bool TRUE
per_module_logging_file text /etc/opensm/per-module-logging.conf
dump_files_dir text /var/log/
enable_quirks bool FALSE
no_clients_rereg bool FALSE
disable_multicast bool FALSE
exit_on_fatal bool TRUE
console word off
console_port u16 10000
qos bool FALSE
qos_policy_file text /etc/opensm/qos-policy.conf
suppress_sl2vl_mad_status_errors bool FALSE
qos_max_vls u32 0
qos_high_limit i32 -1
qos_vlarb_high text (null)
qos_vlarb_low text (null)
qos_sl2vl text (null)
qos_ca_max_vls u32 0
qos_ca_high_limit i32 -1
qos_ca_vlarb_high text (null)
qos_ca_vlarb_low text (null)
qos_ca_sl2vl text (null)
qos_sw0_max_vls u32 0
qos_sw0_high_limit i32 -1
qos_sw0_vlarb_high text (null)
qos_sw0_vlarb_low text (null)
qos_sw0_sl2vl text (null)
qos_swe_max_vls u32 0
qos_swe_high_limit i32 -1
qos_swe_vlarb_high text (null)
qos_swe_vlarb_low text (null)
qos_swe_sl2vl text (null)
qos_rtr_max_vls u32 0
qos_rtr_high_limit i32 -1
qos_rtr_vlarb_high text (null)
qos_rtr_vlarb_low text (null)
qos_rtr_sl2vl text (null)
congestion_control bool FALSE
cc_key u64 0x0000000000000000
cc_max_outstanding_mads u32 500
cc_sw_cong_setting_control_map u32 0x0
cc_sw_cong_setting_victim_mask mask 0x0
cc_sw_cong_setting_credit_mask mask 0x0
cc_sw_cong_setting_threshold u8 0x00
cc_sw_cong_setting_packet_size u8 0
cc_sw_cong_setting_credit_starvation_threshold u8 0x00
cc_sw_cong_setting_credit_starvation_return_delay entry 0:0
cc_sw_cong_setting_marking_rate u16 0
cc_ca_cong_setting_port_control u16 0x0000
cc_ca_cong_setting_control_map u16 0x0000
cc_ca_cong_setting_ccti_timer sl16 0
cc_ca_cong_setting_ccti_increase sl8 0
cc_ca_cong_setting_trigger_threshold sl8 0
cc_ca_cong_setting_ccti_min sl8 0
cc_cct table (null)
prefix_routes_file text /etc/opensm/prefix-routes.conf
consolidate_ipv6_snm_req bool FALSE
log_prefix text (null)
"""


def _keys() -> dict[str, Key]:
    rows = (line.split(" ", 2) for line in _TABLE.splitlines())
    return {name: Key(kind, default) for name, kind, default in rows}


KEYS = _keys()
"""All keys that OpenSM 3.3.23 knows, in the order in which it writes them."""
