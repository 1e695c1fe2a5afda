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
    "ceo cto cfo headquarters hometown king queen mayor mission slogan logo wallpaper ringtone domain hostname "
    "salary deposit premium toll tariff quota threshold retention length width depth volume thermostat alarm "
    "temperature brightness ttl concurrency "
    "librarian caretaker gardener accountant lawyer cleaner nanny babysitter caterer carer tenant sponsor bassist "
    "drummer goalkeeper keeper "
    "singer conductor headteacher headmaster principal vet hairdresser sitter guardian operator curator "
    "spokesperson moderator admin administrator".split()
)
"""Heads of subjects: *the port of the server is 8080*."""
POSTS = frozenset(
    "boss manager supervisor owner lead leader maintainer captain coach teacher tutor doctor dentist therapist "
    "landlord "
    "assignee reviewer chief director head chair president treasurer secretary editor contact ceo cto cfo king "
    "queen mayor "
    "provider supplier vendor "
    "neighbour neighbor mentor partner boyfriend girlfriend husband wife fiance fiancee roommate flatmate employer "
    "librarian caretaker gardener accountant lawyer cleaner nanny babysitter caterer carer tenant sponsor bassist "
    "drummer goalkeeper keeper conductor headteacher headmaster principal vet hairdresser sitter guardian operator "
    "curator spokesperson moderator admin administrator".split()
)
"""Attributes whose value is somebody, who may stand before them: *Ana is the new captain of the team*."""
KIN = frozenset(
    "mother mom mum father dad parent brother sister son daughter kid child wife husband partner boyfriend girlfriend "
    "fiance fiancee aunt uncle cousin niece nephew grandmother grandma granny grandfather grandpa grandparent friend "
    "neighbour neighbor colleague boss manager roommate flatmate baby twin mate dog cat puppy kitten in-law "
    "mother-in-law father-in-law brother-in-law sister-in-law people guy man woman girl boy family team".split()
)
"""Heads of subjects that are somebody: where they are is not where they live."""
WORK_ITEMS = frozenset(
    "ticket issue bug pr request order invoice incident case application claim finding task milestone proposal story "
    "epic contract project migration release build report document draft parcel package shipment position "
    "vacancy patch fix feature "
    "review audit visa permit refund payment booking change rfc deployment rollout thesis manuscript paper "
    "loan complaint job campaign study experiment patent renovation".split()
)
"""What goes from one stage to another until it is done."""
PLACED = frozenset(
    "office meeting party wedding lesson class key keys shop store headquarters warehouse server backup backups "
    "database "
    "studio clinic factory lab standup stand-up conference archive repository repo library site".split()
)
"""Things of which it matters where they are, and that are in one place at a time."""
PLANNED = frozenset(
    "match meeting party trip wedding game concert lesson class standup call dinner lunch picnic appointment show race "
    "ceremony session review launch release rehearsal kickoff kick-off retro demo sync webinar workshop "
    "interview flight "
    "train exam practice training delivery shift course deploy deployment film movie test quiz sale trial visit".split()
)
"""What may be called off: *the match is off*."""
OWNED = frozenset(
    "dog cat car bike bicycle motorcycle motorbike horse boat house flat apartment piano guitar van truck parrot "
    "rabbit "
    "hamster laptop phone camera scooter cottage caravan kitten puppy tablet violin "
    "cabin studio allotment garden bakery shop cafe restaurant farm tractor tent kayak canoe sailboat yacht drone "
    "printer projector hatchback sedan bus moped pony goat hen chicken goose sheep cow pig bird snake tortoise "
    "turtle cello drum harp trumpet saxophone accordion television tv console bookshop vineyard plot".split()
)
SEVERAL = frozenset(
    "neighbour neighbor flatmate roommate reviewer sponsor tenant contact admin administrator moderator carer guardian "
    "singer".split()
)
"""Of which there may be more than one, unless it is said that there is another now."""
UNCOUNTED = frozenset(
    "percent degree degrees gb mb kb tb ms km kg day days hour hours minute minutes second seconds week weeks "
    "month months year years time times thing "
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
    "speak need attend manage run maintain share rent lease serve accept sell host sponsor coach train collect require "
    "provide produce publish employ supply stock".split()
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
