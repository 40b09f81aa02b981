"""FlagEmbedding through its real loading code, on models of a few kilobytes made here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cognigraph import ConfigurationError, Memory, SearchSettings, Settings
from cognigraph.embed import resolve
from cognigraph.retrieve.rank.rerank import resolve_reranker
from cognigraph.testing import HashEmbedder, ScriptedExtractor

pytestmark = [
    pytest.mark.flag,
    # Third-party code on the way to a model warns of its own affairs.
    pytest.mark.filterwarnings("default"),
]
_REASON = "FlagEmbedding (6 GB with torch) is not installed: make test-flag"
torch = pytest.importorskip("torch", reason=_REASON)
pytest.importorskip("FlagEmbedding", reason=_REASON)

WORDS = "ann ben moved to oslo the fjord is cold bread kayak piano who what where did buy a".split()
TEXTS = ["Ann moved to Oslo", "the fjord is cold", "Ben did buy a kayak", "bread", "piano"]


def tokenizer_files(folder: Path) -> Any:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {word: index for index, word in enumerate([*special, *WORDS])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>",
        sep_token="</s>", cls_token="<s>", pad_token="<pad>", mask_token="<mask>",
        model_max_length=64,
    )  # fmt: skip
    fast.save_pretrained(folder)
    return len(vocabulary)


def configuration(vocabulary: int, **more: Any) -> Any:
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=vocabulary, hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=80, type_vocab_size=1, pad_token_id=1,
        bos_token_id=0, eos_token_id=2, **more,
    )  # fmt: skip


@pytest.fixture(scope="module")
def m3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BGE-M3 of two layers and 22 words: encoder, sparse head and ColBERT head."""
    from transformers import XLMRobertaModel

    folder = tmp_path_factory.mktemp("models") / "tiny-m3"
    torch.manual_seed(7)
    model = XLMRobertaModel(configuration(tokenizer_files(folder)))
    model.save_pretrained(folder)
    torch.save(torch.nn.Linear(32, 32).state_dict(), folder / "colbert_linear.pt")
    torch.save(torch.nn.Linear(32, 1).state_dict(), folder / "sparse_linear.pt")
    return folder


@pytest.fixture(scope="module")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from transformers import XLMRobertaForSequenceClassification

    folder = tmp_path_factory.mktemp("models") / "tiny-reranker"
    torch.manual_seed(8)
    configured = configuration(tokenizer_files(folder), num_labels=1)
    XLMRobertaForSequenceClassification(configured).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def embedder(m3: Path) -> Any:
    return resolve(f"flag:{m3}")


def test_the_dense_vector_is_the_first_token_of_the_encoder(m3, embedder):
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(m3), AutoModel.from_pretrained(m3).eval()
    with torch.no_grad():
        inputs = tokenizer(TEXTS, padding=True, return_tensors="pt")
        first = model(**inputs).last_hidden_state[:, 0]
    vectors = embedder.embed(TEXTS)
    expected = torch.nn.functional.normalize(first, dim=-1).numpy()
    assert embedder.dimension == 32 == vectors.shape[1]
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    np.testing.assert_allclose(embedder.embed_query(TEXTS[0]), vectors[0], atol=1e-5)
    assert embedder.name.startswith("flag:tiny-m3-")


def test_interactions_are_what_the_heads_say(m3, embedder):
    """Sparse and ColBERT computed here from the saved weights, by the formulas of the M3 paper."""
    from transformers import AutoModel, AutoTokenizer

    tokenizer, model = AutoTokenizer.from_pretrained(m3), AutoModel.from_pretrained(m3).eval()
    heads = {}
    for name, size in (("colbert", 32), ("sparse", 1)):
        heads[name] = torch.nn.Linear(32, size)
        heads[name].load_state_dict(torch.load(m3 / f"{name}_linear.pt"))

    def read(text: str) -> tuple[Any, dict[int, float], Any]:
        inputs = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            hidden = model(**inputs).last_hidden_state[0]
            dense = torch.nn.functional.normalize(hidden[0], dim=-1)
            tokens = torch.nn.functional.normalize(heads["colbert"](hidden[1:]), dim=-1)
            weights = torch.relu(heads["sparse"](hidden)).squeeze(-1).tolist()
        sparse: dict[int, float] = {}
        for token, weight in zip(inputs["input_ids"][0].tolist(), weights, strict=True):
            if token > 3:  # not <s>, <pad>, </s>, <unk>
                sparse[token] = max(sparse.get(token, 0.0), weight)
        return dense, sparse, tokens

    question = "who moved to the fjord"
    scores = embedder.interactions(question, TEXTS)
    asked = read(question)
    for index, text in enumerate(TEXTS):
        told = read(text)
        dense = float(asked[0] @ told[0])
        sparse = sum(weight * told[1].get(token, 0.0) for token, weight in asked[1].items())
        colbert = float((asked[2] @ told[2].T).max(dim=1).values.mean())
        assert scores["dense"][index] == pytest.approx(dense, abs=1e-4)
        assert scores["sparse"][index] == pytest.approx(sparse, abs=1e-4)
        assert scores["colbert"][index] == pytest.approx(colbert, abs=1e-4)
        mean = (0.4 * dense + 0.2 * sparse + 0.4 * colbert) / 1.0
        assert scores["all"][index] == pytest.approx(mean, abs=1e-4)
    assert len({round(score, 6) for score in scores["all"]}) == len(TEXTS)
    assert embedder.rerank(question, []) == []


def test_a_memory_with_bge_m3_as_embedder_and_reranker(m3, embedder, tmp_path):
    with Memory(
        tmp_path / "m.db", embedder=embedder, reranker="embedder", enrich="manual",
        extractor=ScriptedExtractor(), settings=Settings(search=SearchSettings(rerank=4)),
    ) as memory:  # fmt: skip
        memory.add_many({"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS))
        assert memory.info.embedder.dimension == 32
        hits = memory.search("who moved to oslo", k=5)
        reranked = [hit for hit in hits if hit.why.rerank_score is not None]
        scores = [hit.why.rerank_score for hit in reranked]
        assert len(scores) == min(4, len(hits)) and scores == sorted(scores, reverse=True)
        texts = [hit.text for hit in reranked]
        np.testing.assert_allclose(scores, embedder.rerank("who moved to oslo", texts), atol=1e-5)


def test_the_cross_encoder_reads_question_and_text(cross_encoder, tmp_path):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    reranker = resolve_reranker(f"flag:{cross_encoder}")
    assert reranker is not None
    scores = reranker("who moved", TEXTS)
    tokenizer = AutoTokenizer.from_pretrained(cross_encoder)
    model = AutoModelForSequenceClassification.from_pretrained(cross_encoder).eval()
    with torch.no_grad():
        pairs = tokenizer(["who moved"] * len(TEXTS), TEXTS, padding=True, return_tensors="pt")
        expected = torch.sigmoid(model(**pairs).logits.squeeze(-1)).tolist()
    np.testing.assert_allclose(scores, expected, atol=1e-4)
    assert reranker("who moved", TEXTS[:1]) == pytest.approx(scores[:1], abs=1e-5)
    assert reranker("who moved", []) == []
    with Memory(
        tmp_path / "m.db", embedder=HashEmbedder(64), reranker=f"flag:{cross_encoder}",
        enrich="manual", extractor=ScriptedExtractor(),
    ) as memory:  # fmt: skip
        memory.add_many({"text": text, "id": f"m{n}"} for n, text in enumerate(TEXTS))
        hits = memory.search("the fjord moved", k=5)
        got = [hit.why.rerank_score for hit in hits]
        assert got == sorted(got, reverse=True)  # type: ignore[type-var]
        assert hits[0].why.rerank_score == pytest.approx(
            reranker("the fjord moved", [hits[0].text])[0], abs=1e-4
        )


def test_another_model_in_the_same_folder_is_another_embedder(m3, embedder, tmp_path):
    import shutil

    moved = tmp_path / "tiny-m3"
    shutil.copytree(m3, moved)
    assert resolve(f"flag:{moved}").name == embedder.name
    torch.save(torch.nn.Linear(32, 32).state_dict(), moved / "colbert_linear.pt")
    assert resolve(f"flag:{moved}").name != embedder.name
    with pytest.raises(ConfigurationError, match="cannot load"):
        resolve(f"flag:{tmp_path}")


def test_sentence_transformers_loads_a_folder_and_uses_prefixes(m3, tmp_path):
    from sentence_transformers import SentenceTransformer, models

    from cognigraph.embed.models import SentenceTransformersEmbedder

    word = models.Transformer(str(m3))
    folder = tmp_path / "e5-tiny"
    SentenceTransformer(modules=[word, models.Pooling(32, pooling_mode="mean")]).save(str(folder))
    prefixed = resolve(f"sentence-transformers:{folder}")
    assert prefixed.name.startswith("sentence-transformers:e5-tiny-")
    assert prefixed.name.endswith("after 'passage: '")
    plain = SentenceTransformersEmbedder(str(folder), query_prefix="", passage_prefix="")
    np.testing.assert_allclose(
        prefixed.embed(TEXTS), plain.embed([f"passage: {text}" for text in TEXTS]), atol=1e-5
    )
    np.testing.assert_allclose(
        prefixed.embed_query("bread"), plain.embed(["query: bread"])[0], atol=1e-5
    )
    assert prefixed.dimension == 32
    with Memory(tmp_path / "m.db", embedder=prefixed, enrich="manual") as memory:
        memory.add("Ann moved to Oslo", id="m1")
        assert memory.search("who moved to oslo")[0].id == "m1"
