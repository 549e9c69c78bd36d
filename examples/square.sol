Route #1: 2 5 3
Route #2: 1 6
Route #3: 4
Cost 450
