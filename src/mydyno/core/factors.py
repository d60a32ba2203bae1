"""What factors are called."""


def last_part(factor: str) -> str:
    """`innodb_buffer_pool_size` of `server.config.innodb_buffer_pool_size`: as people say it."""
    return factor.rpartition(".")[2]
