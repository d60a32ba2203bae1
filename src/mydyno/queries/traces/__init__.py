"""Traces: what connections sent to a server, and when (docs/reference/trace-format.md).

records   what the engine reports of a trace
engine    logs to a trace, and a trace shown, filtered, cut and merged, through the engine
text      a trace for people
"""

from mydyno.queries.traces.engine import Selection, capture_logs, merge_traces, select_from, summary_of
from mydyno.queries.traces.records import Summary, Trace

__all__ = ["Selection", "Summary", "Trace", "capture_logs", "merge_traces", "select_from", "summary_of"]
