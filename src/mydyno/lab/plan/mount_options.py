"""Mount options that a file system does not have, seen before a guest is booted for them.

A kernel is the only judge of an option, and only when it mounts. So a name that is close to a known one is
refused as a slip, and any other unknown name is a warning. Sources: mount(8), "FILESYSTEM-INDEPENDENT MOUNT
OPTIONS"; the kernel's Documentation/admin-guide/{ext4,xfs,jfs}.rst and filesystems/{ext2,f2fs}.rst; btrfs(5);
reiserfs and ext3: mount(8) of util-linux 2.38.
"""

from collections.abc import Iterator, Sequence

from mydyno.core.nearest import nearest
from mydyno.lab.plan.point import Point
from mydyno.lab.spec import Problem, Variant


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GENERAL = _words(
    """
    async atime auto context defaults defcontext dev diratime dirsync exec fscontext group iversion
    lazytime loud mand _netdev noatime noauto nodev nodiratime noexec nofail noiversion nolazytime
    nomand norelatime nostrictatime nosuid nosymfollow nouser owner relatime rootcontext rw silent
    strictatime suid symfollow sync user users
    """
)
_EXT = _words(
    """
    abort acl auto_da_alloc barrier block_validity bsddf bsdgroups check commit data data_err dax debug
    debug_want_extra_isize delalloc dioread_lock dioread_nolock discard errors grpid grpjquota grpquota
    i_version init_itable inode_readahead_blks jqfmt journal_async_commit journal_checksum journal_dev
    journal_ioprio journal_path max_batch_time max_dir_size_kb mb_optimize_scan mblk_io_submit
    min_batch_time minixdf nobarrier noacl noauto_da_alloc nobh bh noblock_validity nocheck nodelalloc
    nodiscard nogrpid noinit_itable noload nojournal_checksum nomblk_io_submit nombcache no_mbcache
    noprefetch_block_bitmaps noquota norecovery nouid32 nouser_xattr nowarn_on_error oldalloc orlov
    prjquota quota resgid resuid sb stripe sysvgroups test_dummy_encryption user_xattr usrjquota
    usrquota warn_on_error xip
    """
)
_OWN: dict[str, frozenset[str]] = {
    "ext2": _EXT,
    "ext3": _EXT,
    "ext4": _EXT,
    "xfs": _words(
        """
    allocsize attr2 noattr2 barrier nobarrier bsdgroups dax dax-flags delaylog nodelaylog discard
    nodiscard filestreams gqnoenforce gquota grpid grpquota ihashsize ikeep noikeep inode32 inode64
    largeio nolargeio logbsize logbufs logdev lifetime noalign nogrpid norecovery nouuid noquota
    osyncisosync pqnoenforce pquota prjquota qnoenforce quota rtdev sunit swalloc swidth sysvgroups
    uqnoenforce uquota usrquota wsync
    """
    ),
    "btrfs": _words(
        """
    acl noacl autodefrag noautodefrag barrier nobarrier check_int check_int_data check_int_print_mask
    clear_cache commit compress compress-force datacow nodatacow datasum nodatasum degraded device
    discard nodiscard enospc_debug noenospc_debug fatal_errors flushoncommit noflushoncommit fragment
    ignorebadroots ignoredatacsums inode_cache noinode_cache max_inline metadata_ratio nologreplay
    norecovery nospace_cache notreelog treelog nossd nossd_spread ref_verify recovery rescan_uuid_tree
    rescue skip_balance space_cache ssd ssd_spread subvol subvolid thread_pool usebackuproot
    user_subvol_rm_allowed
    """
    ),
    "jfs": _words(
        """
    discard nodiscard errors gid grpquota integrity iocharset nointegrity noquota quota resize uid umask
    usrquota
    """
    ),
    "reiserfs": _words(
        """
    acl noacl alloc attrs noattrs barrier block-allocator commit conv data data_err errors
    expose_privroot grpjquota grpquota hash hashed_relocation jdev jqfmt nolog nolargeio
    no_unhashed_relocation noborder notail tails replayonly resize test4 usrjquota usrquota user_xattr
    nouser_xattr
    """
    ),
    "f2fs": _words(
        """
    acl noacl active_logs age_extent_cache alloc_mode atgc background_gc barrier nobarrier checkpoint
    checkpoint_merge nocheckpoint_merge compress_algorithm compress_cache compress_chksum
    compress_extension compress_log_size compress_mode data_flush disable_ext_identify
    disable_roll_forward discard nodiscard discard_unit errors extent_cache noextent_cache fastboot
    fault_injection fault_type flush_merge noflush_merge fsync_mode gc_merge nogc_merge grpjquota
    grpquota heap no_heap inline_data noinline_data inline_dentry noinline_dentry inline_xattr
    noinline_xattr inline_xattr_size inlinecrypt io_bits jqfmt memory mode nat_bits nocompress_extension
    norecovery noquota prjjquota prjquota quota reserve_root resgid resuid test_dummy_encryption
    usrjquota usrquota user_xattr nouser_xattr whint_mode
    """
    ),
}


def mount_problems(described: Sequence[tuple[Point, Variant]]) -> Iterator[Problem]:
    """Options that are close to one that the volume's file system has."""
    for volume, filesystem, index, option, variant in _unknown(described):
        if (likely := _likely(option, filesystem)) is not None:
            yield variant.problem(
                ("setup", "storage", volume, "mount", index),
                f"{filesystem} has no mount option {option.partition('=')[0]}",
                nearest=likely,
            )


def mount_warnings(described: Sequence[tuple[Point, Variant]]) -> list[str]:
    """Options that nothing is known of."""
    sentences = {
        f"{filesystem} is not known to have the mount option {option}: the first trial tests it, and "
        "if it is refused no other trial is tried"
        for _, filesystem, _, option, _ in _unknown(described)
        if _likely(option, filesystem) is None
    }
    return sorted(sentences)


def _unknown(
    described: Sequence[tuple[Point, Variant]],
) -> Iterator[tuple[str, str, int, str, Variant]]:
    for point, variant in described:
        for name, volume in point.setup.storage.volumes.items() if point.setup.storage else ():
            for index, option in enumerate(volume.mount):
                word = option.partition("=")[0]
                if volume.filesystem in _OWN and word not in _GENERAL | _OWN[volume.filesystem]:
                    yield name, volume.filesystem, index, option, variant


def _likely(option: str, filesystem: str) -> str | None:
    word, equals, value = option.partition("=")
    likely = nearest(word, sorted(_GENERAL | _OWN[filesystem]))
    return None if likely is None else f"{likely}{equals}{value}"
