// SPDX-License-Identifier: Apache-2.0
//! The part of Perfetto's trace format that is read; see the module above. Names of threads are
//! bytes: the kernel cuts them after 15, in the middle of a sign if need be.

use prost::Message;

#[derive(Clone, PartialEq, Message)]
pub struct Packet {
    #[prost(message, optional, tag = "1")]
    pub ftrace_events: Option<Bundle>,
    #[prost(bytes = "vec", tag = "50")]
    pub compressed_packets: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Bundle {
    #[prost(uint32, optional, tag = "1")]
    pub cpu: Option<u32>,
    #[prost(message, repeated, tag = "2")]
    pub event: Vec<FtraceEvent>,
    #[prost(bool, optional, tag = "3")]
    pub lost_events: Option<bool>,
    #[prost(message, optional, tag = "4")]
    pub compact_sched: Option<Compact>,
}

#[derive(Clone, PartialEq, Message)]
pub struct FtraceEvent {
    #[prost(uint64, optional, tag = "1")]
    pub timestamp: Option<u64>,
    #[prost(uint32, optional, tag = "2")]
    pub pid: Option<u32>,
    #[prost(message, optional, tag = "4")]
    pub sched_switch: Option<Switch>,
    #[prost(uint32, optional, tag = "5")]
    pub common_flags: Option<u32>,
    #[prost(message, optional, tag = "17")]
    pub sched_wakeup: Option<Wake>,
    #[prost(message, optional, tag = "20")]
    pub sched_waking: Option<Wake>,
    #[prost(message, optional, tag = "114")]
    pub sched_wakeup_new: Option<Wake>,
}

#[derive(Clone, PartialEq, Message)]
pub struct Switch {
    #[prost(bytes = "vec", tag = "1")]
    pub prev_comm: Vec<u8>,
    #[prost(int32, tag = "2")]
    pub prev_pid: i32,
    #[prost(int64, tag = "4")]
    pub prev_state: i64,
    #[prost(bytes = "vec", tag = "5")]
    pub next_comm: Vec<u8>,
    #[prost(int32, tag = "6")]
    pub next_pid: i32,
    #[prost(int32, tag = "7")]
    pub next_prio: i32,
}

#[derive(Clone, PartialEq, Message)]
pub struct Wake {
    #[prost(bytes = "vec", tag = "1")]
    pub comm: Vec<u8>,
    #[prost(int32, tag = "2")]
    pub pid: i32,
}

/// Events as columns.
#[derive(Clone, PartialEq, Message)]
pub struct Compact {
    #[prost(uint64, repeated, tag = "1")]
    pub switch_timestamp: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    pub switch_prev_state: Vec<i64>,
    #[prost(int32, repeated, tag = "3")]
    pub switch_next_pid: Vec<i32>,
    #[prost(int32, repeated, tag = "4")]
    pub switch_next_prio: Vec<i32>,
    #[prost(bytes = "vec", repeated, tag = "5")]
    pub intern_table: Vec<Vec<u8>>,
    #[prost(uint32, repeated, tag = "6")]
    pub switch_next_comm_index: Vec<u32>,
    #[prost(uint64, repeated, tag = "7")]
    pub waking_timestamp: Vec<u64>,
    #[prost(int32, repeated, tag = "8")]
    pub waking_pid: Vec<i32>,
    #[prost(uint32, repeated, tag = "11")]
    pub waking_comm_index: Vec<u32>,
    #[prost(uint32, repeated, tag = "12")]
    pub waking_common_flags: Vec<u32>,
}
