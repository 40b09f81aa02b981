"""Value objects of the public API: messages, the contents of the graph, and search results.

All are frozen. Times are timezone-aware UTC; vectors never appear here.
"""

from cognigraph.model.answers import (
    Citation,
    Context,
    Hit,
    QueryTrace,
    SearchResult,
    SessionHit,
    SpaceHit,
    SpacesResult,
    Trace,
    Why,
)
from cognigraph.model.counts import Stats
from cognigraph.model.exclusion import Exclusion, Seen
from cognigraph.model.explanation import Explanation, Proposal, SignalStanding, SourceStanding
from cognigraph.model.filters import Filter
from cognigraph.model.graph import (
    Conflict,
    Entity,
    EntityProfile,
    Episode,
    History,
    Merge,
    ProfileEntry,
    Session,
    Source,
    Status,
    Summary,
    SuspectedDuplicate,
    Theme,
    Triple,
)
from cognigraph.model.housekeeping import Forgotten, MessageVersion
from cognigraph.model.importing import (
    BadRecord,
    ImportCallback,
    ImportProgress,
    ImportReport,
)
from cognigraph.model.layers import Layer, Shape
from cognigraph.model.listing import MessageOrder, MessagePage
from cognigraph.model.messages import (
    DEFAULT_SESSION,
    DEFAULT_SPACE,
    AddResult,
    Message,
    Rejection,
    StatedFact,
    StoredMessage,
)
from cognigraph.model.roles import Role, RoleFilter
from cognigraph.model.written import CoreProfile, Procedure, Written, WrittenKind
from cognigraph.usage import Usage

__all__ = [
    "DEFAULT_SESSION",
    "DEFAULT_SPACE",
    "AddResult",
    "BadRecord",
    "Citation",
    "Conflict",
    "Context",
    "CoreProfile",
    "Entity",
    "EntityProfile",
    "Episode",
    "Exclusion",
    "Explanation",
    "Filter",
    "Forgotten",
    "History",
    "Hit",
    "ImportCallback",
    "ImportProgress",
    "ImportReport",
    "Layer",
    "Merge",
    "Message",
    "MessageOrder",
    "MessagePage",
    "MessageVersion",
    "Procedure",
    "ProfileEntry",
    "Proposal",
    "QueryTrace",
    "Rejection",
    "Role",
    "RoleFilter",
    "SearchResult",
    "Seen",
    "Session",
    "SessionHit",
    "Shape",
    "SignalStanding",
    "Source",
    "SourceStanding",
    "SpaceHit",
    "SpacesResult",
    "StatedFact",
    "Stats",
    "Status",
    "StoredMessage",
    "Summary",
    "SuspectedDuplicate",
    "Theme",
    "Trace",
    "Triple",
    "Usage",
    "Why",
    "Written",
    "WrittenKind",
]
