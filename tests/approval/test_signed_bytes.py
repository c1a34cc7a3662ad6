"""The signed bytes are the canonical JSON of exactly the signed fields."""

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from silas.approval import ApprovalScope, ApprovalToken, ApprovalVerdict, token_bytes
from silas.approval.models import SIGNED_FIELDS
from silas.canonical import canonical_bytes

zones = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
moments = st.datetimes(
    min_value=datetime(1970, 1, 2), max_value=datetime(9990, 1, 1), timezones=zones
)
values = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False)
)
conditions = st.dictionaries(st.text(), values | st.lists(values, max_size=3), max_size=4)


@given(
    st.text(),
    st.text(),
    st.sampled_from(ApprovalScope),
    st.sampled_from(ApprovalVerdict),
    moments,
    moments,
    st.text(),
    st.integers(min_value=-(2**70), max_value=2**70),
    conditions,
)
def test_they_are_the_models_own_json_of_the_signed_fields(
    plan_hash: str,
    item: str,
    scope: ApprovalScope,
    verdict: ApprovalVerdict,
    issued_at: datetime,
    expires_at: datetime,
    nonce: str,
    max_executions: int,
    given_conditions: dict[str, Any],
) -> None:
    token = ApprovalToken(
        token_id="t",
        plan_hash=plan_hash,
        work_item_id=item,
        scope=scope,
        verdict=verdict,
        signature=b"s",
        issued_at=issued_at,
        expires_at=expires_at,
        nonce=nonce,
        max_executions=max_executions,
        conditions=given_conditions,
    )
    dumped = token.model_dump(mode="json", include=set(SIGNED_FIELDS))
    assert token_bytes(token) == canonical_bytes(dumped)
