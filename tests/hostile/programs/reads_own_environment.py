import os

print(sorted(os.environ))
raise SystemExit(any("SECRET" in name for name in os.environ))
