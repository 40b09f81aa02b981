"""The words of the frames, by what they do. A frame names a class, never its words."""

from __future__ import annotations

_NAME = r"(?:[A-Z][\w'’+#&./-]*|\d[\w.]*[A-Za-z]\w*|[a-z]+[A-Z]\w*)"
_NAMES = rf"{_NAME}(?: (?:(?:of|de|da|van|der|am|la|el|and) )?(?:{_NAME}|\d+))*"
_CURRENCY = r"[$€£]"
_UNITS = (
    "k|grand|bucks|dollars?|euros?|pounds?|kroner|francs?|quid|usd|eur|gbp|chf|sek|nok|dkk|%"
    "|percent"
)
_BODY_UNITS = "kgs?|kilos?|kilograms?|lbs?|pounds|stone"
_DOSE_UNITS = "mg|mcg|µg|ug|ml|iu|units?|milligrams?|micrograms?|tablets?|pills?|drops?|puffs?"
_THING = r"(?!is |are |was |has )[a-z0-9][\w-]*(?: (?!is |are |was |has |now )[a-z0-9][\w-]*){0,3}?"
_CLOCK = r"\d{1,2}[:.]\d\d(?: ?[ap]m)?|\d{1,2} ?[ap]m|noon|midnight"
_EVENT = (
    r"(?:[A-Z][a-z]+ )?(?:[Ss]tandup|[Ss]tand-up|[Ss]crum|[Rr]etro|[Ss]ync|[Rr]ehearsal|[Pp]ractice"
    r"|[Kk]ickoff|[Tt]own hall)"
)
_BARE = (
    r"[A-Z][a-z]+ (?:[a-z]+ )?(?:service|app|module|team|project|repo|pipeline|server|library|api"
    r"|database|site|website|dashboard|component|feature|job)"
)
_EACH = r"(?: (?:a|per|each|every|/) (?:month|week|year|day|night|hour|head|person|seat))?"

WORDS: dict[str, str] = {
    # Who
    "KIN": (
        "brother|sister|mum|mom|mother|dad|father|son|daughter|wife|husband|partner|girlfriend"
        "|boyfriend|fiancée?|cousin|uncle|aunt|niece|nephew|grandma|grandmother|grandpa|grandfather"
        "|roommate|flatmate|friend|best friend|colleague|coworker|neighbou?r|boss|kid|ex"
    ),
    "US": (
        "(?:[Ww]e|I|(?:[Oo]ur|[Tt]he|[Mm]y) (?:whole |entire |dev |data |small )?(?:team|company"
        "|project|app|service|startup|backend|product|site|website|department|squad|org|firm|studio))"
    ),
    "SETTER": (
        "(?:[Tt]hey|[Ww]e|I|he|she|(?:the|my|our) (?:new |old )?(?:landlord|landlady|landlords"
        "|employer|boss|manager|doctor|gym|bank|insurer|insurance|company|agency|owner|owners|provider"
        "|housing association|university|school|client|clients|team|psychiatrist|therapist)"
        "|management|finance|hr)"
    ),
    # Verb groups
    "BE": "(?:am|is|are|have been|has been)",
    "AUX": "(?:have|has|had|am|is|are|was|were|been|got|get|being|did|finally)",
    # Changes of place, of work, of what is used
    "MOVED": "(?:moved|relocated|emigrated|resettled|settled|transferred|shifted|upped sticks)",
    "JOINED": "(?:joined|started|began|signed on|signed|onboarded|landed|went)",
    "HIRED": "(?:hired|employed|recruited|poached|snapped up|headhunted|took on|picked up)",
    "QUIT": "(?:quit|left|resigned from|walked out of|walked away from|retired from|departed)",
    "SWAPPED": (
        "(?:swapped|swapped out|switched|switched out|traded|traded in|ditched|dropped|dumped"
        "|replaced|exchanged|abandoned|scrapped|binned|sold|left|changed|gave up|phased out"
        "|retired|deprecated|sunset|canned|axed|cancell?ed)"
    ),
    "WENT": (
        "(?:switched|migrated|moved|changed|transitioned|converted|upgraded|downgraded|defected"
        "|jumped|shifted|graduated|went|cut over|swapped|ported|transferred)"
    ),
    "STOPPED": (
        "(?:stopped|quit|gave up|dropped|ditched|abandoned|kicked|cut out|swore off|am done with"
        "|is done with|are done with|am over|am off|is off|are off|got rid of|cancell?ed|retired"
        "|phased out|scrapped|sold|am through with|turned my back on)"
    ),
    "PICKED": (
        "(?:picked|chose|settled on|went for|went with|opted for|adopted|am going with"
        "|are going with|decided on|standardi[sz]ed on|landed on)"
    ),
    "USE": (
        "(?:use|uses|using|rely on|relies on|swear by|swears by|run|runs|running|work with"
        "|works with|working with|work in|works in|working in|run on|runs on|running on)"
    ),
    "DRIVE": "(?:drive|drives|driving|ride|rides|riding)",
    "DOING": (
        "(?:write|writes|writing|code|codes|coding|develop|develops|developing|design|designs"
        "|edit|edits|editing|program|programs|draw|draws|track|tracks|tracking|manage|manages"
        "|plan|plans|planning|organi[sz]e|organi[sz]es|keep|keeps|keeping|store|stores|host|hosts"
        "|hosting|deploy|deploys|deploying|build|builds|building|test|tests|listen to|listens to"
        "|listening to|stream|streams|streaming|watch|watches|log|logs|logging|chat|chats|take"
        "|takes|do|does|doing)"
    ),
    # Changes of an amount, a time, a value
    "ROSE": (
        "(?:went|gone|rose|risen|increased|climbed|jumped|shot|crept|dropped|fell|fallen|sank"
        "|decreased|came|grew|doubled|shrank|is|are)"
    ),
    "SET": (
        "(?:raised|increased|lowered|reduced|cut|bumped|upped|hiked|changed|dropped|set|put|doubled"
        "|halved|adjusted|tapered|titrated|took|brought|updated|moved)"
    ),
    "SHIFTED": (
        "(?:moved|pushed|pushed back|pushed out|postponed|delayed|brought forward|moved up|slipped"
        "|rescheduled|shifted|changed|extended|bumped|put back|put off|rebooked|pulled forward"
        "|deferred|reset|set)"
    ),
    "EVENT_VERB": (
        "(?:leaves|leave|departs|depart|takes off|lands|arrives|starts|start|begins|kicks off"
        "|launches|ships|opens|ends|closes|finishes|happens|takes place|goes live|is happening"
        "|is starting|is leaving|is taking place)"
    ),
    # People who lead or own something
    "LEADS": "(?:leads|heads|heads up|runs|manages|chairs|is leading|is heading|is running)",
    "OWNS": (
        "(?:owns|maintains|handles|looks after|takes care of|is responsible for|is in charge of"
        "|is on point for|is looking after|is handling|is maintaining|is the owner of"
        "|is the maintainer of|has taken over|took over|inherited|is taking over|takes over"
        "|now owns|drives)"
    ),
    "LED": "(?:led|headed|run|managed|chaired)",
    "OWNED": "(?:owned|maintained|handled|looked after)",
    "CARES": "(?:supervises|mentors|coaches|manages|treats|trains|tutors|advises)",
    # Two people
    "COUPLE": "(?:together|dating|a couple|an item|back together|official|exclusive)",
    "ENDED": (
        "(?:broke up|split up|split|separated|parted ways|called it quits|ended things|ended it"
        "|are over|are done|are finished|divorced|got divorced|went our separate ways|broke it off"
        "|are no longer together|are not together)"
    ),
    # Conditions
    "DIET": (
        "vegan|vegetarian|pescatarian|pescetarian|flexitarian|omnivore|carnivore|keto|paleo"
        "|gluten-free|gluten free|lactose-free|dairy-free|plant-based|low-carb|meat eater|halal"
        "|kosher"
    ),
    "MEATLESS": "vegan|vegetarian|pescatarian|pescetarian|plant-based",
    "MEAT": "meat",
    "DRINK": (
        "coffee|caffeine|alcohol|beer|wine|tea|soda|cola|coke|booze|milk|energy drinks|spirits"
    ),
    "STATUS": (
        "in review|under review|in progress|on hold|in testing|in staging|in production|in qa"
        "|in design|in beta|in alpha|in development|blocked|open|reopened|closed|merged|done"
        "|finished|complete|completed|deployed|live|shipped|released|fixed|resolved|paid|unpaid"
        "|approved|rejected|cancell?ed|pending|paused|postponed indefinitely|signed|submitted|sold"
        "|archived|deprecated|stable|broken|ready|delayed|delivered|published|abandoned|overdue|draft"
        "|a draft|up and running|back up|down|offline|online|stuck|unblocked|scheduled|started"
        "|not started|in the works|out"
    ),
    "REACHED": (
        "merged|done|finished|completed|deployed|shipped|released|fixed|resolved|paid|approved"
        "|rejected|cancell?ed|closed|signed|submitted|sold|archived|delivered|published|reopened"
        "|unblocked|abandoned|blocked|accepted"
    ),
    # Values
    "NAMED": rf"{_NAMES}",
    "PERSON": r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*\.?){0,2}",
    "MONEY": (
        rf"(?:{_CURRENCY} ?\d[\d.,]*(?:k\b)?|\d[\d.,]*(?: ?(?:{_UNITS}|{_CURRENCY})(?!\w))?){_EACH}"
    ),
    "WEIGHT": rf"\d[\d.,]* ?(?:{_BODY_UNITS})",
    "DOSE": rf"\d[\d.,]* ?(?:{_DOSE_UNITS})",
    "PHONE": r"\+?\(?\d[\d ()/.-]{4,24}\d",
    "MAIL": r"[^\s@,;]+@[^\s@,;]+\w",
    "DAY": (
        r"⟦\d+⟧(?: (?:at )?⟦\d+⟧)?|(?:every |on |at )*(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?"
        r"(?: (?:mornings?|afternoons?|evenings?|nights?))?(?: at \w+)?|at \d[\d:.]*(?: ?[ap]m)?"
        rf"|(?:at )?(?:{_CLOCK})"
    ),
    "CLOCK": _CLOCK,
    "JOB": r"(?:[A-Za-z][\w-]*(?: of| and)? ){0,3}[A-Za-z][\w-]*",
    "THING": rf"(?:(?:the|our|my|this) {_THING}|{_EVENT})",
    "COMMON": rf"(?:(?:the|our|this) {_THING}|{_BARE})",
    "ING": r"[a-z]{2,}ing",
    "DRUG": r"[A-Za-z][\w-]{3,}(?: (?!up |down |back |from |to )[a-z][\w-]+)?",
}  # fmt: skip
"""Classes of words as regular expressions, by the name that frames use."""
