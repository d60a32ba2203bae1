"""A run's lab turned into what people read: one HTML page, pictures, Markdown, a terminal summary.

Views (plain data) are built apart from charts, pages and text (their drawing). Nothing here reaches a host.
"""
