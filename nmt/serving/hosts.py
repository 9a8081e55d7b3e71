"""Names of machines: which are IP addresses, and which are this machine's own."""

from ipaddress import ip_address


def is_address(name: str) -> bool:
    """Whether a name is an IP address."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def is_this_machine(name: str) -> bool:
    """Whether a name stands for this machine to itself, whatever the network."""
    return name == "localhost" or (is_address(name) and ip_address(name).is_loopback)
