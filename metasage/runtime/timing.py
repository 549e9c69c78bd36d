"""Every number that decides who may use how much time, and why it is that number.

Speeds are rough: they were measured on one machine, and have to be right within a factor
of two or three, so that a search does not begin what it cannot end.
"""

from __future__ import annotations

# -- a time limit, as a whole -----------------------------------------------------------

# To check and to write the solution and to leave: a share of the limit, up to so many
# seconds. Measured: 0.05 s at N=1,000, 0.2 s at N=20,000.
RESERVED_SHARE, MOST_RESERVED = 0.1, 0.3

# The same for each node, which counts from 100,000 on.
RESERVED_NODE_SECONDS = 4e-6

# What is there to be done before there is any answer: seconds for each byte of a file, and for
# each node of an instance (measured at N=100,000 on two cores). Where that is longer than the
# limit and some leeway, a search does not begin, with a sentence.
READING_SECONDS = 1e-7
ANSWER_SECONDS = {"tsp": 1.3e-5, "cvrp": 3.6e-5, "pctsp": 2e-5, "op": 1.7e-5}
LEEWAY = 0.25

# Pictures are a part of the limit. A picture takes so many seconds, and more for each node, as
# SVG most of all (measured: 0.25 s at N=1,000, 7 s at N=70,000), but the search keeps a half.
# matplotlib takes half a second to load; that goes on beside the search.
PICTURE_SECONDS, PICTURE_NODE_SECONDS, LOADING_PICTURES = 0.3, 1e-4, 0.3
MOST_FOR_PICTURES = 0.5

# A picture that could not be begun so many seconds after the limit is left out, with a word: on a
# busy machine.
LATEST_PICTURE = 0.2

# Kept back for an answer without the network, in case that finds none: for each node.
CONSTRUCTION_SECONDS = 3e-5

# -- network and local search -----------------------------------------------------------

# Loading torch takes 1 to 2 s, on a busy machine 4: with less than this nothing would be
# left, so the network is left out, with a word.
LEAST_FOR_NETWORK = 3.0

# Share of the limit by which torch has to be loaded, or the network is left out.
LOADING_SHARE = 0.6

# Share of the limit that the network has before local search finishes. Measured on all
# four problems (benchmarks/README.md): more does not help.
NETWORK_SHARE = 0.25

# Without a time limit: kicks or iterations of local search for each node, which takes
# seconds at N=200 and a minute at N=1,000.
KICKS_PER_NODE = 100

# Local search tells of better solutions as long as converting and checking them takes no
# more than this share of its time.
TELLING_SHARE = 0.02

# -- the network's own speed --------------------------------------------------------------

# Operations a second of the encoder on one thread.
ENCODER_SPEED = 3e10

# Seconds for each pair of nodes: distances of the scale meta-learner, lengths to keep.
DISTANCE_SECONDS, LENGTH_SECONDS = 3e-8, 1e-7

# One thread: seconds of a step of a rollout that learns, for each node that it looks at
# and each number of the embedding's width. Choosing the nearest costs as much again.
STEP_SECONDS, NEAR_STEP_SECONDS = 3e-10, 6e-10

# Under a time limit alone, rollouts are as many as let so many iterations fit in: fewer
# leave a method no time to learn.
LEAST_ITERATIONS = 20

# Steps times open nodes of a chunk of rollouts that a deadline may cut off: about a second.
CHUNK_STEPS = 128 * 1000**2

# -- processes ----------------------------------------------------------------------------

# For so long after its limit a solver of others may hand in its last solution.
GRACE_SHARE, GRACE_SECONDS = 0.02, 0.3

# Seconds between looks at whether the process that started this one is still there.
BETWEEN_LOOKS = 0.5

# Seconds between looks at the clock and at interrupts, while others load or solve.
WHILE_WAITING = 0.05

# Seconds after which an interrupt that Python could not raise is repeated.
REPEATED_AFTER = 0.1
