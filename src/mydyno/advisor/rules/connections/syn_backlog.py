"""How many half-open connections the kernel remembers.

net.ipv4.tcp_max_syn_backlog bounds the connections whose handshake is not finished. When the queue is full
the kernel answers with SYN cookies (where they are on) or drops the request. On a database in a private
network that is rare; a finding is made only when the kernel's counters show that it happened.
"""

from mydyno.advisor.rules import *

_NAME = "net.ipv4.tcp_max_syn_backlog"
_WANTED = 8192


@Rule(
    checks="whether the queue of half-open TCP connections was ever full",
    why="A dropped handshake is tried again after a second.",
    expected="no retried handshakes in bursts",
    risk="some memory in a flood of connection requests",
    sources=(
        "Linux kernel documentation, IP sysctl, tcp_max_syn_backlog and tcp_syncookies",
        "tcp(7), Linux manual page",
    ),
)
def rule(system: System, _: Targets) -> Judgement:
    kernel = require(system.host, _NAME).kernel
    now = require(kernel.number(_NAME), _NAME)
    cookies = kernel.counters.get("TcpExtTCPReqQFullDoCookies")
    drops = kernel.counters.get("TcpExtTCPReqQFullDrop")
    if cookies is None and drops is None:
        return Unknown("how often the queue of half-open connections was full (/proc/net/netstat)")
    full = (cookies or 0) + (drops or 0)
    numbers = f"{_NAME} is {now}; the queue was full {full} times since boot"
    if not full:
        return Fine(numbers)
    if now >= _WANTED:
        return Fine(f"{numbers}: a longer one would not help against a SYN flood")
    return finding(
        title=f"The queue of half-open connections was full {full} times",
        evidence=(f"{_NAME} = {now}", f"answered with a cookie: {cookies or 0}, dropped: {drops or 0}"),
        recommendation=f"set {_NAME} to {_WANTED}",
        changes=(SetSysctl(name=_NAME, value=str(_WANTED), was=str(now)),),
        effect=better("latency", "small"),
    )
