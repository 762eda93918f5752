"""From a function's source to graphs: source check, regions, the abstract interpreter, guards."""
