"""Word lists for small talk: what people say to each other that tells nothing that lasts."""

from __future__ import annotations

from cognigraph.english import words
from cognigraph.english.words import word_set

LIKING = word_set(
    """love like enjoy adore admire dig appreciate value treasure cherish respect miss savor savour
    relish fancy envy applaud"""
)
"""Verbs of praise."""
SHOWN = word_set(
    """color colors colour colours detail details texture design view vibe vibes look style shade
    pattern decor necklace smile caption shot background lighting composition expression"""
)
"""What one praises in a picture."""
CHOSEN = word_set("favourite favorite preferred usual")
"""What somebody prefers is worth keeping, whatever it is."""
_QUALITIES = word_set(
    """ability accomplishment achievement aim ambition ambitions appreciation approach aspect
    aspiration aspirations authenticity awareness backing balance beginning being belief
    beliefs belonging bit blessing blessings bliss bond bonding bonds boundaries brainstorming
    bravery burnout calm camaraderie care chance chances change changes chaos chapter charm
    chemistry clarity closeness closure comeback comfort commitment compassion compliment
    compliments composure concern concerns confidence connection connections consistency
    contentment contribution control core creation creativity curiosity dedication delight
    depth desire destiny determination difference difficulties difficulty dignity direction
    discipline discomfort discoveries discovery doubt doubts dream dreams ease edge effect
    efforts emotion emotions empathy empowerment encouragement endeavor endeavors ending energy
    enthusiasm equality errors escape essence example excitement exhaustion expectation
    expectations experience experiences exposure failure failures faith fame fate fear fears
    feat feats feedback feel feeling feelings fight flow focus fortune freedom frustration
    fulfillment fulfilment fun future gain gains game-changer gap generosity gesture gift
    goodness grace gratitude greatness grind growth guidance guts happiness hardship hardships
    harmony healing heart hearts help highs honesty hope hopes humor hurdle hurdles hustle idea
    ideal ideals ideas identity imagination impact importance improvement improvements
    inclusivity individuality influence injustice insight insights inspiration instinct
    intensity intention intentions interest interests issue issues journey journeys joy joys
    justice kick kindness knack knowledge lack laugh laughs laughter leadership learning legacy
    lesson lessons letdown level life lifestyle likes limit limits lives love lows loyalty luck
    magic matters meaning means memories memory mess milestones mindfulness mindset miracle
    mission moment moments momentum mood motivation move moves muse muses mystery need needs
    nerves networking nostalgia objective obstacle obstacles odds openness opportunities
    opportunity optimism outcome outcomes outlook pace pain passion passions path paths
    patience peace perfection perseverance persistence perspective perspectives phase plan
    plans pleasure point-of-view position positivity possibilities possibility potential power
    prejudice preparation pressure pride principle principles priorities priority problem
    problems process productivity progress purpose push quality reality reason reasons recharge
    recovery reflection relaxation release relief resilience resolve respect responsibility
    rest result results reward rewards rhythm risk risks road role sacrifice sacrifices
    satisfaction second security self self-acceptance self-care self-confidence self-discovery
    self-esteem self-expression self-love sense serenity setback setbacks sharing shot
    significance situation situations skill skills society solitude solution solutions soul
    spark spirit spirits spot stability stance standards start step steps strength strengths
    stress struggle struggles style substance success successes support surprise task tasks
    taste teachings teamwork tension thought thoughts thrill ton tons topic topics tough
    tranquility transformation trials triumph trouble troubles trust truth uncertainty
    understanding uniqueness unity unknown upbringing ups upside vacation-mode value values
    variety vibe vibes victory view views vision voice voices vulnerability warmth way ways
    well-being wellbeing wellness willingness willpower win wins wisdom wonder wonders words
    work-life world worldview worries worry worth youth surge turnout plunge page adventure
    adventures talents talent rollercoaster bash blast hang"""
)
ABSTRACT = _QUALITIES | words.SOFT - word_set("work place community others picture pic photo")
"""Nouns of feeling, effort and quality."""
ABSTRACT_ENDINGS = ("ness", "ity", "ities", "ism", "tude", "hood", "dom")
"""Endings of abstract nouns."""
CONCRETE_NOUNS = word_set(
    """city cities charity charities university universities community communities activity
    activities facility facilities celebrity celebrities electricity utility utilities fitness
    business wilderness harness witness illness sickness neighborhood neighbourhood hood kingdom
    homelessness disability disabilities nationality nursery maternity publicity"""
)
"""Nouns with these endings that name things, places or what one does."""
ANYTHING = word_set(
    """project projects thing things group place spot places option options stuff details kind kinds
    sort sorts detail lead leads part event events folks crowd load loads bunch ones one people
    person scene day night weekend vid vids picture pictures photo photos pic pics story
    stories family game games idea ideas moment question news error trial issue talk hobby goal
    tip tips spots"""
)
"""Nouns that say nothing without an adjective."""
PEOPLE_ALIKE = word_set("kid kids child children teen teenager")
"""What everybody once was: "when I was a kid"."""
FEELING = word_set(
    """excited thrilled pumped stoked proud prouds glad happy thankful grateful impressed amazed
    inspired scared nervous touched honored honoured blessed surprised determined motivated
    passionate curious confident overwhelmed frustrated worried eager anxious keen psyched
    relieved sad upset hooked obsessed freaked swamped sure tempted tired bored invested
    immersed hyped elated ecstatic buzzing jazzed delighted devastated heartbroken bummed
    lonely homesick gutted chuffed relaxed refreshed energized invigorated fulfilled content"""
)
"""Adjectives for moods."""
IDIOMS = word_set("up down after over off")
"""Words between "is" and "for", "to" ... that make an attitude: "is up for", "is down to"."""
TALKING = word_set("chat hear talk catch speak tell see thank listen congratulate cheer root")
"""What those who talk do with each other."""
GIVING = word_set("have send show give bring share keep")
"""What those who talk do for each other: "sends you the recipe"."""
MOVING = word_set(
    """inspire motivate help touch support push drive bring make give encourage remind allow keep
    comfort blow bug hit bother teach lift fuel energize amaze surprise mean get calm cheer thrill
    excite impress speak hate let"""
)
"""Verbs with which a thing does something to somebody: "it inspires me"."""
NEEDS_OBJECT = word_set(
    """use see include support buy find enjoy make build want need have choose capture
    prefer show create bring notice mean hate add learn understand"""
)
"""Verbs that mean nothing without an object."""
IDLE = word_set(
    """admire cherish deserve realize realise matter inspire motivate strive persevere embrace face
    overcome cope imagine recall remember believe trust pray wish agree rock crush nail shine
    thrive relax unwind chill recharge connect relate bond root cheer wow amaze wonder savor
    savour reassure resonate figure carve tend juggle balance absorb soak hustle value rely
    depend"""
)
"""Verbs of feeling and effort, which tell nothing that happened."""
NOTICING = word_set("notice see meet watch hear spot")
"""Verbs for what one sees of the other: "I noticed your pin"."""
BECOMING = word_set("get grow become stay feel seem look be")
"""Verbs that are followed by an adjective."""
DEGREES = word_set("real more much so super as pretty very too")
"""Words before an adjective."""
ADJECTIVE_ENDINGS = ("ive", "ful", "ous", "able", "ible", "busy", "fond", "fect", "dual", "tic")
"""Endings of adjectives, of which a few words have none."""
METAPHORS = word_set(
    """coaster rollercoaster roller-coaster ride shock sucker rocks rock breeze blast winner gem
    lifesaver hit corner fire moon"""
)
"""What things and people are said to be: "it was a breeze"."""
LISTENERS = word_set("ya you everyone everybody guys all y'all folks")
"""Words for those who listen."""
EVALUATIVE = word_set(
    """epic funny coolest wild thrilling yummy gorgeous unforgettable magical special intense sweet
    adorable relaxing peaceful stunning breathtaking memorable unique solid rad sick killer
    cute possible helpful exciting regular creative interesting tasty random challenging
    rewarding inspiring different crazy"""
)
"""Adjectives that say how one finds something."""
AWAITING = ("looks forward", "is looking forward")
"""Beginnings of relations that await something."""
ADRIFT = word_set("afterwards afterward firsthand altogether likewise")
"""Adverbs that are no object."""
DANGLING = word_set("surrounded yourself matter safe similar")
"""Words at which an object was cut off."""
POINTERS = word_set("one ones mine yours something anything rid")
"""Words that stand for something said before."""
KEEPING = word_set("stay stays staying keep keeps keeping continue push pushing remain")
"""Verbs of resolves."""
LASTING = word_set(
    """vegetarian vegan pescatarian allergic intolerant diabetic asthmatic epileptic pregnant
    married engaged divorced widowed separated single retired unemployed deaf blind gay lesbian
    bisexual transgender trans catholic protestant muslim jewish christian hindu buddhist
    atheist religious adopted bilingual left-handed right-handed colour-blind color-blind dead
    alive red blue green yellow black white grey gray brown purple orange pink golden silver
    wooden broken torn stolen closed sold empty flat"""
)
"""Adjectives for states that last, unlike "ready", "tired" or "late"."""
SEEING = word_set("seeing hearing knowing feeling getting chilling")
"""Gerunds that tell nothing after a verb of praise: "loves seeing"."""
