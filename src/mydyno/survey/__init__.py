"""Reads a live system into facts: the host by its files, the server by SQL.

survey.py   both together
server/     read.py sends the queries; the parsers next to it are pure
host/       machine.py: this machine or one over SSH; the readers next to it
"""

from mydyno.survey.survey import INTERVAL_SECONDS, survey

__all__ = ["INTERVAL_SECONDS", "survey"]
