"""What has been applied: one folder for each application, with acts, journal and the bytes of files.

/var/lib/mydyno/changes/            mode 0700
    lock                            held by the mydyno that changes something, and by its guardian
    20261121-233012-048213/
        application.json            what it is to do: written whole, before the first step
        journal.jsonl               what has come of it: only appended to, each line synced
        bytes/SHA256                files before and after, mode 0600
"""
