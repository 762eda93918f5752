"""From a cluster's graph to a function of jax values."""
