"""Whether a page that is written from the right stands as in a mirror."""

from typing import Any, Final

from tests.web.support.device import Device

_BOXES: Final = """
() => {
  const own = "code, pre, svg *, [dir=auto] *, option, .unseen, .skip, #toasts, #live, .code-block";
  const wide = document.documentElement.clientWidth;
  const rtl = document.documentElement.dir === "rtl";
  return [...document.body.querySelectorAll("*")].filter((one) => !one.matches(own)
    && getComputedStyle(one).display !== "inline"
    && one.checkVisibility({ visibilityProperty: true }))
    .map((one) => {
      const { left, right, width, height } = one.getBoundingClientRect();
      const name = [one.localName, ...one.classList].join(".");
      const places = [rtl ? wide - right : left, width, height];
      return width ? [name, ...places.map(Math.round)] : null;
    }).filter(Boolean);
}
"""
"""Where everything stands: from the start of the line, how wide and how high.

How far down is no part of it: what is read may be scrolled meanwhile.
"""

_LOOKS: Final = 5


async def written(device: Device, side: str) -> None:
    """Write the page from the left or from the right: `ltr` or `rtl`."""
    await device.page.evaluate("(side) => { document.documentElement.dir = side; }", side)


async def mirrored(device: Device) -> list[str]:
    """What stands elsewhere on its line than it does when the page is written from the left.

    A page on which something still comes or goes between two looks is looked at again; what is
    laid out wrongly stays so.
    """
    found = list[str]()
    for _ in range(_LOOKS):
        await device.is_quiet()
        ltr, rtl = [await _boxes(device, side) for side in ("ltr", "rtl")]
        found = ["other things are there"] * ([one[0] for one in ltr] != [one[0] for one in rtl])
        found += [
            f"{name}: {one} and not {other}"
            for (name, *one), (_, *other) in zip(rtl, ltr, strict=False)
            if any(abs(a - b) > 1 for a, b in zip(one, other, strict=True))
        ]
        if not found:
            break
    return found


async def _boxes(device: Device, side: str) -> list[list[Any]]:
    await written(device, side)
    found: list[list[Any]] = await device.page.evaluate(_BOXES)
    return found
