import xml.etree.ElementTree as ElementTree

import metasage
from metasage.problems.metric import EXPLICIT
from metasage.problems.tsp import Tsp


def result_of(instance) -> metasage.Result:
    solution = metasage.Solution([range(instance.num_nodes)])
    settings = {"method": "sage", "model": "<best> & only"}
    verdict = metasage.check(instance, solution)
    return metasage.Result(
        instance, solution, verdict, [(0.1, 0, verdict.objective)], 7, 1.25, False, settings
    )


def test_a_notebook_shows_facts_and_picture():
    instance = Tsp(coords=[[0, 0], [3, 0], [3, 4]], name="triangle")
    page = ElementTree.fromstring(f"<div>{result_of(instance)._repr_html_()}</div>")
    facts = {row[0].text: row[1].text for row in page.find("table")}
    assert facts["instance"] == "triangle"
    assert facts["problem"] == "tsp of 3 nodes"
    assert facts["objective"] == "12"
    assert facts["feasible"] == "yes"
    assert facts["model"] == "<best> & only"
    assert (facts["iterations"], facts["seconds"]) == ("7", "1.2")
    assert page.find("{http://www.w3.org/2000/svg}svg") is not None


def test_without_coordinates_there_are_facts_alone():
    instance = Tsp(matrix=[[0, 1], [1, 0]], metric=EXPLICIT)
    page = result_of(instance)._repr_html_()
    assert "<td>2</td>" in page
    assert "<svg" not in page
