"""What the parts of a phase's time are called, and how each is calculated, in words."""

from __future__ import annotations

from collections.abc import Mapping

from mydyno.lab.analysis.time_spent import Key

LABEL: Mapping[Key, str] = {
    "all": "connections",
    "statements": "statements",
    "row-locks": "row locks",
    "commit": "COMMIT (log flush)",
    "cpu-user": "server CPU, user",
    "cpu-system": "server CPU, system",
    "between": "between client and server",
    "unknown": "not accounted for",
    "connecting": "connecting",
    "client": "client",
    "read": "reads",
    "write": "writes",
    "fsync": "fsyncs",
}
KEYS: tuple[Key, ...] = tuple(LABEL)
"""Their order is their number in the page's data."""

FORMULA: Mapping[Key, str] = {
    "all": "Connections times the seconds that were measured.",
    "statements": "Statements times their mean latency, timed by the client.",
    "row-locks": "Growth of Innodb_row_lock_time between two samples.",
    "commit": "An estimate: COMMIT statements times their mean latency, less the CPU time that a statement "
    "needs on average. Most of it is waiting for the log flush, which no server variable measures "
    "separately.",
    "cpu-user": "Growth of the server process's CPU time between two samples, background threads included.",
    "cpu-system": "Growth of the server process's CPU time between two samples, background threads included.",
    "between": "Client time minus server time (Query_time) of the statements: network, and waiting for a "
    "CPU on either side.",
    "unknown": "The rest: waiting for a CPU, for reads, and for what is not measured.",
    "connecting": "Connections that were opened times their mean time, timed by the client.",
    "client": "The rest, in which no statement was running: the client's own work and its pauses; includes "
    "failed statements.",
    "read": "Reads times their mean latency, timed by fio.",
    "write": "Writes times their mean latency, timed by fio.",
    "fsync": "fsyncs times their mean latency, timed by fio.",
}
