"""Solve an instance: the function behind ``metasage.solve``."""

from __future__ import annotations

import time
import warnings
from functools import partial

from metasage.adaptation.budget import within_time
from metasage.adaptation.callbacks import Callbacks
from metasage.adaptation.familiarity import warn_if_unfamiliar
from metasage.adaptation.interrupts import Interrupted, interruptible
from metasage.adaptation.local_search import (
    IMPROVE,
    finish,
    first_incumbent,
    solve_locally,
    without_network,
)
from metasage.adaptation.method import Method, Strategy
from metasage.adaptation.plan import make_plan
from metasage.adaptation.resources import encoding_seconds, require_device
from metasage.adaptation.result import NETWORK, Result, Stage
from metasage.adaptation.search import Search
from metasage.adaptation.stop import StoppingCriterion, deadline_of, targets_of
from metasage.adaptation.task import Task
from metasage.errors import InputError, OutsideTraining, TooLarge
from metasage.improve import make_improver
from metasage.numbers import require_seed
from metasage.policies.library import default_model, find_model
from metasage.policies.model import Model
from metasage.policies.sml import Sml
from metasage.policies.sml_files import find_sml
from metasage.problems import Instance, Solution, require_feasible
from metasage.rollout import get_engine
from metasage.rollout.interface import DeadlineReached


def solve(
    instance: Instance,
    method: Method | None = None,
    stop: StoppingCriterion | None = None,
    *,
    model: Model | str | None = None,
    sml: Sml | str = "auto",
    seed: int = 1234,
    engine: str = "auto",
    threads: int = 0,
    device: str = "cpu",
    max_memory: float | None = None,
    improve: str = "none",
    initial_solution: Solution | None = None,
    callbacks: Callbacks | None = None,
    started: float | None = None,
) -> Result:
    """Solve an instance.

    Parameters
    ----------
    instance
        The instance.
    method
        Settings of the method; greedy construction by default, or local search for what is
        beyond the networks: limits on vehicles or routes, lengths that differ by direction.
    stop
        When to end, beside the method's number of iterations. Local search heeds time
        limits and targets; other criteria end the network's part alone.
    model
        The network: a model, the name of a shipped one, or a file.
    sml
        The scale meta-learner, or how to find it (see `find_sml`); ``auto`` is
        the network's own for SAGE on instances larger than those that the
        network was trained on, else none.
    seed
        Same seed, same result, whatever the number of threads.
    engine, threads, device
        How and where to compute.
    max_memory
        Bytes that rollouts may take; half of what is free by default.
    improve
        Local search: ``none``; ``final``, after the network; or ``memetic``, which
        also makes the best rollouts of each iteration better, so that the
        network learns from them.
    initial_solution
        A feasible solution; the result is never worse.
    callbacks
        Who wants to hear of the progress.
    started
        Time of `time.monotonic` from which seconds count.

    Raises
    ------
    InfeasibleError
        If the instance has no feasible solution.
    InputError
        If model, method or initial solution do not fit the instance.
    """
    from metasage.adaptation.greedy import Greedy

    started = time.monotonic() if started is None else started
    if (beyond := instance.problem.why_no_network(instance)) is not None:
        if method is not None or model is not None:
            raise InputError(f"{beyond}.")
        limit = deadline_of(stop)
        return solve_locally(
            instance,
            time_limit=None if limit is None else max(0.0, limit.deadline - started),
            seed=seed,
            threads=threads,
            initial_solution=initial_solution,
            callbacks=callbacks,
            started=started,
            targets=targets_of(stop),
        )
    method = Greedy() if method is None else method
    callbacks = Callbacks() if callbacks is None else callbacks
    require_seed(seed)
    require_feasible(instance)
    if not isinstance(model, Model):
        name = default_model(instance.problem.name) if model is None else model
        model = find_model(name, instance.problem.name)
    model.config.require_problem(instance.problem.name)
    method = method.suited(model)
    is_larger = instance.size > (model.training_size or 0)
    wanted = method.uses_sml and is_larger
    found = find_sml(sml, model, wanted=wanted) if isinstance(sml, str) else sml
    warn_if_unfamiliar(instance, model, found)
    if improve not in IMPROVE:
        raise InputError(f"improve is '{improve}' and must be one of {', '.join(IMPROVE)}.")
    incumbent = first_incumbent(instance, initial_solution)
    improver = None if improve == "none" else make_improver(instance, threads or None)
    plan = make_plan(instance, method, stop, improves=improver is not None)
    callbacks.on_start(instance)
    require_device(device)
    roller = get_engine(engine, model.config, device, threads)
    if plan.deadline is not None and method.iterations is None:
        encoding = method.augment * encoding_seconds(model.policy, instance)
        left = plan.deadline - time.monotonic() - encoding
        method = within_time(method, instance, model.policy, left, roller.threads)
    polish = None
    if improver is not None and improve == "memetic":
        polish = partial(improver.polish, deadline=plan.deadline)
    search = Search(incumbent, plan.stop, plan.horizon, plan.deadline, callbacks, started, polish)
    strategy: Strategy | None = None
    try:
        if instance.size > 0:
            with interruptible():
                task = Task.of(
                    instance,
                    model.policy,
                    roller,
                    sml=None if found is None else found.learner,
                    rollouts=method.rollouts,
                    copies=method.augment,
                    neighbours=method.neighbours,
                    seed=seed,
                    max_memory=max_memory,
                    deadline=plan.deadline,
                    device=device,
                )
                strategy = method.start(task)
            search.run(strategy)
    except DeadlineReached:
        pass
    except TooLarge as error:
        if improver is None:
            raise
        warnings.warn(f"{error} Local search goes on alone.", OutsideTraining, stacklevel=2)
    except Interrupted:
        search.interrupted = True
    interrupted = search.interrupted
    stages: list[Stage] = []
    if search.has_rollouts and incumbent.objective is not None:
        stages.append((NETWORK, search.seconds(), incumbent.objective))
    met = any(target(search.iteration, incumbent.objective) for target in plan.targets)
    if improver is not None and not interrupted and not met:
        interrupted = finish(
            improver,
            incumbent,
            search.curve,
            stages,
            callbacks,
            iteration=search.iteration,
            started=started,
            deadline=plan.end,
            seed=seed,
            targets=plan.targets,
        )
    if incumbent.solution is None:
        # There was nothing to visit, or no time for the first rollouts.
        search.offer(without_network(instance, roller.threads))
        assert incumbent.objective is not None
        stages.append(("construction", search.seconds(), incumbent.objective))
    assert incumbent.solution is not None
    result = Result(
        instance,
        incumbent.solution,
        incumbent.verdict(),
        search.curve,
        search.iteration,
        search.seconds(),
        interrupted,
        {
            "method": method.name,
            "parameters": method.parameters(instance.problem.name)
            | {"iterations": plan.horizon}
            | (strategy.chosen() if strategy else {}),
            "preset": getattr(method, "preset", "default"),
            "model": model.name,
            "sml": "none" if found is None else found.name,
            "sml_reading": None if found is None else found.learner.reading,
            "improve": improve,
            "engine": roller.name,
            "seed": seed,
            "threads": roller.threads,
        },
        stages,
    )
    callbacks.on_end(result)
    return result
