"""The scale meta-learner: both readings, its scale, its files."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import metasage
from metasage.errors import InputError, OutsideTraining
from metasage.policies.config import PolicyConfig
from metasage.policies.model import Model
from metasage.policies.policy import AttentionPolicy
from metasage.policies.sml import ScaleMetaLearner, Sml
from metasage.policies.sml_files import find_sml, fingerprint, load_sml, own_sml, save_sml
from metasage.problems.batch import Batch


def batch_of(problem, size, count=2):
    return Batch.of(list(metasage.generate(problem, size, count, 1)))


def embeddings(batch, width=16):
    generator = torch.Generator().manual_seed(0)
    return torch.randn(batch.num_instances, batch.num_nodes, width, generator=generator)


def model_of(problem="tsp", width=16):
    torch.manual_seed(0)
    policy = AttentionPolicy(PolicyConfig(problem, width=width, heads=2, layers=1, hidden=16))
    return Model(policy.eval().requires_grad_(False))


def test_the_residual_reading_begins_as_the_identity():
    batch = batch_of("tsp", 30)
    h = embeddings(batch)
    assert torch.equal(ScaleMetaLearner("official", 16)(h, batch), h)


def test_the_papers_reading_begins_as_the_identity_of_all_but_the_rarest_numbers():
    batch = batch_of("tsp", 30)
    h = embeddings(batch).clamp(-4, 4)
    torch.testing.assert_close(ScaleMetaLearner("paper", 16)(h, batch), h)


def test_the_papers_reading_by_hand():
    batch = batch_of("cvrp", 50)
    h = embeddings(batch)
    learner = ScaleMetaLearner("paper", 16)
    for weights in learner.parameters():
        torch.nn.init.normal_(weights)
    w = {name: tensor.detach().double().numpy() for name, tensor in learner.state_dict().items()}

    def layer(x, name):
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    scale = np.full((2, 1, 1), 0.5)  # 50 customers; the depot does not count
    condition = layer(np.maximum(layer(scale, "scale_in"), 0), "scale_out")
    expected = layer(np.maximum(layer(h.double().numpy() + condition, "hidden"), 0), "output")
    np.testing.assert_allclose(learner(h, batch).detach().numpy(), expected, atol=1e-3)


def test_the_published_codes_form_by_hand():
    batch = batch_of("cvrp", 120)
    h = embeddings(batch)
    learner = ScaleMetaLearner("official", 16)
    torch.nn.init.normal_(learner.output.weight)
    w = {name: tensor.detach().double().numpy() for name, tensor in learner.state_dict().items()}
    assert {name: tensor.shape for name, tensor in w.items()} == {
        "scale_in.weight": (16, 1),
        "scale_out.weight": (16, 16),
        "hidden.weight": (1024, 16),
        "output.weight": (16, 1024),
    }
    scale = learner.scale(batch).double().numpy()
    condition = np.maximum(scale @ w["scale_in.weight"].T, 0) @ w["scale_out.weight"].T
    inner = np.maximum((h.double().numpy() + condition) @ w["hidden.weight"].T, 0)
    expected = h.double().numpy() + inner @ w["output.weight"].T
    np.testing.assert_allclose(learner(h, batch).detach().numpy(), expected, atol=1e-3)


@pytest.mark.parametrize(("problem", "size"), [("tsp", 150), ("cvrp", 200), ("op", 40)])
def test_the_scale_of_the_published_code_by_hand(problem, size):
    batch = batch_of(problem, size, 1)
    places = batch.coords[0].double().numpy()
    nodes = len(places)
    distance = np.linalg.norm(places[:, None] - places[None], axis=-1)
    near = np.sort(distance, axis=1)[:, : min(100, nodes)].mean(axis=1)
    expected = nodes / 100 / (distance.mean(axis=1) / near)
    found = ScaleMetaLearner("official", 16).scale(batch)
    assert found.shape == (1, nodes, 1)
    np.testing.assert_allclose(found[0, :, 0].numpy(), expected, rtol=1e-5)


def test_the_scale_is_one_at_the_training_size_and_grows():
    learner = ScaleMetaLearner("official", 16)
    means = [float(learner.scale(batch_of("tsp", n)).mean()) for n in (100, 200, 400, 1000)]
    assert means[0] == pytest.approx(1.0)
    # Measured on the published code: 1.25, 1.66 and 2.49.
    assert means[1:] == pytest.approx([1.25, 1.66, 2.49], rel=0.05)


def test_equal_places_have_a_finite_scale():
    coords = torch.full((1, 5, 2), 0.5)
    batch = Batch(metasage.generate("tsp", 5, 1, 1).problem, coords)
    assert torch.isfinite(ScaleMetaLearner("official", 16).scale(batch)).all()


def test_the_scale_falls_steadily_with_the_width_of_a_crowd():
    places = torch.rand(1, 200, 2, generator=torch.Generator().manual_seed(1))
    problem = metasage.generate("tsp", 5, 1, 1).problem
    means = []
    for width in (1e-2, 1e-4, 0.0):
        coords = torch.cat([0.5 + width * places[:, :150], places[:, 150:]], dim=1)
        scale = ScaleMetaLearner("official", 16).scale(Batch(problem, coords))
        means.append(float(scale[0, :150].mean()))
    assert means[0] > means[1] > means[2] == 0


def test_it_can_be_told_another_size():
    batch = batch_of("tsp", 200)
    paper = ScaleMetaLearner("paper", 16)
    torch.testing.assert_close(paper.scale(batch, 400), 2 * paper.scale(batch))


@pytest.mark.parametrize("problem", ["tsp", "cvrp"])
@pytest.mark.parametrize("size", [150, 500, 1000])
def test_told_another_size_it_is_fed_what_that_size_would_feed(problem, size):
    learner = ScaleMetaLearner("official", 16)
    for told in (100, 300, 1500):
        expected = float(learner.scale(batch_of(problem, told)).mean())
        found = float(learner.scale(batch_of(problem, size), told).mean())
        assert found == pytest.approx(expected, rel=0.1), told
    batch = batch_of(problem, size)
    torch.testing.assert_close(learner.scale(batch, size), learner.scale(batch))


@pytest.mark.parametrize("reading", ["paper", "official"])
def test_a_file_holds_all_of_it(tmp_path, reading):
    torch.manual_seed(1)
    learner = ScaleMetaLearner(reading, 16)
    torch.nn.init.normal_(learner.output.weight)
    path = tmp_path / "sml.safetensors"
    save_sml(Sml(learner, {"sizes": [200, 400]}), path)
    found = load_sml(path)
    batch = batch_of("tsp", 20)
    assert torch.equal(found.learner(embeddings(batch), batch), learner(embeddings(batch), batch))
    assert found.sizes == (200, 400)
    assert found.learner.reading == reading


def test_a_model_file_is_not_a_meta_learner(tmp_path):
    path = tmp_path / "model.safetensors"
    model_of().save(path)
    with pytest.raises(InputError, match="lacks the metadata of a scale meta-learner"):
        load_sml(path)


def test_what_a_user_asks_for(tmp_path, monkeypatch):
    monkeypatch.setattr("metasage.policies.sml_files.SHIPPED", tmp_path)
    model = replace(model_of(), name="mine")
    assert find_sml("none", model) is None
    assert find_sml("auto", model) is None
    with pytest.raises(InputError, match="no scale meta-learner for the model 'mine'"):
        find_sml("shipped", model)
    with pytest.raises(InputError, match="there is no scale meta-learner 'other'"):
        find_sml("other", model)
    about = {"fingerprint": fingerprint(model.policy)}
    save_sml(Sml(ScaleMetaLearner("official", 16), about), tmp_path / "mine.safetensors")
    assert find_sml("auto", model).name == "mine"
    assert find_sml("auto", model, wanted=False) is None
    assert find_sml("shipped", model, wanted=False).name == "mine"
    assert find_sml(str(tmp_path / "mine.safetensors"), model) is not None
    with pytest.raises(InputError, match="is 16 wide, and the model 32"):
        find_sml("mine", model_of(width=32))


def test_a_meta_learner_of_another_network_is_told(tmp_path):
    path = tmp_path / "sml.safetensors"
    save_sml(Sml(ScaleMetaLearner("official", 16), {"problem": "cvrp"}), path)
    with pytest.raises(InputError, match="one for cvrp, and the model is for tsp"):
        find_sml(str(path), model_of())
    about = {"problem": "tsp", "model": "its-own", "fingerprint": "other"}
    save_sml(Sml(ScaleMetaLearner("official", 16), about), path)
    with pytest.warns(OutsideTraining, match="trained for its-own, and not for"):
        assert find_sml(str(path), model_of()) is not None


def test_the_meta_learner_of_other_weights_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr("metasage.policies.sml_files.SHIPPED", tmp_path)
    model = replace(model_of(), name="mine")
    about = {"fingerprint": "of an earlier version"}
    save_sml(Sml(ScaleMetaLearner("official", 16), about), tmp_path / "mine.safetensors")
    assert own_sml(model) is None
