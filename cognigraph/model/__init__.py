"""Value objects of the public API: messages, the contents of the graph, and search results.

All are frozen. Times are timezone-aware UTC; vectors never appear here.
"""

from cognigraph.model.answers import (
    Citation as Citation,
    Context as Context,
    Explanation as Explanation,
    Hit as Hit,
    Layer as Layer,
    Proposal as Proposal,
    QueryTrace as QueryTrace,
    SearchResult as SearchResult,
    SessionHit as SessionHit,
    Shape as Shape,
    SignalStanding as SignalStanding,
    SourceStanding as SourceStanding,
    SpaceHit as SpaceHit,
    SpacesResult as SpacesResult,
    Trace as Trace,
    Why as Why,
)
from cognigraph.model.filters import (
    Exclusion as Exclusion,
    Filter as Filter,
    MessageOrder as MessageOrder,
    MessagePage as MessagePage,
    Seen as Seen,
)
from cognigraph.model.graph import (
    Conflict as Conflict,
    CoreProfile as CoreProfile,
    Entity as Entity,
    EntityProfile as EntityProfile,
    Episode as Episode,
    History as History,
    Merge as Merge,
    Procedure as Procedure,
    ProfileEntry as ProfileEntry,
    Session as Session,
    Source as Source,
    Status as Status,
    Summary as Summary,
    SuspectedDuplicate as SuspectedDuplicate,
    Theme as Theme,
    Triple as Triple,
    Written as Written,
    WrittenKind as WrittenKind,
)
from cognigraph.model.messages import (
    DEFAULT_SESSION as DEFAULT_SESSION,
    DEFAULT_SPACE as DEFAULT_SPACE,
    AddResult as AddResult,
    Forgotten as Forgotten,
    Message as Message,
    MessageVersion as MessageVersion,
    Rejection as Rejection,
    Role as Role,
    RoleFilter as RoleFilter,
    StatedFact as StatedFact,
    StoredMessage as StoredMessage,
)
from cognigraph.model.storage import (
    BadRecord as BadRecord,
    ImportCallback as ImportCallback,
    ImportProgress as ImportProgress,
    ImportReport as ImportReport,
    Stats as Stats,
)
from cognigraph.usage import Usage as Usage
