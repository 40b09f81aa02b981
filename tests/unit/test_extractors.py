"""Extractors by name, in a program and on the command line."""

from __future__ import annotations

import pytest

from cognigraph import ConfigurationError, Memory
from cognigraph.cli.memory_options import Options
from cognigraph.cli.parser import build_parser
from cognigraph.ingest import RulesExtractor
from cognigraph.ingest.extractors import resolve_extractor
from cognigraph.testing import HashEmbedder, ScriptedExtractor
from tests.cases import each


def test_rules_are_the_default():
    assert isinstance(resolve_extractor(), RulesExtractor)
    assert isinstance(resolve_extractor("rules"), RulesExtractor)


@pytest.mark.parametrize(
    ("name", "recorded"),
    [
        ("openai:m", "model-5.4:m"),
        ("ama:m", "ama-2:m+model-5.4:m"),
        ("hymem:m", "hymem-5.1:m"),
        ("membuilder:m", "membuilder-1.2.2.1:m+rules-"),
        ("openai+membuilder:m", "membuilder-1.2.2.1:m+model-5.4:m"),
    ],
)
def test_extractors_with_a_model_by_name(name, recorded, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    found = resolve_extractor(name)
    assert found.name.startswith(recorded)
    assert found.model.name == "m"


def test_an_extractor_is_taken_as_it_is():
    extractor = ScriptedExtractor()
    assert resolve_extractor(extractor) is extractor


@each("name", ["", "rule", "Rules", "magic:x"])
def test_an_unknown_name_lists_the_known_ones(name):
    with pytest.raises(ConfigurationError, match=r"unknown extractor.*'rules'"):
        resolve_extractor(name)


def test_an_extractor_name_with_an_unexpected_suffix_is_refused():
    with pytest.raises(ConfigurationError, match="takes no detail after a colon: 'fast'"):
        resolve_extractor("rules:fast")


@pytest.mark.parametrize("wrong", [None, 7, print, object()])
def test_an_object_that_is_not_an_extractor_is_refused(wrong, tmp_path):
    with pytest.raises(ConfigurationError, match="must be a string or an Extractor"):
        Memory(tmp_path / "m.db", embedder=HashEmbedder(), extractor=wrong)


def options(*arguments: str, extractor: str | None = None) -> Options:
    environ = {"COGNIGRAPH_EXTRACTOR": extractor} if extractor else {}
    return Options.of(build_parser().parse_args(["stats", *arguments]), environ)


def test_the_option_beats_the_environment_which_beats_the_default():
    assert options().extractor == "rules"
    assert options(extractor="openai").extractor == "openai"
    assert options("--extractor", "rules", extractor="openai").extractor == "rules"
