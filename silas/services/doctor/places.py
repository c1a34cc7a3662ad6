"""Directories and addresses that the configuration names, held against this machine."""

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path

from silas.config import SilasConfig
from silas.errors import SilasError
from silas.home.findings import DoctorFinding
from silas.home.interfaces import (
    choose_address,
    interface_addresses,
    is_address_here,
    routed_interface,
)
from silas.services.phone.tailscale import Tailscale
from silas.services.phone.transports import usual_way


def place_findings(config: SilasConfig) -> list[DoctorFinding]:
    """What was set and is not there; nothing of what was left as it comes."""
    return [*_directories(config), *_addresses(config)]


def _directories(config: SilasConfig) -> Iterator[DoctorFinding]:
    named = [("plans_dirs", path) for path in config.plans_dirs]
    set_here = config.model_fields_set
    if "skills_dir" in set_here:
        named.append(("skills_dir", config.skills_dir))
    if config.workers_dir is not None:
        named.append(("workers_dir", config.workers_dir))
    for setting, path in named:
        if why := _unusable(path):
            words = f"{path} {why}; make it, or change `{setting}`"
            yield DoctorFinding(f"directory {setting}", "failed", words)


def _unusable(path: Path) -> str:
    if not path.exists():
        return "is not there"
    if not path.is_dir():
        return "is no directory"
    return "" if os.access(path, os.R_OK | os.X_OK) else "cannot be read"


def _addresses(config: SilasConfig) -> Iterator[DoctorFinding]:
    web = config.channels.web
    if web.enabled and _is_ip(web.host) and not is_address_here(web.host):
        words = f"this machine has no address {web.host}; change `channels.web.host`"
        yield DoctorFinding("cockpit address", "failed", words)
    phone = web.phone
    if not (phone.enabled or phone.address or phone.way):
        return
    if usual_way(web) == "tailscale":
        if not Tailscale.find_program().installed:
            words = "Tailscale is not installed; install it, or change `channels.web.phone.way`"
            yield DoctorFinding("phone address", "failed", words)
        return
    try:
        choose_address(phone.address, interface_addresses(), routed_interface())
    except SilasError as error:
        # without a name it depends on where the machine is just now
        state = "failed" if phone.address else "advice"
        yield DoctorFinding("phone address", state, error.message)


def _is_ip(host: str) -> bool:
    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
