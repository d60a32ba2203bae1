//! What a header can say of a statement in numbers and flags, one row an attribute.

use serde::Serialize;

/// What an attribute's numbers are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Microseconds.
    Us,
    Count,
    Bytes,
    /// 1 for yes, 0 for no.
    Flag,
}

macro_rules! attributes {
    ($($variant:ident $key:literal $name:literal $unit:ident;)*) => {
        /// One attribute; its number is its place in [`crate::entry::Values`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Attribute { $($variant),* }

        impl Attribute {
            pub const ALL: &[Attribute] = &[$(Attribute::$variant),*];

            /// As logs spell it in front of the colon.
            pub const fn key(self) -> &'static str {
                match self { $(Attribute::$variant => $key),* }
            }

            /// As messages and filters spell it.
            pub fn name(self) -> &'static str {
                match self { $(Attribute::$variant => $name),* }
            }

            pub const fn unit(self) -> Unit {
                match self { $(Attribute::$variant => Unit::$unit),* }
            }
        }
    };
}

attributes! {
    QueryTime "Query_time" "query_time" Us;
    LockTime "Lock_time" "lock_time" Us;
    RowsSent "Rows_sent" "rows_sent" Count;
    RowsExamined "Rows_examined" "rows_examined" Count;
    // MariaDB, Percona and MySQL's log_slow_extra.
    RowsAffected "Rows_affected" "rows_affected" Count;
    BytesSent "Bytes_sent" "bytes_sent" Bytes;
    // Percona and MySQL's log_slow_extra: whether it ended with an error, and whether by KILL.
    Failed "Last_errno" "failed" Flag;
    Killed "Killed" "killed" Flag;
    // MariaDB and Percona: the plan. MySQL's log_slow_extra has the counts, under other keys.
    QueryCacheHit "QC_hit" "qc_hit" Flag;
    FullScan "Full_scan" "full_scan" Flag;
    FullJoin "Full_join" "full_join" Flag;
    TmpTable "Tmp_table" "tmp_table" Flag;
    TmpTableOnDisk "Tmp_table_on_disk" "tmp_table_on_disk" Flag;
    TmpTables "Tmp_tables" "tmp_tables" Count;
    TmpDiskTables "Tmp_disk_tables" "tmp_disk_tables" Count;
    TmpTableSizes "Tmp_table_sizes" "tmp_table_sizes" Bytes;
    MaxTmpDiskSpaceUsed "Max_tmp_disk_space_used" "max_tmp_disk_space_used" Bytes;
    Filesort "Filesort" "filesort" Flag;
    FilesortOnDisk "Filesort_on_disk" "filesort_on_disk" Flag;
    PriorityQueue "Priority_queue" "priority_queue" Flag;
    MergePasses "Merge_passes" "merge_passes" Count;
    // MariaDB's log_slow_verbosity=engine.
    PagesAccessed "Pages_accessed" "pages_accessed" Count;
    PagesRead "Pages_read" "pages_read" Count;
    PagesPrefetched "Pages_prefetched" "pages_prefetched" Count;
    PagesUpdated "Pages_updated" "pages_updated" Count;
    OldRowsRead "Old_rows_read" "old_rows_read" Count;
    PagesReadTime "Pages_read_time" "pages_read_time" Us;
    EngineTime "Engine_time" "engine_time" Us;
    // Percona.
    RowsRead "Rows_read" "rows_read" Count;
    InnodbReads "InnoDB_IO_r_ops" "innodb_io_r_ops" Count;
    InnodbReadBytes "InnoDB_IO_r_bytes" "innodb_io_r_bytes" Bytes;
    InnodbReadWait "InnoDB_IO_r_wait" "innodb_io_r_wait" Us;
    InnodbRecordLockWait "InnoDB_rec_lock_wait" "innodb_rec_lock_wait" Us;
    InnodbQueueWait "InnoDB_queue_wait" "innodb_queue_wait" Us;
    InnodbPagesDistinct "InnoDB_pages_distinct" "innodb_pages_distinct" Count;
    // One in so many was logged.
    RateLimit "Log_slow_rate_limit" "log_slow_rate_limit" Count;
    // MySQL's log_slow_extra.
    BytesReceived "Bytes_received" "bytes_received" Bytes;
    ReadFirst "Read_first" "read_first" Count;
    ReadLast "Read_last" "read_last" Count;
    ReadKey "Read_key" "read_key" Count;
    ReadNext "Read_next" "read_next" Count;
    ReadPrev "Read_prev" "read_prev" Count;
    ReadRnd "Read_rnd" "read_rnd" Count;
    ReadRndNext "Read_rnd_next" "read_rnd_next" Count;
    SortRangeCount "Sort_range_count" "sort_range_count" Count;
    SortRows "Sort_rows" "sort_rows" Count;
    SortScanCount "Sort_scan_count" "sort_scan_count" Count;
    TmpTableSizeHits "Count_hit_tmp_table_size" "count_hit_tmp_table_size" Count;
}

impl Attribute {
    pub const COUNT: usize = Self::ALL.len();
}
