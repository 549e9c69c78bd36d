"""A CVRP as small as a file can be that says everything."""

SMALL = """\
NAME : small
TYPE : CVRP
DIMENSION : 4
EDGE_WEIGHT_TYPE : EUC_2D
CAPACITY : 10
NODE_COORD_SECTION
1 0 0
2 3 0
3 3 4
4 0 4
DEMAND_SECTION
1 0
2 5
3 6
4 4
DEPOT_SECTION
1
-1
EOF
"""
