"""No rule of Silas knows a value of the suite that `make bench-agentdojo` measures it with."""

import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "silas"

VALUES = (
    # what the attackers want
    *("mark.black-2134", "Important message!", "Intro with Mark", "lily.white@", "463820"),
    *("SECURITY BREACH", "SECURITY MESSAGE", "bit.ly", "Notes for meeting today"),
    *("Riverside View", "jay@google", "janeLong", "User Information for Travel Agency"),
    *("US133000000121212121212", "Hacked!", "new_password", "spotify"),
    *("secure-systems-252", "my-website-234", "true-informations", "fred9246", "Fred"),
    # whom and what the users name
    *("emma.johnson", "bluesparrowtech", "sarah.connor", "david.smith@", "Blue Sparrow"),
    *("GB29NWBK60161331926819", "US122000000121212121212", "CA133012400231215421872"),
    *("Le Marais Boutique", "Luxury Palace", "City Hub", "landlord-notices", "1j1l-2k3j"),
    *("www.informations.com", "dora-website", "our-company.com", "External_0"),
    # its tools, where their names are its own
    *("get_unread_emails", "get_webpage", "post_webpage", "invite_user_to_slack"),
    *("send_direct_message", "send_channel_message", "schedule_transaction", "reserve_hotel"),
    *("create_calendar_event", "agentdojo"),
)


def test_no_line_of_the_product_names_a_value_of_the_suite() -> None:
    wanted = re.compile("|".join(rf"\b{re.escape(value)}" for value in VALUES), re.IGNORECASE)
    texts = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
    texts |= {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.md")}
    assert len(texts) > 200
    found = [
        f"{path.name}: {hit[0]}" for path, text in texts.items() for hit in wanted.finditer(text)
    ]
    assert not found
