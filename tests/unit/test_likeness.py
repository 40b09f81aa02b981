"""Suspected duplicates by vectors: names that mean nearly the same."""

from __future__ import annotations

import numpy as np
import pytest

from cognigraph.embed import CheckedEmbedder, WordLlamaEmbedder
from cognigraph.resolution.by_vectors import MOST_BY_VECTORS, NEAR, alike, near
from cognigraph.testing import HashEmbedder
from tests.cases import each
from tests.meanings import Meanings
from tests.unit.test_resolve import named

# Names from recorded conversations that have similar vectors.
WORTH_A_LOOK = [
    ("nature's beauty", "beauty of nature", "concept"),
    ("joanna's movie", "joanna's own movie", "object"),
    ("adopt children", "adopting children", "concept"),
    ("counseling and mental health", "counseling or mental health work", "concept"),
    ("tattoo with a quote", "tattoo quote", "object"),
    ("friends and family", "family and friends", "person"),
    ("harry potter films", "harry potter movies", "object"),
    ("safe and loving home", "safe, loving home", "concept"),
    ("patrick rothfuss fantasy book", "patrick rothfuss fantasy novel", "object"),
    ("University of Oslo", "Oslo University", "organization"),
    ("our kids", "kids", "person"),
]
NOT_THE_SAME = [
    ("caroline", "caroline and caroline's dad", "person"),
    ("caroline's dad", "caroline", "person"),
    ("caroline's dad", "caroline and caroline's dad", "person"),
    ("dance classes", "dance classes and workshops", "event"),
    ("dance class", "dance classes, workshops", "event"),
    ("energy, strength and endurance", "strength and endurance", "concept"),
    ("melanie's kids", "melanie's husband and kids", "person"),
    ("john's wife", "john and wife", "person"),
    ("turtles", "nate's turtles", "object"),
    ("hike", "hike with dogs", "event"),
    ("tournaments", "other tournaments", "event"),
    ("script", "next script", "object"),
    ("Boston", "Chicago", "location"),
    ("boston", "chicago", "location"),
    ("Anna Berg", "Anna Holm", "person"),
    ("Rex", "Bello", "animal"),
    ("third turtle", "fourth turtle", "object"),
    ("upper floor", "lower floor", "location"),
    ("healthy food", "unhealthy food", "concept"),
    ("not alone", "alone", "concept"),
]


@each(("one", "other", "type"), WORTH_A_LOOK)
def test_similar_names_are_suspected(one, other, type):
    found = alike(named(one, type), named(other, type), 0.95)
    assert found == alike(named(other, type), named(one, type), 0.95)
    assert found is not None
    assert (found.kind, found.likely) == ("near", False)
    assert found.reason == "nearly the same meaning (cosine 0.95)"
    assert alike(named(one, type), named(other, type), NEAR - 0.001) is None


@each(("one", "other", "type"), NOT_THE_SAME)
def test_conflicting_names_are_not_suspected(one, other, type):
    assert alike(named(one, type), named(other, type), 1.0) is None
    assert alike(named(other, type), named(one, type), 1.0) is None


def test_the_score_is_between_spelling_and_generic_types():
    a, b = named("adopt children", "concept"), named("adopting children", "concept")
    scores = [alike(a, b, cosine).score for cosine in (NEAR, 0.94, 0.96, 1.0, 1.0 + 1e-12)]
    assert scores == [0.4, 0.445, 0.49, MOST_BY_VECTORS, MOST_BY_VECTORS]


def test_names_of_the_default_embedder():
    embedder = CheckedEmbedder(WordLlamaEmbedder())
    names = [named(name, type) for pair in WORTH_A_LOOK[:3] for name in pair[:2] for type in ["x"]]
    found = near(names, embedder.embed_names([item.name for item in names]))
    assert {(names[a].name, names[b].name) for a, b, _ in found} == {
        ("adopt children", "adopting children"),
        ("beauty of nature", "nature's beauty"),
        ("joanna's movie", "joanna's own movie"),
    }


def test_no_names_and_names_without_content():
    assert near([], np.empty((0, 8), np.float32)) == []
    embedder = CheckedEmbedder(HashEmbedder(16))
    vectors = embedder.embed_names(["!!!", "???", "kayak"])
    assert [bool(vector.any()) for vector in vectors] == [False, False, True]
    assert near([named(name, "object") for name in ("!!!", "???", "kayak")], vectors) == []
    assert embedder.embed_names([]).shape == (0, 16)


def test_the_common_component_of_all_texts_is_removed():
    """Names are distinguished even if the embedder gives any two texts a large cosine."""

    class Narrow(Meanings):
        def embed(self, texts):
            return super().embed(texts) + 3.0

    embedder = CheckedEmbedder(Narrow(("films", "movies")))
    raw = embedder.embed(["films", "movies", "kayak", "tea"])
    assert (raw @ raw.T).min() > 0.8
    vectors = embedder.embed_names(["films", "movies", "kayak", "tea"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, rtol=1e-5)
    cosines = vectors @ vectors.T
    assert cosines[0, 1] == pytest.approx(1.0, abs=1e-5)
    assert np.abs(cosines[0, 2:]).max() < 0.6


def test_a_names_vector_does_not_depend_on_its_batch():
    class Varying(Meanings):
        varies = True

        def embed(self, texts):
            return super().embed(texts) + len(texts)

    inner = Varying(dimension=16)
    embedder = CheckedEmbedder(inner)
    together = embedder.embed_names(["tea", "kayak", "tea"])
    assert (together[0] == together[2]).all()
    asked = len(inner.asked)
    assert (embedder.embed_names(["kayak"])[0] == together[1]).all()
    assert len(inner.asked) == asked, "a name in the cache is not embedded again"
    alone = CheckedEmbedder(Varying(dimension=16)).embed_names(["kayak"])
    assert (alone[0] == together[1]).all()
