import sys
from pathlib import Path

# Helpers beside the tests; import-mode=importlib does not find them by itself.
sys.path.insert(0, str(Path(__file__).parent))
