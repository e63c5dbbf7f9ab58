"""What the processes of the laboratory are told: exactly their keys, and no secret in sight."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.lab.controller import ControllerConfig
from harness.lab.instruments.server import InstrumentsConfig
from harness.lab.instruments.slot import InstrumentSetup
from harness.lab.pausing import PausePlace, PausePoint
from harness.lab.webhook import WebhookConfig

WEBHOOK = {
    "host": "127.0.0.1",
    "port": 1,
    "cert_path": "/c",
    "key_path": "/k",
    "kubeconfig_path": "/f",
    "harness_user": "admin",
}
CONTROLLER = {
    "kubeconfig_path": "/f",
    "namespace": "lab",
    "instruments_url": "http://127.0.0.1:2",
    "instruments_token": "hidden",
    "pause_at": None,
    "pause_once_path": None,
}
INSTRUMENTS = {
    "host": "127.0.0.1",
    "port": 0,
    "journal_path": "/j",
    "controller_token": "hidden",
    "harness_token": "hidden",
    "instruments": [{"name": "mixer", "type": "color_mixer", "latencySeconds": 2}],
}

Load = Callable[[Mapping[str, Any]], object]
PROCESSES: tuple[tuple[str, Load, Mapping[str, Any]], ...] = (
    ("webhook", WebhookConfig.of, WEBHOOK),
    ("controller", ControllerConfig.of, CONTROLLER),
    ("instruments", InstrumentsConfig.of, INSTRUMENTS),
)


def test_each_process_takes_what_it_is_told() -> None:
    webhook, controller, instruments = (load(value) for _, load, value in PROCESSES)

    assert isinstance(webhook, WebhookConfig)
    assert webhook.key_path == Path("/k")
    assert isinstance(controller, ControllerConfig)
    assert (controller.pause_at, controller.pause_once_path) == (None, None)
    assert isinstance(instruments, InstrumentsConfig)
    assert instruments.setups == (InstrumentSetup(name="mixer", type="color_mixer", latency_s=2.0),)


@pytest.mark.parametrize(("name", "load", "value"), PROCESSES)
def test_a_key_too_many_or_too_few_is_refused_without_a_value(
    name: str, load: Load, value: Mapping[str, Any]
) -> None:
    for given in ({**value, "extra": "hidden"}, {**dict(list(value.items())[1:])}):
        with pytest.raises(ConfigError) as caught:
            load(given)

        assert str(caught.value) == f"{name}: keys {sorted(given)}, expected {sorted(value)}"


@pytest.mark.parametrize(("name", "load", "value"), PROCESSES)
def test_no_token_is_shown_with_a_configuration(
    name: str, load: Load, value: Mapping[str, Any]
) -> None:
    assert "hidden" not in repr(load(value)), name


def test_the_controller_pauses_at_a_known_point_only() -> None:
    paused = ControllerConfig.of({**CONTROLLER, "pause_at": "before_send@night-mix"})

    assert paused.pause_at == PausePlace(point=PausePoint.BEFORE_SEND, task="night-mix")
    with pytest.raises(ConfigError, match="pause_at 'never', expected one of before_send"):
        ControllerConfig.of({**CONTROLLER, "pause_at": "never"})


def test_an_instrument_without_a_type_is_refused() -> None:
    with pytest.raises(ConfigError) as caught:
        InstrumentsConfig.of({**INSTRUMENTS, "instruments": [{"name": "mixer"}]})

    assert str(caught.value) == "instruments: an instrument has no key 'type'"
