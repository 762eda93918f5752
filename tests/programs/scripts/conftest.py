"""The programs here are run by `bench.scripts`, in processes of their own; pytest imports none of them."""

collect_ignore_glob = ["*.py"]
