"""Accounts without a user name.

Such an account lets anyone log in from its host, under any name, mostly without a password. It also hides
other accounts: the server sorts accounts by host first, so that ''@'localhost' is taken for a client on the
machine before 'app'@'%' is, and the application gets "Access denied" with the right password. Releases
before MySQL 5.7 made them at installation, and upgrades keep them.
"""

from mydyno.advisor.names import account
from mydyno.advisor.rules import *

_OF_THE_MACHINE = frozenset({"localhost", "127.0.0.1", "::1"})


@Rule(
    checks="accounts whose user name is empty",
    why="They let anyone log in, and the server prefers them to named accounts with a less specific host.",
    expected="only named accounts can log in, and none is hidden by an anonymous one; no effect on speed",
    risk="a program that gives no user name can no longer log in",
    sources=(
        "MySQL Reference Manual, Securing the Initial MySQL Account; Access Control, Stage 1",
        "MariaDB Documentation, mariadb-secure-installation",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    accounts = require(system.server.accounts, "mysql.user")
    hosts = accounts.anonymous_hosts
    if not hosts:
        return Fine(f"each of {counted(accounts.number, 'account')} has a user name")
    from_elsewhere = [host for host in hosts if host not in _OF_THE_MACHINE]
    return finding(
        title=f"Anyone may log in from {first(hosts)}, under any user name",
        evidence=(
            f"{counted(len(hosts), 'account')} of {accounts.number} without a user name:"
            f" {first([account('', host) for host in hosts])}",
        ),
        recommendation="drop them, and create a named account with a password for each user of them",
        changes=by_hand(
            "check their privileges, then drop them",
            *tuple(
                command
                for host in hosts[:SHOWN]
                for command in (f"SHOW GRANTS FOR {account('', host)};", f"DROP USER {account('', host)};")
            ),
        ),
        severity=Severity.HIGH if from_elsewhere else Severity.MEDIUM,
        effect=better("safety", "large" if from_elsewhere else "medium"),
    )
