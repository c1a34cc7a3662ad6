"""What a stemmer does not know of English: words that say nothing, and forms that share no letters.

A question in another language loses nothing by it: its words are weighed by how rare they are.
"""

_FUNCTION_WORDS = """
    a about after again all also am an and any are as at be because been before being between both
    but by can could d did do does doing done down during each few for from further had has have
    having he her here hers herself him himself his how i if in into is it its itself just ll m may
    me might mine more most must my myself no nor not now of off on once only or other our ours out
    over own re s same shall she should so some such t than that the their theirs them themselves
    then there these they this those through to too under until up us ve very was we were what when
    where which while who whom whose why will with would you your yours yourself
"""

FUNCTION_WORDS = frozenset(_FUNCTION_WORDS.split())
"""They stand in every question and in every answer, and tell nothing of either."""

_FORMS = """
    be been being am is are was were / go goes going went gone / buy bought / get got gotten
    make made / take took taken / see saw seen / come came / give gave given / find found
    think thought / tell told / become became / leave left / feel felt / bring brought
    begin began begun / keep kept / hold held / write wrote written / stand stood / hear heard
    meet met / run ran / pay paid / sit sat / speak spoke spoken / lead led / grow grew grown
    lose lost / fall fell fallen / send sent / build built / understand understood
    draw drew drawn / break broke broken / spend spent / rise rose risen / drive drove driven
    wear wore worn / choose chose chosen / eat ate eaten / teach taught / catch caught / sell sold
    fight fought / throw threw thrown / win won / sing sang sung / swim swam swum
    fly flew flown / ride rode ridden / sleep slept / forget forgot forgotten / drink drank drunk
    know knew known / say said / show showed shown / mean meant / seek sought / deal dealt
    dream dreamt / learn learnt / lend lent / light lit / shoot shot / sweep swept
    steal stole stolen / strike struck / wake woke woken / bite bit bitten / blow blew blown
    freeze froze frozen / hide hid hidden / lie lay lain / shake shook shaken / tear tore torn
    swear swore sworn / feed fed / dig dug / hang hung / bend bent / bind bound / shrink shrank
    sink sank sunk / spin spun / stick stuck / sting stung / stink stank stunk / weave wove woven
    child children kid kids / man men / woman women / person people / foot feet / tooth teeth
    mouse mice / goose geese / life lives / wife wives / knife knives / leaf leaves / shelf shelves
    mother mom mum mama / father dad daddy papa / grandmother grandma / grandfather grandpa
    photo photograph picture / tv television / bike bicycle / phone telephone / fridge refrigerator
"""

FORMS: dict[str, tuple[str, ...]] = {
    word: tuple(group)
    for line in _FORMS.strip().splitlines()
    for group in (part.split() for part in line.split("/"))
    for word in group
}
"""Each word of a group with all of its group: irregular forms, and everyday names of one thing."""
