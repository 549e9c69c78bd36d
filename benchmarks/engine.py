"""Speed and memory of the rollout engine.

One instance, N starts, width 128 with 8 heads, as many threads as given. Times
are given in GFLOP equivalents: seconds times the GFLOP/s of a 2048 x 2048
float32 matrix product measured right before and after, so that they mean the
same on a busy machine as on an idle one.

    python benchmarks/engine.py [--threads 2] [--quick] [--json FILE]

With --neighbours, the same network instead rolls out 32 samples of large
instances, looking at all nodes or at the nearest; given networks (files for TSP
and CVRP) then show what greedy rollouts from all starts lose by it.

    python benchmarks/engine.py --neighbours [--networks TSP.pt CVRP.pt]
"""

import argparse
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import torch

from metasage.adaptation.greedy import Greedy
from metasage.adaptation.query import QueryAdaptation
from metasage.adaptation.task import Task
from metasage.adaptation.update import Update
from metasage.policies.config import PolicyConfig
from metasage.policies.library import find_model
from metasage.policies.policy import AttentionPolicy
from metasage.problems.sets import generate
from metasage.rollout import get_engine
from metasage.rollout.interface import Decoding
from metasage.solving.solve import solve
from metasage.training.data import plan_steps
from metasage.training.processes import Processes
from metasage.training.settings import Stage, TrainingSettings
from metasage.training.step import compute_gradients

# Problem, N, and the bars for a forward pass and for an iteration.
CASES = [
    ("tsp", 200, 22, 40),
    ("tsp", 500, 200, 320),
    ("cvrp", 200, None, None),
    ("cvrp", 500, 260, 420),
    ("pctsp", 500, None, None),
    ("op", 500, None, None),
    ("tsp", 1000, 1500, 2400),
]
TRAINING_CASES = [(50, 64, 20), (100, 32, 32)]
LARGE_SIZES = [1000, 5000, 10000, 20000]
# Looking at all nodes takes many minutes above this size.
LARGEST_DENSE = 10000


def sgemm() -> float:
    """GFLOP/s of a square matrix product, best of three."""
    a = torch.rand(2048, 2048)
    best = min(_seconds(lambda: a @ a) for _ in range(3))
    return 2 * 2048**3 / best / 1e9


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def equivalents(work: Callable[[], object], repeats: int) -> tuple[float, float]:
    """Best GFLOP equivalents of some work, and the seconds of that run."""
    rows = []
    for _ in range(repeats):
        before = sgemm()
        seconds = _seconds(work)
        rows.append((seconds * (before + sgemm()) / 2, seconds))
    return min(rows)


def measure_rollouts(problem: str, size: int, repeats: int) -> dict[str, float]:
    """Measure a forward pass, and an iteration of SAGE with gradient and update."""
    torch.manual_seed(0)
    free = problem in ("pctsp", "op")
    policy = AttentionPolicy(PolicyConfig(problem, starts="free" if free else "forced")).eval()
    engine = get_engine("native", policy.config)
    # An untrained network wastes length: with the usual limit its tours would end at once.
    constants = {"max_length": 1000.0} if problem == "op" else {}
    instance = generate(problem, size, 1, seed=1, **constants)[0]
    task = Task.of(instance, policy.requires_grad_(False), engine, rollouts=None, copies=1, seed=1)
    strategy = QueryAdaptation(task, Update(3.2e-3, 0.005))
    first = task.rollout(Decoding(), 0)
    solution = instance.problem.to_solution(first.actions[0, 0, : first.steps[0, 0]])

    def iterate() -> None:
        strategy.learn(strategy.rollout(1, 0.0), solution)

    forward, seconds = equivalents(lambda: task.rollout(Decoding(), 0), repeats)
    iteration, _ = equivalents(iterate, repeats)
    steps = float(first.steps.double().mean())
    # Customers that a step may still choose from, on average over a tour.
    visits = (
        (first.actions != 0).sum(dim=2).double().mean() if task.batch.problem.has_depot else size
    )
    open_nodes = size - float(visits) / 2
    return {
        "forward": forward,
        "iteration": iteration,
        "forward_seconds": seconds,
        "steps": steps,
        "forward_per_step": forward / steps,
        "forward_per_open_node": 1000 * forward / steps / open_nodes,
        "peak_gb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
    }


def measure_large(problem: str, size: int, neighbours: int | None) -> dict[str, float]:
    """Measure the encoder, 32 sampled rollouts and, with neighbours, their gradient by eta."""
    torch.manual_seed(0)
    policy = AttentionPolicy(PolicyConfig(problem)).eval().requires_grad_(False)
    engine = get_engine("native", policy.config)
    instance = generate(problem, size, 1, seed=1)[0]
    begin = time.perf_counter()
    task = Task.of(instance, policy, engine, rollouts=32, copies=1, seed=1, neighbours=neighbours)
    encoder = time.perf_counter() - begin
    used = time.process_time()
    sampling = _seconds(lambda: task.rollout(task.decoding, 0))
    used = time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    figures = {"encoder": encoder, "sampling": sampling, "processor": used, "peak_gb": peak}
    if neighbours is not None:
        strategy = QueryAdaptation(task, Update(3.2e-3, 0.005))
        figures["learning"] = _seconds(lambda: strategy.rollout(0, 0.0))
    return figures


def measure_loss(problem: str, size: int, network: str) -> dict[str, float]:
    """Mean cost of greedy rollouts from all starts, for some numbers of neighbours."""
    model = find_model(network, problem)
    costs: dict[str, list[float]] = {"all": [], "50": [], "20": []}
    for instance in generate(problem, size, 8, seed=1):
        for count, found in costs.items():
            method = Greedy(neighbours=None if count == "all" else int(count))
            found.append(solve(instance, method, model=model, improve="none").objective)
    return {count: sum(found) / len(found) for count, found in costs.items()}


def print_neighbours(run: Callable[..., dict[str, float]], networks: list[str]) -> None:
    """Print what looking at few nodes gains and loses."""
    print(
        "| 32 rollouts | nodes looked at | sampling | processor time | with the gradient by eta | "
        "peak memory of sampling | encoder, one thread |"
    )
    print("|---|---|---|---|---|---|---|")
    for problem in ("tsp", "cvrp"):
        for size in LARGE_SIZES:
            for count in (None, 50):
                if count is None and size > LARGEST_DENSE:
                    continue
                row = run("large", problem, size, count)
                learning = f"{row['learning']:.2f} s" if count else ""
                print(
                    f"| {problem.upper()} N={size} | {count or 'all'} | {row['sampling']:.2f} s | "
                    f"{row['processor']:.2f} s | {learning} | "
                    f"{row['peak_gb']:.2f} GB | {row['encoder']:.1f} s |",
                    flush=True,
                )
    if networks:
        print("\n| greedy, all starts, 8 instances | all | 50 nearest | 20 nearest |")
        print("|---|---|---|---|")
    for problem, network in zip(("tsp", "cvrp"), networks, strict=False):
        for size in (200, 500):
            row = run("loss", problem, size, network)
            lost = [f"{row[k]:.3f} ({100 * (row[k] / row['all'] - 1):+.2f}%)" for k in ("50", "20")]
            print(
                f"| {problem.upper()} N={size} | {row['all']:.3f} | {' | '.join(lost)} |",
                flush=True,
            )


def measure_training(size: int, batch: int, starts: int, repeats: int) -> dict[str, float]:
    """Instances per second of a POMO step with either engine."""
    stages = (Stage((size,), batch, starts, 1000, 1e-4),)
    settings = TrainingSettings("pomo", "tsp", stages)
    plan = next(plan_steps(settings))
    policy = AttentionPolicy(PolicyConfig("tsp"))
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-4)
    speeds = {}
    for name in ("native", "torch"):
        engine = get_engine(name, policy.config)

        def step(engine=engine) -> None:
            compute_gradients(policy, engine, settings, plan, Processes())
            optimiser.step()

        step()
        speeds[name] = batch / min(_seconds(step) for _ in range(repeats))
    return speeds | {"ratio": speeds["native"] / speeds["torch"]}


MEASURES: dict[str, Callable[..., dict[str, float]]] = {
    "rollouts": measure_rollouts,
    "training": measure_training,
    "large": measure_large,
    "loss": measure_loss,
}


def main() -> None:
    """Measure all cases, each in a process of its own, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--quick", action="store_true", help="leave N=1000 out")
    parser.add_argument("--json", help="write the figures there")
    parser.add_argument("--neighbours", action="store_true", help="measure large instances")
    parser.add_argument("--networks", nargs="*", default=[], help="networks for TSP and CVRP")
    parser.add_argument("--case", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.case:
        kind, *values = json.loads(options.case)
        print(json.dumps(MEASURES[kind](*values)))
        return

    def run(*case: object) -> dict[str, float]:
        command = [sys.executable, __file__, "--threads", str(options.threads), "--case"]
        done = subprocess.run([*command, json.dumps(case)], check=True, capture_output=True)
        return json.loads(done.stdout)

    if options.neighbours:
        print_neighbours(run, options.networks)
        return
    figures = {}
    print(
        "| | forward sampling | bar | SAGE iteration | bar | forward, a step | "
        "forward, a step and open node (x 1000) | peak memory |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for problem, size, bar, iteration_bar in CASES:
        if options.quick and size >= 1000:
            continue
        row = run("rollouts", problem, size, 2 if size >= 1000 else 4)
        figures[f"{problem}-{size}"] = row
        print(
            f"| {problem.upper()} N={size} | {row['forward']:.1f} | {bar or ''} | "
            f"{row['iteration']:.1f} | {iteration_bar or ''} | {row['forward_per_step']:.3f} | "
            f"{row['forward_per_open_node']:.2f} | {row['peak_gb']:.2f} GB |",
            flush=True,
        )
    print("\n| one POMO step on TSP | native, instances/s | torch, instances/s | ratio |")
    print("|---|---|---|---|")
    for size, batch, starts in TRAINING_CASES:
        row = run("training", size, batch, starts, 3)
        figures[f"training-{size}"] = row
        print(
            f"| N={size}, {batch} instances, {starts} starts | {row['native']:.0f} | "
            f"{row['torch']:.0f} | {row['ratio']:.1f} |",
            flush=True,
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)


if __name__ == "__main__":
    main()
