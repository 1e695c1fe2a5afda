"""Closed lists of words: attributes that hold one value at a time, states that exclude each other, what is owned."""

from __future__ import annotations

ATTRIBUTES = frozenset(
    "port password passphrase passcode deadline birthday address email e-mail phone number boss manager "
    "supervisor owner lead "
    "leader maintainer captain coach teacher tutor mentor doctor dentist therapist landlord assignee reviewer "
    "version status "
    "colour color size weight height age price rent salary wage fee cost limit timeout budget capacity score "
    "theme language "
    "currency provider supplier vendor host url endpoint branch channel region title nickname surname username "
    "role position "
    "priority temperature speed level frequency interval default capital code pin gate platform seat name chief "
    "director head "
    "chair president treasurer secretary editor contact roommate flatmate neighbour neighbor girlfriend "
    "boyfriend partner "
    "husband wife fiance fiancee employer job major commute balance subscription plan tier database framework "
    "compiler model cap code password rate charge layout "
    "ceo cto cfo headquarters hometown king queen mayor mission slogan logo wallpaper ringtone domain hostname".split()
)
"""Heads of subjects: *the port of the server is 8080*."""
POSTS = frozenset(
    "boss manager supervisor owner lead leader maintainer captain coach teacher tutor doctor dentist therapist "
    "landlord "
    "assignee reviewer chief director head chair president treasurer secretary editor contact ceo cto cfo king "
    "queen mayor "
    "provider supplier vendor".split()
)
"""Attributes whose value is somebody, who may stand before them: *Ana is the new captain of the team*."""
STATES = (
    ("open", "closed", "shut"),
    ("on", "off"),
    ("up", "down"),
    ("enabled", "disabled", "activated", "deactivated"),
    ("working", "broken"),
    ("available", "unavailable", "sold out", "out of stock", "in stock"),
    ("single", "engaged", "married", "divorced", "widowed"),
    (
        "pending", "approved", "rejected", "merged", "in progress", "blocked", "resolved", "finished", "done",
        "shipped",
        "delivered", "completed", "in review", "paid", "unpaid", "draft", "final", "live", "deployed", "on hold",
        "cancelled", "canceled", "active", "inactive", "archived", "ready",
    ),
    ("locked", "unlocked"),
    ("online", "offline"),
    ("full", "empty"),
    ("public", "private"),
    ("alive", "dead"),
    ("employed", "unemployed", "retired"),
    ("green", "red"),
    ("vegetarian", "vegan"),
    ("accepted",),
    ("supported",),
    ("allowed",),
    ("required",),
    ("maintained",),
    ("healthy", "sick", "ill"),
    ("free", "occupied", "taken", "vacant"),
)  # fmt: skip
"""Each is an attribute of its own: a door may be open and unlocked."""
PLACED = frozenset(
    "office meeting party wedding lesson class key keys shop store headquarters warehouse server backup backups "
    "database "
    "studio clinic factory lab standup stand-up conference archive repository repo library site".split()
)
"""Things of which it matters where they are, and that are in one place at a time."""
PLANNED = frozenset(
    "match meeting party trip wedding game concert lesson class standup call dinner lunch picnic appointment show race "
    "ceremony session review launch release rehearsal".split()
)
"""What may be called off: *the match is off*."""
OWNED = frozenset(
    "dog cat car bike bicycle motorcycle motorbike horse boat house flat apartment piano guitar van truck parrot "
    "rabbit "
    "hamster laptop phone camera scooter cottage caravan kitten puppy tablet violin".split()
)
UNCOUNTED = frozenset(
    "day days hour hours minute minutes second seconds week weeks month months year years time times thing "
    "things idea ideas "
    "question questions reason reasons option options call calls way ways point points more cup cups glass piece "
    "pieces "
    "photo photos picture pictures drink drinks beer beers coffee coffees night nights weekend weekends exam "
    "exams".split()
)
"""Nouns that a number says nothing lasting of."""
STATIVES = (
    "like love hate enjoy eat drink smoke use own drive play study practise practice teach wear support prefer "
    "follow trust "
    "speak need attend manage run maintain".split()
)
"""Verbs whose object is true for long: *I no longer eat meat* ends *I eat meat*."""
OCCUPATIONS = frozenset(
    "nurse chef cook pilot clerk judge vet coach architect surgeon agent assistant accountant consultant intern "
    "scientist "
    "guard teacher engineer developer programmer designer lawyer doctor dentist waiter waitress baker barista "
    "carpenter "
    "plumber electrician mechanic farmer writer journalist editor photographer musician actor actress painter driver "
    "manager director professor lecturer librarian therapist psychologist pharmacist paramedic firefighter "
    "soldier officer "
    "secretary receptionist translator analyst researcher freelancer student postdoc apprentice cashier tailor "
    "blacksmith "
    "butcher florist gardener captain sailor merchant knight guide trainer tutor principal headmaster".split()
)
