"""Hypothesis without deadlines: these tests run on busy machines too."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("cognigraph", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("cognigraph")
