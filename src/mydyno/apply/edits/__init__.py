"""What a change makes of the system's files: the new texts, computed from the old ones; pure, a kind a file.

    sysctl.py        /etc/sysctl.d/99-mydyno.conf
    tmpfiles.py      /etc/tmpfiles.d/mydyno.conf
    udev.py          /etc/udev/rules.d/99-mydyno.rules
    unit.py          /etc/systemd/system/UNIT.d/zz-mydyno.conf
    fstab.py         /etc/fstab, one field of one line
    option_file.py   zz-mydyno.cnf in the folder that the server reads last, or the end of its last file

Each takes the texts and a change, merges it with what mydyno wrote before, and makes sure that nothing read
later says otherwise. A change that cannot be made that way raises RefusedError with the reason.
"""
