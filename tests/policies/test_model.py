"""Model files: what is written is what is read."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from metasage.errors import InputError
from metasage.policies.config import PolicyConfig
from metasage.policies.metadata import read_metadata
from metasage.policies.model import Model, load_model
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate

CONFIGS = [
    PolicyConfig("tsp", width=16, layers=2, heads=4, hidden=24),
    PolicyConfig(
        "pctsp",
        width=16,
        layers=1,
        heads=2,
        hidden=24,
        norm="batch",
        attention_bias=True,
        encoder_combine_bias=False,
        combine_bias=False,
        projected_pointer=True,
        mean_query=True,
        projection_head=True,
        starts="free",
        clip=8.0,
    ),
]
PROVENANCE = {"training size": 100, "validation": 7.9, "recipe": {"seed": 1, "steps": [1, 2]}}


def made(config, **sml):
    torch.manual_seed(0)
    return Model.build(config, AttentionPolicy(config).state_dict() | sml, PROVENANCE)


@pytest.mark.parametrize("config", CONFIGS, ids=lambda config: config.problem)
def test_float32_comes_back_exactly(tmp_path, config):
    model = made(config, **{"sml.hidden.weight": torch.randn(3, 16)})
    path = tmp_path / "model.safetensors"
    model.save(path)
    again = load_model(path)
    assert again.config == config
    assert again.provenance == PROVENANCE
    assert not again.policy.training
    assert not any(weights.requires_grad for weights in again.policy.parameters())
    for old, new in (
        (model.policy.state_dict(), again.policy.state_dict()),
        (model.sml, again.sml),
    ):
        assert list(old) == list(new)
        assert all(torch.equal(old[name], new[name]) for name in old)
    batch = model.policy.view(list(generate(config.problem, 12, 2)))
    assert torch.equal(model.policy(batch).pointers, again.policy(batch).pointers)


def test_float16_is_close_and_half_the_size(tmp_path):
    model = made(CONFIGS[0], **{"sml.hidden.weight": torch.randn(3, 16)})
    model.save(tmp_path / "full.safetensors")
    model.save(tmp_path / "half.safetensors", torch.float16)
    again = load_model(tmp_path / "half.safetensors")
    sizes = [(tmp_path / f"{name}.safetensors").stat().st_size for name in ("half", "full")]
    assert sizes[0] < 0.7 * sizes[1]
    old, new = model.policy.state_dict() | model.sml, again.policy.state_dict() | again.sml
    for name in old:
        assert new[name].dtype == torch.float32
        assert torch.allclose(old[name], new[name], rtol=1e-3, atol=1e-6)


def test_a_precision_that_does_not_hold_the_weights_is_refused(tmp_path):
    model = made(CONFIGS[0])
    model.policy.decoder.key.weight[0, 0] = 1e6
    with pytest.raises(InputError, match=r"decoder\.key\.weight"):
        model.save(tmp_path / "half.safetensors", torch.float16)
    assert not list(tmp_path.iterdir())


def test_loading_draws_no_random_numbers(tmp_path):
    made(CONFIGS[0]).save(tmp_path / "model.safetensors")
    torch.manual_seed(5)
    load_model(tmp_path / "model.safetensors")
    drawn = torch.rand(3)
    torch.manual_seed(5)
    assert torch.equal(drawn, torch.rand(3))


def test_metadata_is_read_without_the_weights(tmp_path):
    made(CONFIGS[1]).save(tmp_path / "model.safetensors")
    assert read_metadata(tmp_path / "model.safetensors") == (CONFIGS[1], PROVENANCE)


def refused(path):
    with pytest.raises(InputError) as caught:
        load_model(path)
    text = str(caught.value)
    assert text.startswith(f"{path}: ")
    assert "\n" not in text
    return text


def test_files_of_others_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(2)}, path)
    assert "lacks the metadata" in refused(path)
    for content in (b"", b"hello", np.random.default_rng(0).bytes(4096), b"\xff" * 64):
        path.write_bytes(content)
        assert "not a model of metasage" in refused(path)
    torch.save({"a": torch.zeros(2)}, path)
    assert "not a model of metasage" in refused(path)
    assert "does not exist" in refused(tmp_path / "missing.safetensors")
    assert "folder" in refused(tmp_path)


def test_a_cut_file_is_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    made(CONFIGS[0]).save(path)
    whole = path.read_bytes()
    for length in (4, 100, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:length])
        assert "not a model of metasage" in refused(path)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"config": None}, "lacks the metadata"),
        ({"provenance": 3}, "lacks the metadata"),
        ({"config": {"width": 16}}, "lacks the metadata"),
        ({"config": {"problem": []}}, "problem is [] and must be a text"),
        (
            {"config": {"problem": "tsp", "clip": "ten"}},
            "clip is 'ten' and must be a finite number",
        ),
        ({"config": {"problem": "vrp"}}, "problem 'vrp'"),
        ({"config": {"problem": "tsp", "colour": 1}}, "'colour' is not an option"),
        ({"config": {"problem": "tsp", "width": "wide"}}, "width is 'wide'"),
        ({"config": {"problem": "tsp", "width": 8_000_000}}, "width is 8000000"),
        ({"config": {"problem": "tsp", "width": 60_000, "heads": 1}}, "no tensor is as wide"),
        ({"config": {"problem": "tsp", "layers": 900}}, "not those of 900 layers"),
        ({"config": {"problem": "tsp", "layers": 10**9}}, "layers is 1000000000"),
        ({"provenance": {"near": ["x", 1]}}, "provenance of the network is not understood"),
        ({"provenance": {"near": [1]}}, "provenance of the network is not understood"),
        ({"provenance": {"settings": [1]}}, "provenance of the network is not understood"),
        ({"config": CONFIGS[1].to_dict()}, "tensor"),
    ],
)
def test_metadata_that_make_no_sense_are_refused(tmp_path, change, sentence):
    path = tmp_path / "model.safetensors"
    made(CONFIGS[0]).save(path)
    about = {"config": CONFIGS[0].to_dict(), "provenance": {}} | change
    save_file(load_file(path), path, {"metasage": json.dumps(about)})
    assert sentence in refused(path)


def test_metadata_that_are_no_json_are_refused(tmp_path):
    path = tmp_path / "model.safetensors"
    save_file({"a": torch.zeros(2)}, path, {"metasage": "{"})
    assert "lacks the metadata" in refused(path)


def test_a_policy_only_takes_its_own_problem():
    with pytest.raises(InputError, match="trained for tsp and cannot solve cvrp"):
        made(CONFIGS[0]).policy.view([generate("cvrp", 5)[0]])
