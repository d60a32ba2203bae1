"""A dashboard for Grafana over the metrics of `exposition`, as the JSON that its import page takes.

Source: Grafana documentation, "Dashboard JSON model" and "Export and import dashboards".
"""

import json
from typing import Any

_SOURCE = {"type": "prometheus", "uid": "${DS_PROMETHEUS}"}
_WHICH = 'run=~"$run",point=~"$point",trial=~"$trial"'
_WIDTH, _HEIGHT = 12, 8

Query = tuple[str, str]
"""PromQL with SELECTOR in place of the chosen run, and the legend."""

_PANELS: tuple[tuple[str, str, tuple[Query, ...]], ...] = (
    (
        "Throughput",
        "cps",
        (
            ("mydyno_interval_queries_per_second{SELECTOR}", "queries {{trial}}"),
            ("mydyno_interval_ios_per_second{SELECTOR}", "I/Os {{trial}}"),
            ("mydyno_interval_transactions_per_second{SELECTOR}", "transactions {{trial}}"),
        ),
    ),
    (
        "Latency",
        "s",
        (('mydyno_interval_latency_seconds{SELECTOR,quantile!="1"}', "p{{quantile}} {{trial}}"),),
    ),
    (
        "Connections and threads",
        "short",
        (
            ("mydyno_interval_connections{SELECTOR}", "connections {{trial}}"),
            ("mydyno_status_threads_running{SELECTOR}", "running {{trial}}"),
            ("rate(mydyno_status_threads_created_total{SELECTOR}[$window])", "created/s {{trial}}"),
        ),
    ),
    ("Errors", "short", (("mydyno_interval_errors{SELECTOR}", "errors {{trial}}"),)),
    (
        "CPU of the machine",
        "short",
        (
            (
                'sum by (trial, mode) (rate(mydyno_host_cpu_seconds_total{SELECTOR,mode!="idle"}[$window]))',
                "{{mode}} {{trial}}",
            ),
        ),
    ),
    (
        "CPU of server and client",
        "short",
        (
            ("sum by (trial) (rate(mydyno_server_cpu_seconds_total{SELECTOR}[$window]))", "server {{trial}}"),
            ("sum by (trial) (rate(mydyno_client_cpu_seconds_total{SELECTOR}[$window]))", "client {{trial}}"),
        ),
    ),
    (
        "Disks: share of time at work",
        "percentunit",
        (("rate(mydyno_disk_busy_seconds_total{SELECTOR}[$window])", "{{device}} {{trial}}"),),
    ),
    (
        "Disks: bytes",
        "Bps",
        (
            ("rate(mydyno_disk_read_bytes_total{SELECTOR}[$window])", "read {{device}} {{trial}}"),
            ("rate(mydyno_disk_written_bytes_total{SELECTOR}[$window])", "written {{device}} {{trial}}"),
        ),
    ),
    (
        "InnoDB: buffer pool",
        "short",
        (
            (
                "rate(mydyno_status_innodb_buffer_pool_reads_total{SELECTOR}[$window])",
                "read from disk {{trial}}",
            ),
            ("mydyno_status_innodb_buffer_pool_pages_dirty{SELECTOR}", "dirty pages {{trial}}"),
        ),
    ),
    (
        "InnoDB: locks, log and syncs",
        "short",
        (
            ("rate(mydyno_status_innodb_row_lock_waits_total{SELECTOR}[$window])", "lock waits {{trial}}"),
            ("rate(mydyno_status_innodb_log_writes_total{SELECTOR}[$window])", "log writes {{trial}}"),
            ("rate(mydyno_status_innodb_data_fsyncs_total{SELECTOR}[$window])", "fsyncs {{trial}}"),
        ),
    ),
    (
        "Memory of the server",
        "bytes",
        (("mydyno_server_resident_memory_bytes{SELECTOR}", "{{trial}}"),),
    ),
    ("Valid trials", "short", (("mydyno_trial{SELECTOR}", "{{trial}} {{setting}}"),)),
)


def dashboard() -> str:
    """The whole file."""
    return json.dumps(_dashboard(), indent=1) + "\n"


def _dashboard() -> dict[str, Any]:
    return {
        "__inputs": [
            {
                "name": "DS_PROMETHEUS",
                "label": "Prometheus",
                "description": "Where `promtool tsdb create-blocks-from openmetrics` has put the run",
                "type": "datasource",
                "pluginId": "prometheus",
                "pluginName": "Prometheus",
            }
        ],
        "__requires": [
            {"type": "grafana", "id": "grafana", "name": "Grafana", "version": "10.0.0"},
            {"type": "datasource", "id": "prometheus", "name": "Prometheus", "version": "1.0.0"},
            {"type": "panel", "id": "timeseries", "name": "Time series", "version": ""},
        ],
        "id": None,
        "uid": "mydyno-run",
        "title": "mydyno: a run over time",
        "description": "Samples and intervals of mydyno's trials. Set the time range to that of the run.",
        "tags": ["mydyno", "mysql", "mariadb"],
        "schemaVersion": 38,
        "version": 1,
        "editable": True,
        "graphTooltip": 1,
        "timezone": "utc",
        "time": {"from": "now-7d", "to": "now"},
        "refresh": "",
        "templating": {
            "list": [
                _chosen("run", "label_values(mydyno_trial, run)", several=False),
                _chosen("point", 'label_values(mydyno_trial{run=~"$run"}, point)', several=True),
                _chosen(
                    "trial", 'label_values(mydyno_trial{run=~"$run",point=~"$point"}, trial)', several=True
                ),
                _window(),
            ]
        },
        "annotations": {"list": []},
        "panels": [
            _panel(place, title, unit, queries) for place, (title, unit, queries) in enumerate(_PANELS)
        ],
    }


def _panel(place: int, title: str, unit: str, queries: tuple[Query, ...]) -> dict[str, Any]:
    return {
        "id": place + 1,
        "type": "timeseries",
        "title": title,
        "datasource": _SOURCE,
        "gridPos": {
            "h": _HEIGHT,
            "w": _WIDTH,
            "x": _WIDTH * (place % 2),
            "y": _HEIGHT * (place // 2),
        },
        "fieldConfig": {
            "defaults": {
                "unit": unit,
                "min": 0,
                "custom": {"drawStyle": "line", "lineWidth": 1, "showPoints": "auto", "spanNulls": False},
            },
            "overrides": [],
        },
        "options": {
            "legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
            "tooltip": {"mode": "multi", "sort": "desc"},
        },
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": _SOURCE,
                "expr": query.replace("SELECTOR", _WHICH),
                "legendFormat": legend,
            }
            for number, (query, legend) in enumerate(queries)
        ],
    }


def _chosen(name: str, query: str, *, several: bool) -> dict[str, Any]:
    return {
        "name": name,
        "label": name,
        "type": "query",
        "datasource": _SOURCE,
        "query": {"query": query, "refId": name},
        "definition": query,
        # On a change of the time range: a run of last year is not there today.
        "refresh": 2,
        "sort": 2 if name == "run" else 1,
        "multi": several,
        "includeAll": several,
        "current": {},
        "options": [],
    }


def _window() -> dict[str, Any]:
    """Over how long a rate is taken: a few samples, which are a second apart as a rule."""
    widths = ("5s", "10s", "30s", "1m", "5m")
    return {
        "name": "window",
        "label": "rates over",
        "type": "custom",
        "query": ",".join(widths),
        "current": {"selected": True, "text": widths[0], "value": widths[0]},
        "options": [{"text": each, "value": each, "selected": each == widths[0]} for each in widths],
        "multi": False,
        "includeAll": False,
    }
