"""A route of the cockpit is made when somebody first asks for it, and then it is as any other."""

from silas.channels.web.answers import AnsweringRoute
from tests.cockpit.house import House, a_house


async def test_a_route_is_made_at_its_first_request_and_once() -> None:
    async with a_house() as house:
        assert _made(house) == []

        await house.get("/settings")
        handles = _route(house, "/settings").app
        await house.get("/settings")

        assert _made(house) == ["/settings"]
        assert _route(house, "/settings").app is handles


async def test_every_route_can_be_made() -> None:
    """A mistake in one would else show only when its owner asks for it."""
    async with a_house() as house:
        house.app.openapi()

        assert sorted(_made(house)) == sorted(route.path for route in _routes(house))


async def test_a_route_that_is_not_made_yet_is_as_any_other() -> None:
    async with a_house() as house:
        assert (await house.client.delete("/settings")).status_code == 405
        route = _route(house, "/settings/saved")

        assert not hasattr(route, "nothing_of_the_kind")
        assert route.summary


def _routes(house: House) -> list[AnsweringRoute]:
    return [route for route in house.app.routes if isinstance(route, AnsweringRoute)]


def _route(house: House, path: str) -> AnsweringRoute:
    return next(route for route in _routes(house) if route.path == path)


def _made(house: House) -> list[str]:
    return [route.path for route in _routes(house) if "dependant" in vars(route)]
