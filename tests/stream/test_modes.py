"""The interaction mode over all combinations of its inputs."""

import itertools

import pytest
from pydantic import ValidationError

from silas.stream.modes import InteractionConfig, resolve_interaction_mode
from silas.types import InteractionMode, InteractionRegister

OFFER = InteractionMode.default_and_offer
ACT = InteractionMode.act_and_report
CONFIRM = InteractionMode.confirm_only_when_required
EXPLORATION, EXECUTION, REVIEW, STATUS = InteractionRegister
_GIVEN = (None, OFFER, ACT, CONFIRM)
_DEFAULTS = InteractionConfig().default_mode_by_register

# what applies when neither risk nor any of the three modes decides: (register, initiative) -> mode
_UNDECIDED = {
    (EXPLORATION, 0.64): OFFER,
    (EXPLORATION, 0.65): OFFER,
    (EXECUTION, 0.64): ACT,
    (EXECUTION, 0.65): ACT,
    (REVIEW, 0.64): CONFIRM,
    (REVIEW, 0.65): CONFIRM,
    (STATUS, 0.64): OFFER,
    (STATUS, 0.65): OFFER,
}


@pytest.mark.proves(
    "S5.1.0-MODE-PRECEDENCE", "S0.5.7-CONFIRMATION-FORCED", "S3.2-OVERRIDE-HONOURED"
)
@pytest.mark.parametrize("risk", [False, True])
@pytest.mark.parametrize(("register", "initiative"), _UNDECIDED)
def test_every_combination_resolves_by_precedence(
    register: InteractionRegister, initiative: float, risk: bool
) -> None:
    for proxy, planner, item in itertools.product(_GIVEN, repeat=3):
        mode = resolve_interaction_mode(
            proxy, planner, item, risk, initiative, register, 0.65, _DEFAULTS
        )
        expected = planner or item or proxy or _UNDECIDED[register, initiative]
        assert mode is (CONFIRM if risk else expected)


@pytest.mark.proves("S5.1.0-MODE-PRECEDENCE", "S5.1.4-INITIATIVE-WITHIN-POLICY")
@pytest.mark.parametrize(
    ("register", "initiative", "defaults", "mode"),
    [
        (EXECUTION, 0.65, {EXECUTION: CONFIRM}, ACT),
        (EXECUTION, 0.6499, {EXECUTION: CONFIRM}, CONFIRM),
        (EXPLORATION, 0.65, {EXPLORATION: CONFIRM}, OFFER),
        (EXPLORATION, 0.0, {EXPLORATION: CONFIRM}, CONFIRM),
        (REVIEW, 1.0, {REVIEW: ACT}, ACT),
        (STATUS, 1.0, {STATUS: CONFIRM}, CONFIRM),
        (STATUS, 1.0, {}, OFFER),
        (REVIEW, 0.0, {}, OFFER),
    ],
)
def test_initiative_decides_before_the_registers_default(
    register: InteractionRegister,
    initiative: float,
    defaults: dict[InteractionRegister, InteractionMode],
    mode: InteractionMode,
) -> None:
    resolved = resolve_interaction_mode(
        None, None, None, False, initiative, register, 0.65, defaults
    )
    assert resolved is mode


@pytest.mark.parametrize("missing", list(InteractionRegister))
def test_the_configuration_names_every_register(missing: InteractionRegister) -> None:
    some = {k: v for k, v in _DEFAULTS.items() if k is not missing}
    with pytest.raises(ValidationError, match=missing.value):
        InteractionConfig(default_mode_by_register=some)
