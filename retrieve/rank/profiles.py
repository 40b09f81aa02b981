"""All ranking profiles, by the name that settings use."""

from __future__ import annotations

from cognigraph.retrieve.rank.default_profile import DefaultProfile
from cognigraph.retrieve.rank.licomemory_profile import LicoMemoryProfile
from cognigraph.retrieve.rank.ranking import RankingProfile
from cognigraph.settings import RankingName

PROFILES: dict[RankingName, RankingProfile] = {
    profile.name: profile
    for profile in tuple[RankingProfile, ...]((DefaultProfile(), LicoMemoryProfile()))
}
