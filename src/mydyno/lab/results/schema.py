"""The tables of lab.sqlite, one migration a version. docs/reference/lab-format.md explains them to people.

A migration that was released is never edited: append a new one. `PRAGMA user_version` of a lab is the number
of migrations that made it.
"""

APPLICATION_ID = 0x4D59444E
"""`MYDN`: marks the file as a mydyno lab for file(1) and for ourselves (PRAGMA application_id)."""

_FIRST = (
    """
    CREATE TABLE runs (
        run_id INTEGER PRIMARY KEY,
        folder TEXT NOT NULL UNIQUE,
        experiment TEXT NOT NULL,
        size TEXT NOT NULL,
        question TEXT,
        source TEXT,
        spec_file TEXT NOT NULL,
        spec_text TEXT NOT NULL,
        plan_fingerprint TEXT NOT NULL, -- runs of one plan share it
        seed TEXT NOT NULL, -- decimal: seeds go up to 2^64 - 1, SQLite integers only to 2^63 - 1
        planned_trials INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        mydyno_version TEXT NOT NULL
    )
    """,
    """
    CREATE TABLE factor_levels (
        run_id INTEGER NOT NULL REFERENCES runs,
        factor_position INTEGER NOT NULL,
        factor TEXT NOT NULL,
        level_position INTEGER NOT NULL,
        level TEXT NOT NULL,
        PRIMARY KEY (run_id, factor, level)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE points (
        run_id INTEGER NOT NULL REFERENCES runs,
        point_id TEXT NOT NULL,
        position INTEGER NOT NULL,
        title TEXT NOT NULL,
        PRIMARY KEY (run_id, point_id)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE point_levels (
        run_id INTEGER NOT NULL,
        point_id TEXT NOT NULL,
        factor TEXT NOT NULL,
        level TEXT NOT NULL,
        PRIMARY KEY (run_id, point_id, factor),
        FOREIGN KEY (run_id, point_id) REFERENCES points
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE environments (
        run_id INTEGER NOT NULL REFERENCES runs,
        start INTEGER NOT NULL, -- 1 for the first start of the run, more when it was resumed
        name TEXT NOT NULL,
        value, -- text, integer, real or NULL, as the fact is
        PRIMARY KEY (run_id, start, name)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE trials (
        trial_key INTEGER PRIMARY KEY,
        run_id INTEGER NOT NULL REFERENCES runs,
        trial_id TEXT NOT NULL,
        attempt INTEGER NOT NULL,
        position INTEGER NOT NULL,
        block INTEGER NOT NULL,
        point_id TEXT NOT NULL,
        seed TEXT NOT NULL,
        status TEXT NOT NULL CHECK (status IN ('valid', 'invalid')),
        started_at TEXT NOT NULL,
        seconds REAL NOT NULL,
        server_version TEXT,
        durability TEXT,
        folder TEXT NOT NULL,
        UNIQUE (run_id, trial_id, attempt),
        FOREIGN KEY (run_id, point_id) REFERENCES points
    )
    """,
    """
    CREATE TABLE invalidities (
        trial_key INTEGER NOT NULL REFERENCES trials,
        position INTEGER NOT NULL,
        check_name TEXT NOT NULL,
        message TEXT NOT NULL,
        phase INTEGER,
        PRIMARY KEY (trial_key, position)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE settings (
        trial_key INTEGER NOT NULL REFERENCES trials,
        name TEXT NOT NULL,
        asked TEXT, -- NULL: not asked for
        in_force TEXT, -- NULL: the server did not say
        PRIMARY KEY (trial_key, name)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE counters (
        trial_key INTEGER NOT NULL REFERENCES trials,
        name TEXT NOT NULL,
        value NUMERIC NOT NULL,
        PRIMARY KEY (trial_key, name)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE phases (
        trial_key INTEGER NOT NULL REFERENCES trials,
        phase INTEGER NOT NULL,
        connections_asked INTEGER NOT NULL,
        connections_reached INTEGER NOT NULL,
        started_s REAL NOT NULL,
        measured_from_s REAL,
        measured_to_s REAL,
        ended_s REAL NOT NULL,
        queries INTEGER NOT NULL,
        transactions INTEGER NOT NULL,
        queries_per_second REAL,
        transactions_per_second REAL,
        client_cpu_user_s REAL,
        client_cpu_system_s REAL,
        latency_kind TEXT NOT NULL CHECK (latency_kind IN ('service', 'response')),
        aborted TEXT,
        backlog_max INTEGER,
        PRIMARY KEY (trial_key, phase)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE statements (
        trial_key INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        position INTEGER NOT NULL,
        kind TEXT NOT NULL,
        count INTEGER NOT NULL,
        errors INTEGER NOT NULL,
        rows INTEGER NOT NULL,
        PRIMARY KEY (trial_key, phase, kind),
        FOREIGN KEY (trial_key, phase) REFERENCES phases
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE latencies (
        trial_key INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        scope TEXT NOT NULL CHECK (scope IN ('queries', 'connects', 'transactions', 'statement')),
        kind TEXT NOT NULL, -- the kind of statement; empty for the other scopes
        count INTEGER NOT NULL,
        min_ns INTEGER,
        mean_ns REAL,
        max_ns INTEGER,
        p50_ns INTEGER,
        p75_ns INTEGER,
        p90_ns INTEGER,
        p95_ns INTEGER,
        p99_ns INTEGER,
        p999_ns INTEGER,
        PRIMARY KEY (trial_key, phase, scope, kind),
        FOREIGN KEY (trial_key, phase) REFERENCES phases
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE phase_errors (
        trial_key INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        code TEXT NOT NULL,
        count INTEGER NOT NULL,
        example TEXT,
        PRIMARY KEY (trial_key, phase, code),
        FOREIGN KEY (trial_key, phase) REFERENCES phases
    ) WITHOUT ROWID
    """,
    """
    CREATE VIEW curve AS
        SELECT r.folder AS run, r.experiment, r.size, o.title AS point,
               t.trial_id, t.attempt, t.block, t.status,
               p.connections_asked AS connections, p.connections_reached, p.queries_per_second,
               p.transactions_per_second, l.mean_ns, l.p50_ns, l.p95_ns, l.p99_ns, l.max_ns, p.aborted
        FROM phases p
        JOIN trials t USING (trial_key)
        JOIN runs r USING (run_id)
        JOIN points o USING (run_id, point_id)
        LEFT JOIN latencies l ON l.trial_key = p.trial_key AND l.phase = p.phase AND l.scope = 'queries'
    """,
)

_CURVE = """
    CREATE VIEW curve AS
        SELECT r.folder AS run, r.experiment, r.size, o.title AS point,
               t.trial_id, t.attempt, t.block, t.status, p.label,
               p.connections_asked AS connections, p.connections_reached, p.queries_per_second,
               p.transactions_per_second, l.mean_ns, l.p50_ns, l.p95_ns, l.p99_ns, l.max_ns, p.aborted
        FROM phases p
        JOIN trials t USING (trial_key)
        JOIN runs r USING (run_id)
        JOIN points o USING (run_id, point_id)
        LEFT JOIN latencies l ON l.trial_key = p.trial_key AND l.phase = p.phase AND l.scope = 'queries'
    """

_WORKLOADS = (
    # The test program; NULL where the number of connections distinguishes phases.
    "ALTER TABLE phases ADD COLUMN label TEXT",
    "ALTER TABLE phases ADD COLUMN retries INTEGER",
    "ALTER TABLE phases ADD COLUMN reconnects INTEGER",
    """
    CREATE TABLE statements_2 (
        trial_key INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        position INTEGER NOT NULL,
        kind TEXT NOT NULL,
        count INTEGER NOT NULL,
        errors INTEGER, -- NULL: a foreign program did not tell
        rows INTEGER,
        PRIMARY KEY (trial_key, phase, kind),
        FOREIGN KEY (trial_key, phase) REFERENCES phases
    ) WITHOUT ROWID
    """,
    "INSERT INTO statements_2 SELECT * FROM statements",
    "DROP TABLE statements",
    "ALTER TABLE statements_2 RENAME TO statements",
    """
    CREATE TABLE operations (
        trial_key INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        tests INTEGER NOT NULL, -- as the original counts them
        statements INTEGER NOT NULL, -- as sent
        rows INTEGER NOT NULL,
        failed INTEGER NOT NULL,
        elapsed_ns INTEGER NOT NULL,
        original_elapsed_ns INTEGER, -- what the original would show, where its timer includes earlier work
        client_cpu_user_s REAL NOT NULL,
        client_cpu_system_s REAL NOT NULL,
        server_cpu_user_s REAL,
        server_cpu_system_s REAL,
        estimated INTEGER NOT NULL, -- 1: cut off by the time limit and extrapolated
        warning TEXT,
        in_totals INTEGER NOT NULL, -- 0: the original's totals miss it
        PRIMARY KEY (trial_key, phase, position),
        FOREIGN KEY (trial_key, phase) REFERENCES phases
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE checks (
        trial_key INTEGER NOT NULL REFERENCES trials,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        holds INTEGER NOT NULL,
        detail TEXT,
        PRIMARY KEY (trial_key, position)
    ) WITHOUT ROWID
    """,
    "DROP VIEW curve",
    _CURVE,
)

_STORAGE = (
    # Runs of before drove servers.
    "ALTER TABLE runs ADD COLUMN work TEXT NOT NULL DEFAULT 'queries' CHECK (work IN ('queries', 'ios'))",
    """
    CREATE TABLE grounds (
        trial_key INTEGER NOT NULL PRIMARY KEY REFERENCES trials,
        kind TEXT NOT NULL,
        kernel TEXT NOT NULL,
        cpus INTEGER NOT NULL,
        memory_bytes INTEGER,
        budget TEXT NOT NULL CHECK (budget IN ('joint', 'separate')),
        disk_model TEXT NOT NULL -- in words
    )
    """,
    """
    CREATE TABLE volumes (
        trial_key INTEGER NOT NULL REFERENCES grounds,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        PRIMARY KEY (trial_key, name)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE volume_facts (
        trial_key INTEGER NOT NULL,
        volume TEXT NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        value TEXT NOT NULL, -- as read back
        PRIMARY KEY (trial_key, volume, name),
        FOREIGN KEY (trial_key, volume) REFERENCES volumes
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE self_checks (
        trial_key INTEGER NOT NULL REFERENCES trials,
        position INTEGER NOT NULL,
        volume TEXT NOT NULL,
        operation TEXT NOT NULL CHECK (operation IN ('randread', 'randwrite')),
        block_bytes INTEGER NOT NULL,
        queue_depth INTEGER NOT NULL,
        seconds REAL NOT NULL,
        measured_iops REAL, -- NULL: fio failed
        expected_iops REAL, -- NULL: no limit, or no theory
        idle REAL, -- 0 to 1
        error TEXT,
        PRIMARY KEY (trial_key, position)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE remarks (
        trial_key INTEGER NOT NULL REFERENCES trials,
        position INTEGER NOT NULL,
        check_name TEXT NOT NULL,
        message TEXT NOT NULL,
        PRIMARY KEY (trial_key, position)
    ) WITHOUT ROWID
    """,
)

_DATA = (
    """
    CREATE TABLE trial_data (
        trial_key INTEGER NOT NULL PRIMARY KEY REFERENCES trials,
        dataset TEXT NOT NULL, -- fingerprint
        clone TEXT NOT NULL,
        clone_seconds REAL NOT NULL,
        cache TEXT NOT NULL, -- as asked
        file_bytes INTEGER,
        cached_bytes INTEGER, -- in the page cache when the server started
        warm_seconds REAL, -- NULL: nothing was read beforehand
        pool_pages INTEGER, -- before the first phase
        pool_pages_total INTEGER,
        page_bytes INTEGER
    )
    """,
)

_TRANSLATIONS = (
    """
    CREATE TABLE translations (
        trial_key INTEGER NOT NULL REFERENCES trials,
        position INTEGER NOT NULL,
        name TEXT NOT NULL, -- as the experiment wrote it
        value TEXT NOT NULL,
        became TEXT NOT NULL, -- JSON: the settings that stand for it on this server; {} when left out
        why TEXT NOT NULL,
        PRIMARY KEY (trial_key, position)
    ) WITHOUT ROWID
    """,
)

_DESIGN = (
    # JSON (docs/reference/lab-format.md); NULL for a run of before: all points, a fixed number of times.
    "ALTER TABLE runs ADD COLUMN design TEXT",
    # The point that an A/A control measures a second time; NULL for all others.
    "ALTER TABLE points ADD COLUMN control_of TEXT",
)

_IMPORTS = (
    "ALTER TABLE runs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0",  # 1: measured elsewhere
    # JSON: what the source concluded, [{factor, order, where, said}].
    "ALTER TABLE runs ADD COLUMN claims TEXT NOT NULL DEFAULT '[]'",
    """
    CREATE TABLE totals (
        trial_key INTEGER NOT NULL REFERENCES trials,
        metric TEXT NOT NULL,
        value REAL NOT NULL, -- over all phases, as the source of imported numbers gives it
        PRIMARY KEY (trial_key, metric)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE phases_2 (
        trial_key INTEGER NOT NULL REFERENCES trials,
        phase INTEGER NOT NULL,
        connections_asked INTEGER NOT NULL,
        connections_reached INTEGER NOT NULL,
        started_s REAL NOT NULL,
        measured_from_s REAL,
        measured_to_s REAL,
        ended_s REAL NOT NULL,
        queries INTEGER, -- NULL, as transactions: imported, and not told
        transactions INTEGER,
        queries_per_second REAL,
        transactions_per_second REAL,
        client_cpu_user_s REAL,
        client_cpu_system_s REAL,
        latency_kind TEXT NOT NULL CHECK (latency_kind IN ('service', 'response')),
        aborted TEXT,
        backlog_max INTEGER,
        label TEXT, -- the test program; NULL where the number of connections tells phases apart
        retries INTEGER,
        reconnects INTEGER,
        PRIMARY KEY (trial_key, phase)
    ) WITHOUT ROWID
    """,
    "INSERT INTO phases_2 SELECT * FROM phases",
    "DROP VIEW curve",
    "DROP TABLE phases",
    "ALTER TABLE phases_2 RENAME TO phases",
    _CURVE,
)

_SCALE = (
    # Of all files of the trial; NULL for one that was saved before this was kept.
    "ALTER TABLE trials ADD COLUMN file_bytes INTEGER",
    "CREATE INDEX runs_of_experiment ON runs (experiment)",
    "CREATE INDEX runs_of_plan ON runs (plan_fingerprint)",
)

_STEADY = (
    # Where the steady part of the measured window begins; NULL: not judged, or never steady.
    "ALTER TABLE phases ADD COLUMN steady_from_s REAL",
)

_OPERATION_TOTALS = (
    """
    CREATE TABLE operation_totals (
        trial_key INTEGER NOT NULL REFERENCES trials,
        position INTEGER NOT NULL,
        name TEXT NOT NULL, -- TOTALS: the sum of all others, as the file gives it
        tests INTEGER NOT NULL,
        elapsed_s REAL NOT NULL,
        client_cpu_user_s REAL NOT NULL,
        client_cpu_system_s REAL NOT NULL,
        client_cpu_s REAL NOT NULL, -- as the file gives it, which need not be the sum of the two
        estimated INTEGER NOT NULL, -- 1: cut off by the time limit and extrapolated
        warned INTEGER NOT NULL, -- 1: something was wrong with its results
        PRIMARY KEY (trial_key, position)
    ) WITHOUT ROWID
    """,
)

_COSTS = (
    # JSON: metric -> what the server spent on each query or transaction; NULL: not measured.
    "ALTER TABLE phases ADD COLUMN costs TEXT",
)

_SLICES = (
    # JSON: how a phase was measured in slices; NULL: in one piece.
    "ALTER TABLE phases ADD COLUMN slices TEXT",
)

_TRANSACTIONS = (
    """
    CREATE TABLE transactions_by_name (
        trial_key INTEGER NOT NULL,
        phase INTEGER NOT NULL,
        position INTEGER NOT NULL,
        name TEXT NOT NULL,
        count INTEGER NOT NULL,
        min_ns INTEGER,
        mean_ns REAL,
        max_ns INTEGER,
        p50_ns INTEGER,
        p75_ns INTEGER,
        p90_ns INTEGER,
        p95_ns INTEGER,
        p99_ns INTEGER,
        p999_ns INTEGER,
        PRIMARY KEY (trial_key, phase, name),
        FOREIGN KEY (trial_key, phase) REFERENCES phases
    ) WITHOUT ROWID
    """,
)

_HOSTS = (
    # The host of a fleet that the trial ran on; NULL without a fleet. Block -1: the A/A over hosts.
    "ALTER TABLE trials ADD COLUMN host TEXT",
    # JSON: the generators of a load from other machines, and their network; NULL or []: there were none.
    "ALTER TABLE trials ADD COLUMN networks TEXT",
    # JSON: what each of them did of a phase.
    "ALTER TABLE phases ADD COLUMN shares TEXT",
)

_REMARKS_OF_PHASES = (
    "ALTER TABLE remarks ADD COLUMN phase INTEGER",  # from 0; NULL: of the trial as a whole
    # It was the beginning of the message until now, counted from 1.
    """
    UPDATE remarks SET
        phase = CAST(substr(message, length('phase ') + 1) AS INTEGER) - 1,
        message = substr(message, instr(message, ': ') + 2)
    WHERE message GLOB 'phase [0-9]*: *'
    """,
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _FIRST,
    _WORKLOADS,
    _STORAGE,
    _TRANSLATIONS,
    _DATA,
    _DESIGN,
    _IMPORTS,
    _SCALE,
    _STEADY,
    _OPERATION_TOTALS,
    _COSTS,
    _SLICES,
    _TRANSACTIONS,
    _HOSTS,
    _REMARKS_OF_PHASES,
)
