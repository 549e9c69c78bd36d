"""Single tours: TSP, PCTSP and OP."""
