"""IP addresses that a file names: one interface of one machine."""

import ipaddress
from typing import Any

from mydyno.core.document.base import Fault, refuse


def interface_address(raw: Any) -> str:
    """An address that is opened to others is named: none that stands for all of a machine."""
    try:
        address = ipaddress.ip_address(raw if isinstance(raw, str) else "")
    except ValueError:
        raise refuse(Fault("is not an IP address", "as 10.0.0.5")) from None
    if address.is_unspecified or address.is_multicast:
        raise refuse(Fault("is not the address of one interface", "one address of the machine, as 10.0.0.5"))
    return str(address)
