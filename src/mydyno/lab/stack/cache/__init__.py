"""How warm a trial begins: the operating system's page cache, then the server's buffer pool."""

from mydyno.lab.stack.cache.page_cache import PageCache, PageCacheLayer
from mydyno.lab.stack.cache.warm_pool import WarmPool, WarmPoolLayer

__all__ = ["PageCache", "PageCacheLayer", "WarmPool", "WarmPoolLayer"]
